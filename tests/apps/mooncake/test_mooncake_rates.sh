#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_rates.sh - what the Transfer Engine moves is what links and hosts allow.
#
# Goal: on 1 to 8 NICs, through PCIe lanes, uplinks of PCIe switches, socket links, memory and GPUs, near
# and far, the benchmark reaches the closed form of the narrowest part within 3 %; a slow NIC costs each
# way to choose NICs what it must.
# Method: payload of frames of 4096 bytes is 4096 / 4178 of a link's rate; parts of a host carry payload
# only; a completion of 64 bytes takes 64 + 22 on PCIe lanes and 2 % of link layer besides.
# Not pinned: the published machines (scenarios/mooncake/run machines).
set -u
. tests/script.sh
start_forks
bench='traffic[0].mooncake-bench'

# rate GBYTES_PER_S TOLERANCE_PERCENT SETTINGS...
rate() {
    local expected=$1 tolerance=$2 settings=() setting got
    sometimes 5 || return 0
    shift 2
    for setting in "$@"; do settings+=(--set "$setting"); done
    rocesim run scenarios/mooncake/bench.yaml -o "$work/out" --quiet --set "$bench.warm-up=500us" \
        --set "$bench.duration=2ms" "${settings[@]}" >"$work/log" 2>&1 || {
        fail "$*: $(cat "$work/log")"
        return
    }
    got=$(sed -n 's/^ *"gbytes_per_s": \([0-9.]*\),*$/\1/p' "$work/out/summary.json" | head -n 1)
    awk -v got="$got" -v expected="$expected" -v tolerance="$tolerance" \
        'BEGIN { off = 100 * (got / expected - 1); exit !(off >= -tolerance && off <= tolerance) }' ||
        fail "$*: $got GB/s, expected $expected within $tolerance %"
    grep -q '"failed": 0' "$work/out/summary.json" || fail "$*: requests failed"
    grep -q '"unverified_bytes": 0' "$work/out/summary.json" || fail "$*: something arrived wrong"
}
for operation in read write; do
    rate 24.51 3 nics=1 operation=$operation
    rate 98.04 3 nics=4 operation=$operation
    rate 392.15 3 nics=8 nic_rate=400Gbps operation=$operation
done
rate 36.76 3 nics=3 nic_rate=100Gbps
rate 6.127 3 nics=2 nic_rate=25Gbps block_bytes=16KiB
rate 24.51 3 nics=1 slice_bytes=1MiB block_bytes=1MiB batch=8
rate 24.51 3 nics=1 slice_bytes=16KiB qps_per_endpoint=8

# PCIe 4.0 x16 with completions of 64 bytes: 31.504 GB/s x 64 / 86 / 1.02...
card='model: detailed, profile: connectx-6, mtu: 4096, congestion-control: none'
lanes="nic={$card, detailed: {pcie: {completion-max: 64}}}"
rate 22.9 3 nics=1 operation=write "$lanes"
rate 91.7 3 nics=4 operation=write "$lanes"

# Memory of another socket, over a link of 100 Gbps; near again by the matrix that knows.
far='{"cpu:0": [["mlx5_0"]], "cpu:1": [["mlx5_0"]]}'
two='nic.host={sockets: 2, socket-link: 100Gbps}'
rate 12.5 3 nics=2 "$two" "$bench.matrix='$far'" "$bench.source-location='cpu:1'"
rate 24.51 3 nics=2 "$two" "$bench.source-location='cpu:1'" "$bench.target-location='cpu:1'"
rate 49.02 3 nics=2 "$two" "$bench.source-location='cpu:0, cpu:1'" \
    "$bench.target-location='cpu:0, cpu:1'"
rate 37.5 3 nics=4 nic.host.memory-bandwidth=300Gbps

# Two NICs on one uplink; GPUs behind the same switches need none.
switched='nic.host={nics-per-switch: 2, switch-uplink: 150Gbps, gpus: 2, gpu-link: 400Gbps}'
rate 37.5 3 nics=4 "$switched"
rate 98.04 3 nics=4 "$switched" "$bench.source-location='cuda:0, cuda:1'" \
    "$bench.target-location='cuda:0, cuda:1'"
# A NIC of 400 Gbps from host memory, and from a GPU behind PCIe 3.0 x16 (TLPs of 256 + 24 bytes).
gpu='nic.host={gpus: 1, gpu-link: 115.2Gbps}'
rate 49.02 3 nics=1 nic_rate=400Gbps "$gpu"
rate 14.4 3 nics=1 nic_rate=400Gbps "$gpu" "$bench.source-location='cuda:0'"
rate 7.0 3 nics=1 "$bench.file=1GiB"
# Eight channels of 80 us serve 100,000 commands of 4 KiB per second; writes of 20 us, four times as many.
few="$bench.drive.channels=8"
rate 0.4096 3 nics=1 "$bench.file=64MiB" "$few" block_bytes=4KiB batch=16
rate 1.6384 3 nics=1 "$bench.file=64MiB" "$few" block_bytes=4KiB batch=16 operation=write \
    "$bench.drive.write-latency=20us"

# Two files of a node, of two applications, share its drive; drives that differ are refused.
cat >"$work/two.yaml" <<'END'
topology: {star: {hosts: 3, rate: 200Gbps, delay: 500ns}}
nic: {mtu: 4096, congestion-control: none}
traffic:
  - mooncake-bench: {threads: 2, batch: 32, file: 64MiB, warm-up: 500us, duration: 4ms}
  - mooncake-bench: {threads: 2, batch: 32, file: 64MiB, warm-up: 500us, duration: 4ms}
END
rocesim run "$work/two.yaml" -o "$work/two" --quiet >"$work/log" 2>&1 ||
    fail "two files: $(cat "$work/log")"
sed -n 's/^ *"gbytes_per_s": \([0-9.]*\),*$/\1/p; s/^ *"\(unverified_bytes": [0-9]\).*/\1/p' \
    "$work/two/summary.json" >"$work/rates"
awk '/unver/ { bad += $2 } !/unver/ { if ($1 > 1) { n++; sum += $1; far += $1 < 3.3 || $1 > 3.7 } }
    END { exit !(bad == 0 && n == 2 && far == 0 && sum > 6.8 && sum < 7.2) }' "$work/rates" ||
    fail "two files of a drive of 7 GB/s: $(tr '\n' ' ' <"$work/rates")"
rocesim run "$work/two.yaml" -o "$work/two" --set 'traffic[1].mooncake-bench.drive.latency=9us' --quiet \
    >"$work/log" 2>&1
[ $? = 2 ] && grep -q 'drive of host1 differs' "$work/log" || fail "two drives: $(cat "$work/log")"

# One of four NICs at 50 instead of 200 Gbps: whoever gives it a quarter of the slices waits for it;
# by load the other three stay busy.
slow='links={host0--switch0#2: {rate: 50Gbps}}'
rate 24.51 8 selection=round-robin "$slow" "$bench.warm-up=6ms" "$bench.duration=8ms"
rate 24.51 8 selection=random "$slow" "$bench.warm-up=6ms" "$bench.duration=8ms"
rate 79.66 8 selection=least-loaded "$slow" "$bench.warm-up=3ms"

echo "$failures failures"
[ "$failures" -eq 0 ]
