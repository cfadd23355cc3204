#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/net/test_scale_up.sh - accelerators and their switches as nodes of the network.
#
# Goal: closed forms of a message, a ring, an all-to-all, an incast, credits against round trip, and
# repetitions; equal digests on any number of threads; trains against single packets; what does not
# ask for packets is as before; a sentence for all that is refused.
# Method: rates and times of the application `accelerators` and of collectives. Not pinned: the
# order of trains of different messages.
set -u
. tests/script.sh
start_forks

cat >"$work/s.yaml" <<'YAML'
topology: {star: {hosts: 1, nics-per-host: 8, rate: 400Gbps}}
scale-up: {model: packets, switches: 4}
traffic:
  - accelerators: {pattern: pair, bytes: 1MiB, messages: 10}
YAML
t='traffic[0].accelerators'
# run OPTION...: runs s.yaml; checks conservation.
run() {
    rocesim run "$work/s.yaml" -o "$work/out" --quiet "$@" >/dev/null 2>"$work/err" ||
        fail "$*: $(cat "$work/err")"
    grep -q '"ok": true' "$work/out/summary.json" || fail "$*: packets are missing"
}
# value NAME: the first number of that name in summary.json
value() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$work/out/summary.json" | head -1; }
# near WHAT VALUE EXPECTED TOLERANCE: |VALUE / EXPECTED - 1| <= TOLERANCE
near() {
    awk -v v="$2" -v e="$3" -v t="$4" 'BEGIN { exit !(v != "" && v - e <= t * e && e - v <= t * e) }' ||
        fail "$1: $2, expected $3 within $4"
}
calculate() { awk "BEGIN { printf \"%.9f\", $1 }"; }

# A packet of NVLink is 8 flits of data and two of header: 160 bytes. Each of 4 links has 112.5 GB/s.
idle=$(calculate '2 * (0.2 + 0.3) + 160 / 112.5e3')
run
long=$(calculate "$idle + 640 * 32 * 160 / 112.5e3")
near "10 MiB to one accelerator" "$(value time_us)" "$long" 1e-5
run --set $t.messages=1 --set $t.bytes=128
near "one packet" "$(value time_us)" "$(calculate "$idle + 160 / 112.5e3")" 1e-5
run --set $t.messages=1 --set $t.bytes=20
near "20 bytes" "$(value time_us)" "$(calculate '1 + 2 * 64 / 112.5e3')" 1e-5
run --set $t.operation=load --set $t.messages=1 --set $t.bytes=128
near "a load" "$(value time_us)" "$(calculate '1.4 + (2 * 32 + 2 * 160) / 112.5e3')" 1e-5
run --set $t.operation=load
near "loads" "$(value gbytes_per_s)" "$(calculate '450 * 8 / 10')" 0.06
run --set $t.pattern=ring
near "a ring" "$(value time_us)" "$long" 1e-5

grep -q '"8 accelerators are nodes of the network\."' "$work/out/summary.json" ||
    fail "the network: $(grep 'The network has' "$work/out/summary.json")"

# Senders share the receiver's side.
run --set $t.pattern=incast
near "incast" "$(value time_us)" "$(calculate "$idle + 7 * 640 * 32 * 160 / 112.5e3")" 0.001
run --set $t.pattern=scatter
near "scatter" "$(value time_us)" "$(calculate "$idle + 7 * 640 * 32 * 160 / 112.5e3")" 0.001
run --set $t.pattern=all-to-all
near "all-to-all" "$(value time_us)" "$(calculate "$idle + 7 * 640 * 32 * 160 / 112.5e3")" 0.12

# Credits: a link sends as many bytes in a round trip as there is room behind it.
for kib in 8 16 32; do
    for train in 128 1024; do
        run --set scale-up.credits=${kib}KiB --set scale-up.train=$train --set $t.messages=20
        near "credits $kib KiB, trains of $train" \
            "$(calculate "20 * 1048576 / ($(value time_us) - 1) / 1e3")" \
            "$(calculate "4 * $kib * 1024 / (400 + 160 / 112.5) * 8 / 10")" 0.16
    done
done
[ "$(value waits)" -gt 0 ] || fail "no port waited for credits"

# Repetitions: each costs its packet and the time until the sender knows.
many="--set $t.messages=200 --set scale-up.credits=4MiB"
run --set scale-up.error-rate=0.001 $many --set scale-up.switches=1
near "0.1 % of packets damaged" "$(calculate "200 * 1048576 / $(value time_us) / 1e3")" \
    "$(calculate '450 * 8 / 10 / (1 + 0.001 * (1 + 400 / (160 / 450)))')" 0.05
run --set scale-up.error-rate=0.001 --set scale-up.retry-delay=0s $many
near "repetitions at once" "$(calculate "200 * 1048576 / $(value time_us) / 1e3")" \
    "$(calculate '450 * 8 / 10 / 1.001')" 0.01

# UALink and SUE: shares of the peak.
run --set scale-up.protocol=ualink --set $t.messages=200
near "UALink's share of the peak" "$(calculate "$(value gbytes_per_s) / 400")" 0.93 0.01
run --set scale-up.protocol=sue --set scale-up.switches=8 --set $t.messages=200
near "SUE's share" "$(calculate "$(value gbytes_per_s) / 800")" "$(calculate '256 / 300')" 0.01

# SUE packs messages that wait for one accelerator: eight of 32 bytes share a packet of 256.
run --set scale-up.protocol=sue --set scale-up.switches=8 --set $t.bytes=32 --set $t.messages=400000 \
    --set $t.outstanding=40000
near "SUE packs 32 bytes" "$(calculate "$(value gbytes_per_s) / 800")" "$(calculate '256 / 300')" 0.06
near "SUE packs 32 bytes: packets" "$(sed -n 's/^ *"packet_hops": \([0-9]*\),*$/\1/p' \
    "$work/out/summary.json" | head -1)" 100000 0.02

# Trains and single packets.
run --set $t.pattern=incast --set scale-up.train=128 --set $t.messages=2
single=$(value time_us)
run --set $t.pattern=incast --set $t.messages=2
near "incast with trains" "$(value time_us)" "$single" 0.001

# Collectives, by the same names.
ring="kind: all-reduce, bytes: 16MiB, algorithm: ring, protocol: plain, channels: 1"
collective="{collective: {$ring}}"
run --set "traffic[0]=$collective"
near "ring all-reduce" "$(value mean_us)" "$(calculate "14 * ($idle + 128 * 32 * 160 / 112.5e3)")" 1e-4

# Reductions in switches: the pace of GPUs as with the formula, or the unit of the switch.
nvls="{collective: {kind: all-reduce, bytes: 64MiB, algorithm: nvls, flows-max: 0}}"
run --set "traffic[0]=$nvls" --set scale-up.model=formula
formula=$(value mean_us)
run --set "traffic[0]=$nvls" --set scale-up.switches=18
near "NVLS, beside the formula" "$(value mean_us)" "$formula" 0.07
run --set "traffic[0]=$nvls" --set scale-up.reduce-rate=500Gbps
near "NVLS, by the units of 4 switches" "$(value mean_us)" "$(calculate '7 * 67108864 / 250e3')" 0.03
run --set "traffic[0]={collective: {kind: all-gather, bytes: 64MiB, algorithm: nvls, flows-max: 0}}" \
    --set scale-up.switches=18
near "NVLS spreads" "$(value mean_us)" "$(calculate '7 / 8 * 67108864 / (370.8e3 * 5 / 6)')" 0.06

# The chunks of a loop of NVLS take equal shares of the pace, so that they go on between servers at one time.
tree="{collective: {kind: all-reduce, bytes: 16MiB, algorithm: nvls-tree, flows-max: 0,
    local-rate: 7200Gbps, tuning-latency: on}}"
servers="{star: {hosts: 2, nics-per-host: 8, rate: 400Gbps}}"
run --set "topology=$servers" --set "traffic[0]=$tree" --set scale-up.model=formula
formula=$(value mean_us)
run --set "topology=$servers" --set "traffic[0]=$tree" --set scale-up.switches=18 --set scale-up.rate=7200Gbps
near "NVLS tree on two servers" "$(value mean_us)" "$formula" 0.1

# Threads.
for options in "$t.pattern=all-to-all" "$t.operation=load" scale-up.error-rate=0.01 \
    scale-up.credits=16KiB "traffic[0]=$collective" "traffic[0]=$nvls"; do
    digests=
    for threads in 1 2 4; do
        run --set "$options" --threads $threads
        digests+=" $(sed -n 's/^ *"digest": "\(.*\)",*$/\1/p' "$work/out/summary.json")"
    done
    [ "$(printf '%s\n' $digests | sort -u | wc -l)" = 1 ] || fail "$options: digests$digests"
done

# refused TEXT OPTION...: check fails with the text
refused() {
    local text=$1
    shift
    rocesim check "$work/s.yaml" "$@" >"$work/said" 2>&1 && fail "$*: not refused"
    grep -q "$text" "$work/said" || fail "$*: $(cat "$work/said")"
}
refused "expected room for two trains" --set scale-up.credits=1KiB --set scale-up.train=1KiB
refused "no host has two accelerators" --set topology.star.nics-per-host=1 --set topology.star.hosts=2
refused "host0 has 8, expected hosts with 9 or more" --set $t.accelerators=9
[ "$failures" = 0 ]
