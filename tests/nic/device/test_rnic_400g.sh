#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_rnic_400g.sh - ConnectX-7, ConnectX-8 and GPUs that post, against published measurements.
#
# Goal: the tables of docs/models/rnic-400g.md: fitted rows agree within 3 % (two latencies that share
# a constant: 11 %), held-out rows within 10 % but for those that the page names, which have the
# errors that it states; what posts and where memory lies have the effects that the page states;
# settings without an effect are refused.
# Method: two or nine machines around a switch; perftest, verbs-rate, bulk and a collective; DeepEP's
# messages between four servers.
# Does not pin: constants that the page calls declared.
set -u
. tests/script.sh
start_forks
cat >"$work/pair.yaml" <<'YAML'
topology: {star: {hosts: 2, rate: 400Gbps, delay: 15ns}}
nic: {model: detailed, profile: connectx-7, congestion-control: none, mtu: 4096}
traffic: [bulk: {from: host0, to: host1, qps: 1, bytes: 1KiB, messages: 4000, depth: 256}]
YAML
sed 's/bulk:.*/perftest: {test: ib_write_lat, size: 2, inline: 220, iterations: 200}]/' \
    "$work/pair.yaml" >"$work/perftest.yaml"
sed 's/bulk:.*/collective: {kind: send-recv, ranks: 2, bytes: 8, protocol: plain, repeat: 100}]/
    s/15ns/150ns/' "$work/pair.yaml" >"$work/put.yaml"
rates='from: host0, to: "host[1-8]", verb: send, transport: ud, bytes: 0, batch: 32, warm-up: 50us'
rates="$rates, threads-per-machine: 32, qps-per-thread: 4, window: 128, measure: 400us"
sed "s/hosts: 2/hosts: 9/; s/bulk:.*/verbs-rate: {$rates}]/" "$work/pair.yaml" >"$work/rate.yaml"
run() {
    rocesim run "$@" -o "$work/out" >"$work/log" 2>&1 || fail "$* $(cat "$work/log")"
}
# row NAME KIND LIMIT_PERCENT PUBLISHED OURS: checks and prints a row of the table.
row() {
    awk -v name="$1" -v kind="$2" -v limit="$3" -v theirs="$4" -v ours="$5" 'BEGIN {
        error = (ours / theirs - 1) * 100
        printf "%-42s %-8s %8.2f %8.2f %+6.1f %%\n", name, kind, theirs, ours, error
        exit !(error < limit && error > -limit) }' || fail "$1: $5, published $4, within $3 %"
}
finish_us() {
    python3 -c "import json; print(json.load(open('$work/out/summary.json'))['sim_time_ps'] / 1e6)"
}
perftest() { # FIELD OPTION...: a field of perftest's row
    local field=$1
    shift
    run "$work/perftest.yaml" "$@"
    awk -v f="$field" '/#bytes/ { getline; print $f }' "$work/log"
}
bulk=traffic[0].bulk
test=traffic[0].perftest
# -- ConnectX-7
run "$work/rate.yaml"
row "messages, M/s" fitted 3 350 "$(sed -n 's/.*mops \([0-9.]*\) M.*/\1/p' "$work/log")"
row "ib_write_lat 2 B, us: GB10" fitted 11 1.47 "$(perftest 6)"
infiniband=(--set nic.frames=infiniband --set network.framing=bare)
row "ib_send_lat 2 B, us: NDR" fitted 11 1.27 \
    "$(perftest 6 "${infiniband[@]}" --set $test.test=ib_send_lat)"
# bw TEST SIZE QUEUE_PAIRS MESSAGES OPTION...: the average rate, in Gbps
bw() {
    local tool=$1 size=$2 qps=$3 messages=$4
    shift 4
    perftest 4 --set $test.test="ib_${tool}_bw" --set $test.size="$size" --set $test.qps="$qps" \
        --set $test.iterations="$messages" --set $test.inline=0 "$@"
}
row "WRITE 1 MiB, GB/s: NCCL, shmem_put_bw" held-out 10 47 "$(bw write 1MiB 1 30 | awk '{ print $1 / 8 }')"
row "WRITE 64 KiB, Gbps: NDR" held-out 10 392.3 "$(bw write 64KiB 1 2000 "${infiniband[@]}")"
row "SEND 64 KiB, Gbps: NDR" held-out 10 390.5 "$(bw send 64KiB 1 1000 "${infiniband[@]}")"
row "WRITE 16 KiB, Gbps: NVIDIA/nccl #2409" held-out 10 380 "$(bw write 16KiB 1 3000)"
row "the same, 8 queue pairs" held-out 10 391.8 "$(bw write 16KiB 8 500)"
row "WRITE 128 KiB, Gbps: #2409" held-out 10 392.1 "$(bw write 128KiB 1 500)"
row "WRITE 1 MiB, 8 queue pairs, Gbps: #2409" held-out 10 391.5 "$(bw write 1MiB 8 30)"
row "WRITE 1 MiB, 1 queue pair, Gbps: #2409" missed 40 284.4 "$(bw write 1MiB 1 200)"
row "WRITE 4 MiB, Gbps: pegaflow #291" held-out 10 365 "$(bw write 4MiB 1 40)"
row "the same, 2 queue pairs" held-out 10 392 "$(bw write 4MiB 2 30)"
row "WRITE 8 MiB, Gbps: pods, NDR" held-out 10 373.6 "$(bw write 8MiB 1 20 "${infiniband[@]}")"
row "WRITE 64 KiB, PCIe 5 x4, Gbps: GB10" held-out 10 111.7 "$(bw write 64KiB 4 500 --set nic.mtu=1024 \
    --set nic.detailed.pcie.lanes=4 --set topology.star.rate=200Gbps)"
# READs: a queue pair answers 28 KiB per read latency of 700 ns.
row "READ 64 KiB, 1 queue pair, Gbps: NDR" fitted 3 328.6 "$(bw read 64KiB 1 1000 "${infiniband[@]}")"
one=$(bw read 4MiB 1 40)
row "READ 4 MiB, 1 queue pair, Gbps: #291" held-out 10 320 "$one"
row "the same, Gbps: UCX" held-out 10 304 "$one"
row "READ 4 MiB, 2 queue pairs, Gbps: #291" held-out 10 390 "$(bw read 4MiB 2 30)"
row "READ 32 MiB, PCIe 5 x8, Gbps: DLSlime" held-out 10 230 \
    "$(bw read 32MiB 8 2 --set nic.detailed.pcie.lanes=8)"
row "READ, half the window" closed 2 163.8 "$(bw read 4MiB 1 20 --set nic.detailed.pcie.response-max=14KiB)"
# A core that waits for each write of a WQE (virtual machines of A3 Ultra, cq-mod 100).
one_core() { # SIZE [FIELD]
    perftest "${2:-4}" --set $test.test=ib_write_bw --set $test.size="$1" --set $test.inline=0 \
        --set $test.iterations=5000 --set $test.cq-moderation=100
}
row "WRITE 64 B, 1 queue pair, M/s: A3U" fitted 3 3.35 "$(one_core 64B 5)"
row "WRITE 2 B, M/s: pods, NDR" held-out 25 4.02 "$(one_core 2B 5)"
row "WRITE 2 KiB, Gbps: A3U, host, GPU" held-out 10 50.7 "$(one_core 2KiB)"
row "WRITE 4 KiB, Gbps: A3U" missed 40 80.7 "$(one_core 4KiB)"
row "WRITE 8 KiB, Gbps: A3U" missed 40 163.5 "$(one_core 8KiB)"
row "WRITE 16 KiB, Gbps: A3U" missed 40 281 "$(one_core 16KiB)"
row "WRITE 32 KiB, Gbps: A3U" held-out 10 376.3 "$(one_core 32KiB)"
row "WRITE 64 KiB, Gbps: A3U" held-out 10 381.4 "$(one_core 64KiB)"
# -- MORI-IO: a program of a core, payload in GPU memory; its own time is fitted at WRITEs of 1 KiB
mori() { # VERB BYTES: time of a transfer alone
    run "$work/pair.yaml" --set topology.star.delay=150ns "${infiniband[@]}" --set nic.posting=proxy \
        --set nic.detailed.proxy.hop=0ns --set nic.detailed.proxy.request=90ns \
        --set $bulk.verb="$1" --set $bulk.bytes="$2" --set $bulk.messages=4 --set $bulk.depth=1
    awk -v us="$(finish_us)" 'BEGIN { print us / 4 }'
}
software=$(awk -v us="$(mori write 1024)" 'BEGIN { print 5.25 - us }')
alone() { # VERB BYTES PUBLISHED_US
    row "MORI-IO, $1 of $2 bytes, us" held-out 10 "$3" \
        "$(awk -v us="$(mori "$1" "$2")" -v more="$software" 'BEGIN { print us + more }')"
}
alone write 16384 5.72
alone write 65536 6.44
alone write 262144 10.73
alone write 1048576 26.46
alone write 67108864 1359.5
alone read 1024 5.96
alone read 16384 6.44
alone read 65536 7.87
alone read 262144 12.16
alone read 1048576 29.56
alone read 67108864 1497.5
# -- TransferEngine: a core posts for a GPU
proxy() {
    run "$work/pair.yaml" --set nic.posting=proxy --set nic.detailed.proxy.request=90ns \
        --set $bulk.bytes="$1" --set $bulk.messages="$2" --set $bulk.depth="$3"
}
gbps() { awk -v us="$(finish_us)" -v n="$1" 'BEGIN { print n * 8 / us / 1000 }'; }
proxy 1KiB 4000 256
row "paged WRITE 1 KiB, Gbps" fitted 3 91 "$(gbps $((4000 * 1024)))"
proxy 8KiB 1500 256
row "paged WRITE 8 KiB, Gbps" held-out 25 320 "$(gbps $((1500 * 8192)))"
proxy 16KiB 800 256
row "paged WRITE 16 KiB, Gbps" held-out 10 367 "$(gbps $((800 * 16384)))"
proxy 64KiB 300 256
row "paged WRITE 64 KiB, Gbps" held-out 10 370 "$(gbps $((300 * 65536)))"
# The library's own time for a WRITE is fitted at 64 KiB, which took 11.916 us.
proxy 64KiB 30 1
software=$(awk -v us="$(finish_us)" 'BEGIN { print 11.916 - us / 30 }')
single() { # BYTES MESSAGES
    proxy "$1" "$2" 1
    awk -v us="$(finish_us)" -v n="$2" -v b="$1" -v more="$software" 'BEGIN {
        print b * 8 / (us / n + more) / 1000 }'
}
row "single WRITE 256 KiB, Gbps" held-out 25 116 "$(single 262144 10)"
row "single WRITE 1 MiB, Gbps" held-out 10 245 "$(single 1048576 4)"
row "single WRITE 32 MiB, Gbps" held-out 10 378 "$(single 33554432 1)"
# -- ConnectX-8
row "CX-8, WRITE 32 KiB, Gbps" held-out 10 770 \
    "$(perftest 4 --set nic.profile=connectx-8 --set topology.star.rate=800Gbps \
        --set $test.test=ib_write_bw --set $test.size=32KiB --set $test.qps=8 \
        --set $test.iterations=800)"
eight=(--set nic.profile=connectx-8 --set topology.star.rate=800Gbps)
row "CX-8, READ 4 MiB, 1 queue pair, Gbps: UCX" fitted 3 280 "$(bw read 4MiB 1 40 "${eight[@]}")"
two=$(bw read 4MiB 2 20 "${eight[@]}")
four=$(bw read 4MiB 4 20 "${eight[@]}")
awk -v two="$two" -v four="$four" 'BEGIN { exit !(two < 600 && four > 750) }' ||
    fail "ConnectX-8 needs four queue pairs for READs: two $two and four $four Gbps"
eight=(--set nic.profile=connectx-8)
row "CX-8 at 400 Gbps, ib_write_lat 8 B, us: GB300" held-out 25 1.85 \
    "$(perftest 6 "${eight[@]}" --set $test.size=8 --set topology.star.delay=150ns)"
row "the same, WRITE 64 KiB, 2 queue pairs, Gbps" held-out 10 382.5 "$(bw write 64KiB 2 500 "${eight[@]}")"
# -- GPUs that post: NVSHMEM on ConnectX-6, NCCL GIN on ConnectX-7
mops() { # QPS MESSAGES OPTION...
    local qps=$1 messages=$2
    shift 2
    run "$work/pair.yaml" --set nic.profile=connectx-6 --set $bulk.bytes=8B --set $bulk.depth=128 \
        --set $bulk.qps="$qps" --set $bulk.messages="$messages" "$@"
    awk -v us="$(finish_us)" -v n=$((qps * messages)) 'BEGIN { print n / us }'
}
row "puts of a GPU, 8 groups, M/s" fitted 5 180 "$(mops 64 500 --set nic.posting=gpu)"
row "puts by a proxy, M/s" fitted 3 1.7 "$(mops 8 200 --set nic.posting=proxy)"
run "$work/put.yaml" --set nic.posting=gpu
put=$(sed -n 's/.* takes \([0-9.]*\) us .*/\1/p' "$work/log")
row "put and answer of GPUs, us" fitted 5 16.7 "$(awk -v p="$put" 'BEGIN { print 2 * p }')"

# -- closed forms: one group posts a WQE in 44 ns, and groups add up
one=$(mops 8 1000 --set nic.posting=gpu --set nic.detailed.gpu.channels=1)
two=$(mops 8 1000 --set nic.posting=gpu --set nic.detailed.gpu.channels=2)
awk -v one="$one" -v two="$two" 'BEGIN { exit !(one > 22.2 && one < 22.8 && two > 1.95 * one) }' ||
    fail "groups of a GPU: $one and $two M/s, expected 22.7 and twice that"

# Writes in order: at most ordered-max bytes in a write's latency of 270 ns.
proxy 1MiB 20 16
free=$(finish_us)
run "$work/pair.yaml" --set $bulk.bytes=1MiB --set $bulk.messages=20 --set $bulk.depth=16 \
    --set nic.detailed.pcie.ordered-max=2025
row "ordered writes, Gbps: 2025 B in 270 ns" closed 2 60 "$(gbps $((20 << 20)))"
awk -v free="$free" -v us="$(finish_us)" 'BEGIN { exit !(us > 5 * free) }' || fail "ordered writes"

# A GPU and a NIC behind a switch whose uplink has 100 Gbps: straight, and by the root.
peer() {
    run "$work/pair.yaml" --set $bulk.bytes=1MiB --set $bulk.messages=20 --set $bulk.depth=16 \
        --set nic.host.nics-per-switch=1 --set nic.host.gpus=1 --set nic.host.location=cuda:0 \
        --set nic.host.switch-uplink=100Gbps "$@"
    gbps $((20 << 20))
}
row "behind the switch, Gbps" closed 3 390 "$(peer)"
row "by the root, Gbps: its uplink" closed 3 100 "$(peer --set nic.host.peer=root)"
row "by the root, Gbps: its own rate" closed 3 50 \
    "$(peer --set nic.host.peer=root --set nic.host.peer-rate=50Gbps)"

# ATS: the pages of a buffer are asked for once; each miss costs a request and a walk.
ats() {
    run "$work/pair.yaml" --set $bulk.bytes=1MiB --set $bulk.messages=8 --set $bulk.depth=1 \
        --set nic.host.iommu.use=all "$@"
    finish_us
}
without=$(ats)
with=$(ats --set nic.host.iommu.ats=4096)
hits=$(python3 -c "import json; s = json.load(open('$work/out/summary.json'))
print([n['iommu']['ats_hits'] for n in s['nics'] if n['iommu']['ats_misses']][0])")
awk -v a="$with" -v b="$without" -v h="$hits" 'BEGIN { exit !(a < b && h > 0) }' ||
    fail "ATS: $with us with, $without us without, $hits hits"

# -- DeepEP's messages on RoCE, in GB/s as it counts them: with ECMP and DCQCN, near the report #82
deepep() { # OPTION...
    run training/deepep-roce --set seed=1 "$@"
    python3 -c "
import csv
print(4 * 4 * 2**20 / max(float(flow['end_ns']) for flow in csv.DictReader(open('$work/out/flows.csv'))))"
}
row "DeepEP, ECMP alone, GB/s" held 25 29.9 "$(deepep --set fabric=spines --set cc=none)"
row "DeepEP, ECMP and DCQCN, GB/s" held 25 13.6 "$(deepep --set fabric=spines)"
row "DeepEP, adaptive routing, GB/s" held 10 58 "$(deepep --set fabric=spines --set balance=adaptive)"
awk -v gpu="$(deepep)" -v proxy="$(deepep --set posting=proxy)" \
    'BEGIN { exit !(gpu > 59 && gpu < 64 && proxy > 0.97 * gpu && proxy < 1.03 * gpu) }' ||
    fail "in one block, posting changes the rate of large messages"
# -- kernels of low latency: a message for each token and expert, to all GPUs of other servers
# tokens GPUS BYTES OPTION...: 1024 messages of a GPU, of which those to its own server take NVLink; in us
tokens() {
    local gpus=$1 bytes=$2
    shift 2
    awk -v n="$gpus" -v bytes="$bytes" '
        function hosts(a, b) { return a == b ? "host" a : "host[" a "-" b "]" }
        function pairs(from, to, count) {
            if (count == 0) return
            printf "  - bulk: {from: \"%s\", to: \"%s\"", hosts(from, from + count - 1),
                hosts(to, to + count - 1)
            print ", qps: 1, bytes: " bytes ", messages: " 1024 / n ", depth: 128}"
        }
        BEGIN {
            print "topology: {star: {hosts: " n ", rate: 400Gbps, delay: 250ns}}"
            print "nic: {model: detailed, profile: connectx-7, congestion-control: none, mtu: 4096}"
            print "switch: {buffer: 512MB}\ntraffic:"
            for (d = 8; d < n; d += 8) for (a = 0; a < n; a += 8) for (s = 0; s < 8; s++) {
                pairs(a, (a + d) % n + s, 8 - s)
                pairs(a + 8 - s, (a + d) % n, s)
            }
        }' >"$work/tokens.yaml"
    run "$work/tokens.yaml" "$@"
    finish_us
}
# The kernels' own time is fitted with 16 GPUs.
low_latency() { # NAME BYTES US_OF_16 US_OF_32 LIMIT OPTION...
    local name=$1 bytes=$2 of16=$3 of32=$4 limit=$5
    shift 5
    row "$name, 32 GPUs, us" held-out "$limit" "$of32" \
        "$(awk -v more="$of16" -v a="$(tokens 16 "$bytes" "$@")" -v b="$(tokens 32 "$bytes" "$@")" \
            'BEGIN { print more - a + b }')"
}
low_latency "DeepEP, dispatch" 7408 118 155 10 --set nic.posting=gpu
low_latency "pplx, dispatch" 7408 110.2 153.9 10 --set nic.posting=proxy --set nic.detailed.proxy.request=90ns
low_latency "UCCL-EP, combine" 14336 207 341 25 --set nic.posting=proxy --set nic.detailed.proxy.cores=4
# All WQEs posted at once: payloads are requested as the link needs them, so nothing waits behind them.
awk -v limited="$(tokens 32 4096)" \
    -v all="$(tokens 32 4096 --set nic.detailed.pcie.requested-max=0)" \
    'BEGIN { exit !(limited < 1.1 * 64.2 && all > 1.4 * limited) }' ||
    fail "payloads that are requested early hold up contexts"

# What could explain the 37.9 GB/s of #82 in one block: a chunk of 16 tokens at a time, or half a slot.
all=traffic[0].all-to-all
chunks=$(deepep --set posting=proxy --set $all.bytes=118784B --set $all.messages=35 --set $all.depth=1)
awk -v chunks="$chunks" \
    -v slot="$(deepep --set nic.detailed.pcie.lanes=8)" \
    -v pairs="$(deepep --set fabric=spines --set cc=none --set $all.qps=12)" \
    'BEGIN { exit !(chunks > 37 && chunks < 41 && slot > 35 && slot < 37 && pairs > 40 && pairs < 55) }' ||
    fail "the causes of slow messages in one block have other sizes"

# -- refusals
for set in nic.model=ideal nic.detailed.pcie.flit=100 nic.posting=cpu; do
    rocesim run "$work/pair.yaml" --set nic.posting=gpu --set "$set" >"$work/log" 2>&1 &&
        fail "$set is accepted"
    grep -qE 'expected|not one of' "$work/log" || fail "$set: $(cat "$work/log")"
done
# Whoever posts: equal digests on any number of threads.
for posting in gpu proxy; do
    digests=$(for threads in 1 2; do
        rocesim run "$work/put.yaml" --set nic.posting=$posting --threads $threads -o "$work/out" |
            grep digest
    done | sort -u | wc -l)
    [ "$digests" = 1 ] || fail "$posting: $digests digests"
done
[ "$failures" -eq 0 ]
