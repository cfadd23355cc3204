#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/test_nvlink.sh - NVLink domains that are links and a switch of their own.
#
# Goal: messages within a domain go over its NVSwitch alone and others over rails, for schedules and
# collectives; no packet on NVLink is marked or paced; a rate without a code of INT is no hindrance. A GPU
# without a link to one of several NVSwitches uses those that it shares with its peer.
# Method: counters of ports, and the closed form of an incast at line rate. Not pinned: delays.
set -u
. tests/script.sh

cat >"$work/incast.goal" <<'GOAL'
num_ranks 8
rank 0 {
a: recv 1000000b from 1
b: recv 1000000b from 2
c: send 5000b to 4 tag 1
}
rank 1 {
a: send 1000000b to 0
}
rank 2 {
a: send 1000000b to 0
}
rank 3 {
a: recv 5000b from 4 tag 2
}
rank 4 {
a: recv 5000b from 0 tag 1
b: send 5000b to 3 tag 2
}
GOAL
for rank in 5 6 7; do printf 'rank %d {\na: calc 1\n}\n' $rank; done >>"$work/incast.goal"
cat >"$work/n.yaml" <<'YAML'
topology: {rail-optimised: {servers: 2, gpus-per-server: 4, spines: 2, hosts: gpus, nvlink-rate: 2880Gbps}}
switch: {ecn: {kmin: 5KB, kmax: 5KB}}
traffic: [workload: {file: incast.goal}]
YAML
run() {
    "$ROCESIM" run "$work/n.yaml" -o "$work/out" --quiet "$@" >/dev/null 2>"$work/err" ||
        fail "$*: $(cat "$work/err")"
}
# bytes PORT: bytes that a port sent
bytes() { awk -F, -v port="$1" '$1 == port { print $4 }' "$work/out/ports.csv"; }
for cc in dcqcn hpcc dctcp; do
    run --set nic.congestion-control=$cc
    marks=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) marks[i] = $i ~ /^ecn_marked_prio/ }
        NR > 1 && /nvswitch/ { for (i in marks) if (marks[i]) sum += $i } END { print sum + 0 }' \
        "$work/out/ports.csv")
    [ "$marks" = 0 ] || fail "$cc: $marks packets on NVLink are marked"
    end=$(sed -n '/"finish_us": {$/,/}/s/^ *"max": \([0-9.e-]*\),*$/\1/p' "$work/out/summary.json")
    awk -v end="$end" \
        'BEGIN { least = 2e6 * 8 / 2880e3; exit !(end > least && end < 1.1 * least) }' ||
        fail "$cc: the incast does not take the time of its bytes"
    [ "$(bytes 'nvswitch0->host0')" -gt 2000000 ] || fail "$cc: a message left its domain"
    [ "$(bytes 'host4->nvswitch1')" = 0 ] || fail "$cc: a message for another domain took NVLink"
    [ "$(bytes 'host4->leaf0')" -gt 5000 ] || fail "$cc: no message on a rail"
done
run --set 'traffic[0]={collective: {kind: all-reduce, bytes: 1MB, ranks: 4}}'
[ "$(bytes 'host0->nvswitch0')" -gt 1000000 ] || fail "a collective left its domain"
[ "$(bytes 'host0->leaf0')" = 0 ] || fail "a collective of one domain took a rail"
"$ROCESIM" check "$work/n.yaml" --set 'traffic[0]={collective: {ranks: 4}}' |
    grep -q "4 ranks on 8 places: a fabric of 4 would do" || fail "check does not say what would do"
"$ROCESIM" check "$work/n.yaml" --set topology.rail-optimised.servers=1 >"$work/said" 2>&1 &&
    fail "8 ranks fit on 4 GPUs"
grep -q "expected at least 8 NICs, or a schedule of at most 4 ranks" "$work/said" ||
    fail "$(cat "$work/said")"

# servers MISSING...: 4 GPUs at NVSwitches 4 and 5, but for the links `GPU NVSWITCH`
servers() {
    {
        printf '7 4 2 1 %d H100\n4 5 6\n' $((12 - $#))
        for gpu in 0 1 2 3; do
            for nvswitch in 4 5; do
                [[ " $* " == *" $gpu:$nvswitch "* ]] || echo "$gpu $nvswitch 1440Gbps 25ns 0"
            done
            echo "$gpu 6 100Gbps 25ns 0"
        done
    } >"$work/servers.txt"
}
# takes KIND: us of a collective of 8 MiB
takes() {
    "$ROCESIM" run "$work/servers.yaml" -o "$work/out" --quiet \
        --set "traffic[0]={collective: {kind: $1, bytes: 8MiB}}" >/dev/null 2>"$work/err" ||
        fail "$1: $(cat "$work/err")"
    sed -n 's/^ *"mean_us": \([0-9.e-]*\),*$/\1/p' "$work/out/summary.json" | head -n 1
}
echo 'topology: {file: servers.txt}' >"$work/servers.yaml"
servers
both=$(takes all-reduce)
awk -v us="$both" 'BEGIN { exit !(us > 35 && us < 40) }' || fail "two NVSwitches: $both us"
# Of its 3 peers, an all-to-all reaches 2 by one NVSwitch and 1 by the other.
awk -v us="$(takes all-to-all)" 'BEGIN { exit !(us > 23.3 && us < 25.5) }' ||
    fail "an all-to-all does not use both NVSwitches"
for missing in 1:4 1:5; do
    servers $missing
    awk -v us="$(takes all-reduce)" -v both="$both" 'BEGIN { exit !(us > 1.9 * both && us < 2.1 * both) }' ||
        fail "without $missing an all-reduce does not take twice the time"
    [ "$(bytes 'host1->switch6')" = 0 ] || fail "without $missing a message leaves NVLink"
done
servers 1:4 2:5 # these two GPUs share none, and take their rail
takes all-to-all >/dev/null
[ "$(bytes 'host1->switch6')" -gt 2000000 ] && [ "$(bytes 'host0->switch6')" = 0 ] ||
    fail "GPUs without a common NVSwitch do not take their rail alone"
[ "$failures" = 0 ]
