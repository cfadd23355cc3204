#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_app_service.sh - transfers on UC and UD queue pairs, and on shared ones.
#
# Goal: with uc and ud a lone transfer takes its ideal time, which has no acknowledgement in it; what is
# lost is not sent again: such a transfer is unfinished, and delivered_bytes is what came whole. With
# `reuse` the transfers of two hosts take turns on one queue pair in order of start, other hosts' beside
# them; after an error those that wait fail at once. Two threads give the same; what does not go is refused.
# Method: flows.csv of small runs.
# Not pinned: how transfers share a link.
set -u
. tests/script.sh
start_forks

# flows NAME TOPOLOGY TRAFFIC [OPTION]...: runs on one and two threads; the folder is $work/NAME
flows() {
    local name=$1
    printf 'topology: %s\nnic: {congestion-control: none, timeout: 4, retry-count: 1}\ntraffic: [%s]\n' \
        "$2" "$3" >"$work/$name.yaml"
    shift 3
    rocesim run "$work/$name.yaml" -o "$work/$name" --quiet "$@" >"$work/out" 2>&1 ||
        fail "$name: $(tail -n 1 "$work/out")"
    rocesim run "$work/$name.yaml" -o "$work/two" --quiet --threads 2 "$@" >/dev/null 2>&1
    cmp -s "$work/$name/flows.csv" "$work/two/flows.csv" || fail "$name: two threads differ"
    rm -rf "$work/two"
}

# of NAME FLOW COLUMN
of() {
    awk -F, -v row="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i; next }
        $1 == row { print $at }' "$work/$1/flows.csv"
}

pair='{dumbbell: {left: 4, right: 4}}'
for one in 'rc write' 'uc write' 'uc send' 'ud send'; do
    set -- $one
    flows one "$pair" "flows: {list: [host0 host4 1000003 1us], messages: 3, service: $1, verb: $2}"
    [ "$(of one 0 slowdown)" = 1.000000 ] || fail "$one alone: slowdown $(of one 0 slowdown)"
    [ "$(of one 0 status)" = success ] || fail "$one: $(of one 0 status)"
    eval "$1_$2=$(of one 0 ideal_fct_ns)"
done
# However long frames are, where payloads are padded, too.
for frames in infiniband bare; do
    for one in 'rc write' 'rc send' 'rc read' 'uc write' 'uc send' 'ud send'; do
        set -- $one
        flows one "$pair" "flows: {list: [host0 host4 1 0us, host1 host5 9001 50us], service: $1, verb: $2}" \
            --set nic.frames=$frames --set topology.dumbbell.bottleneck-rate=400Gbps
        [ "$(of one 0 slowdown) $(of one 1 slowdown)" = "1.000000 1.000000" ] ||
            fail "$one alone, frames $frames: slowdown $(of one 0 slowdown) and $(of one 1 slowdown)"
    done
done
# One after the other, on paths that take unequally long: the ideal is of the paths that packets and answers
# take, whoever balances the load.
rows=$(for i in $(seq 0 63); do echo -n "host$((i % 8)) host$((8 + i * 5 % 8)) 9000 $((i * 100))us, "; done)
for balancer in ecmp hpcc; do
    for verb in write read; do
        flows ways '{leaf-spine: {leaves: 2, spines: 4, hosts-per-leaf: 8}}' \
            "flows: {list: [${rows%, }], verb: $verb}" --set network.load-balancer=$balancer \
            --set 'links={"leaf*--spine1": {delay: 3us}, "leaf0--spine2": {delay: 7us},
                "leaf1--spine3": {rate: 10Gbps}}'
        awk -F, 'NR > 1 && $10 == "1.000000" { alone++ }
            { ideals[$9] }
            END { exit alone != 64 || length(ideals) < 6 }' "$work/ways/flows.csv" ||
            fail "$balancer, $verb: $(cut -d, -f 2,3,8-10 "$work/ways/flows.csv" | grep -v 1.000000)"
    done
done
# The acknowledgement crosses three links of 1 us each; datagrams have a longer header, at each MTU.
awk -v rc="$rc_write" -v uc="$uc_write" 'BEGIN { exit !(rc - uc > 3000 && rc - uc < 3200) }' ||
    fail "an ACK takes $rc_write - $uc_write ns"
[ "$uc_write" != "$ud_send" ] || fail "datagrams take what writes do"

for one in 'uc write' 'uc send' 'ud send'; do
    set -- $one
    flows lossy "$pair" "poisson: {from: 'host[0-3]', to: 'host[4-7]', load: 0.4, max-flows: 400,
        stop: 1s, sizes: fbhadoop, service: $1, verb: $2, messages: 4}" --set link.loss-rate=0.002
    awk -F, -v what="$one" 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        { all++ }
        $at["retransmitted_packets"] != 0 { bad = "sent again: " $0 }
        $at["end_ns"] != "" { done++; if ($at["delivered_bytes"] != $at["bytes"]) bad = "whole: " $0 }
        $at["end_ns"] == "" && $at["delivered_bytes"] >= $at["bytes"] { bad = "not whole: " $0 }
        $at["end_ns"] == "" && what ~ /uc/ && $at["delivered_bytes"] % ($at["bytes"] / 4) != 0 {
            bad = "part of a message: " $0 }
        END { if (all != 400 || done < 40 || done > 399) bad = done " of " all " are whole"
            if (bad != "") print bad; exit bad != "" }' "$work/lossy/flows.csv" >"$work/said" ||
        fail "$one with losses: $(cat "$work/said")"
done

# One after another on one queue pair, beside those of other hosts.
rows='host0 host4 1MB 0us, host0 host4 1MB 0us, host1 host5 1MB 0us, host0 host4 1MB 500us'
for verb in write send read; do
    flows turns "$pair" "flows: {list: [$rows], reuse: true, verb: $verb, depth: 4, messages: 2}"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        { end[$1] = $at["end_ns"]; fct[$1] = $at["fct_ns"]; port[$1] = $at["src_port"] }
        END { exit !(end[1] > end[0] + 100000 && fct[1] > 1.4 * fct[0] && fct[2] < fct[1] &&
            fct[3] < 200000 && port[0] == port[1] && port[1] == port[3] && port[0] != port[2]) }' \
        "$work/turns/flows.csv" || fail "turns of $verb: $(cat "$work/turns/flows.csv")"
done
printf '1 1\n4000 100\n' >"$work/small.txt"
flows many "$pair" "poisson: {from: 'host[0-3]', to: 'host[4-7]', load: 0.5, max-flows: 9000, stop: 1s,
    sizes: small.txt, reuse: true}" --set link.loss-rate=0.001 --set nic.retry-count=7
[ "$(awk -F, 'NR > 1 { print $2, $3, $4 }' "$work/many/flows.csv" | sort -u | wc -l)" -le 16 ] ||
    fail "more source ports than pairs of hosts"
[ "$(grep -c ',success,network$' "$work/many/flows.csv")" -eq 9000 ] || fail "not all of 9000 flows"

# A queue pair that failed stays so.
flows broken "$pair" "flows: {list: [$rows], reuse: true}" --set 'links.host4--switch1.down=[{at: 10us}]'
for flow in 0 1 3; do
    [ "$(of broken $flow status)" != success ] && [ -n "$(of broken $flow failed_ns)" ] ||
        fail "flow $flow of a broken queue pair: $(of broken $flow status)"
done
[ "$(of broken 2 status)" = success ] || fail "another pair fails, too"

# refused WORDS TRAFFIC
refused() {
    printf 'topology: %s\ntraffic: [%s]\n' "$pair" "$2" >"$work/bad.yaml"
    rocesim check "$work/bad.yaml" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] && grep -q "$1" "$work/err" || fail "$2: $(cat "$work/err")"
}
refused 'service: ud only has the verb send, expected verb: send' "poisson: {service: ud, max-flows: 3}"
refused 'service: uc has no verb read' "permutation: {service: uc, verb: read}"
refused 'reuse: on, expected also service: rc' "incast: {service: uc, reuse: true}"
refused 'reuse: on, expected also service: rc, qps: 1' "flows: {list: [$rows], qps: 2, reuse: true}"
exit $((failures > 0))
