#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_promised.sh - what the reference promises is accepted; what would destroy is not.
#
# Goal: kinds of traffic with documented defaults run on any hosts; lists of patterns stand wherever a
# name does; scenarios come by pipe, also a late one; `rocesim hpcc` never writes over what it reads.
# Method: scenarios as a new user writes them.
# Not pinned: what the runs amount to.
set -u
. tests/script.sh
start_forks

# runs TEXT: a scenario
runs() {
    printf '%b\n' "$1" >"$work/x.yaml"
    rm -rf "$work/x"
    within 120 rocesim run "$work/x.yaml" -o "$work/x" --quiet >"$work/out" 2>&1 ||
        fail "$1: $(head -n 2 "$work/out")"
}

star='topology: {star: {hosts: 4}}\nuntil: 50us\n'
for kind in verbs-rate sequencer herd drtm-kv incast poisson permutation all-to-all; do
    runs "${star}traffic: [{$kind: {}}]"
done
runs 'topology: {pair: {nics-per-host: 2}}\ntraffic: [{incast: {}}]'
runs 'topology: {graph: {nodes: [{host: [a, b]}], links: [a--b]}}\ntraffic: [{incast: {to: a}}]'

runs "${star}traffic: [incast: {to: '[host0, host1]', from: 'host[2-*]'}]
captures: [{ports: [switch0->host0, 'host1->*'], file: x.pcap}]
observe:
  - {series: ['port[switch0->host0].queue_bytes', 'nic[[host2, host3]].tx_packets'], every: 10us}
  - 'port[[switch0->host1, switch0->host2]].tx_bytes'
nodes: {'[host2, host3]': {nic: {mtu: 1024}}}
links: {'[host0--*, host1--switch0]': {delay: 2us}}"
[ "$(cut -d, -f2 "$work/x/series.csv" | sort -u | tr '\n' ' ')" = "nic[host2].tx_packets \
nic[host3].tx_packets path port[switch0->host0].queue_bytes port[switch0->host1].tx_bytes \
port[switch0->host2].tx_bytes " ] || fail "lists of series: $(cut -d, -f2 "$work/x/series.csv" | sort -u)"
"$ROCESIM" run "$work/x/scenario.yaml" -o "$work/y" --quiet >/dev/null || fail "lists, resolved"
cmp "$work/x/series.csv" "$work/y/series.csv" || fail "lists, resolved: other series"

# By pipe.
quick=scenarios/quickstart.yaml
digest() {
    sed -n 's/^ *"digest": "\(.*\)",/\1/p'
}
expected=$("$ROCESIM" run $quick --json | digest)
[ "$("$ROCESIM" run - --json <$quick | digest)" = "$expected" ] || fail "run -"
[ "$(cat $quick | "$ROCESIM" run /dev/stdin --json | digest)" = "$expected" ] || fail "/dev/stdin"
[ "$("$ROCESIM" run <(sleep 0.3; cat $quick) --json | digest)" = "$expected" ] || fail "a late pipe"
mkfifo "$work/fifo"
within 60 "$ROCESIM" run "$work/fifo" >/dev/null 2>&1
[ $? -eq 2 ] || fail "a pipe that nobody writes to"

# hpcc: outputs that are inputs, or each other.
mkdir "$work/h"
cd "$work/h" || exit 1
cat >topology.txt <<'END'
3 1 2
0
1 0 100Gbps 1us 0
2 0 100Gbps 1us 0
END
printf '1\n1 2 3 100 10000 2.0\n' >flow.txt
printf '1\n1\n' >trace.txt
config() {
    cat >config.txt <<END
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
TRACE_FILE trace.txt
TRACE_OUTPUT_FILE $3
FCT_OUTPUT_FILE $1
PFC_OUTPUT_FILE $2
CC_MODE 3
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
KMIN_MAP 1 100000000000 400
KMAX_MAP 1 100000000000 1600
PMAX_MAP 1 100000000000 0.20
SIMULATOR_STOP_TIME 2.1
END
}
refused() {
    config "$1" "$2" "$3"
    cp -r . "$work/kept"
    rocesim hpcc config.txt --quiet >"$work/out" 2>&1 && fail "hpcc $*: accepted"
    diff -r . "$work/kept" || fail "hpcc $*: files were touched"
    rm -r "$work/kept"
}
sim=$ROCESIM
case $sim in /*) ;; *) sim=$OLDPWD/$sim ;; esac
ROCESIM=$sim
config fct.txt pfc.txt mix.tr
"$ROCESIM" hpcc config.txt --quiet >"$work/out" 2>&1 || fail "hpcc: $(cat "$work/out")"
ln -s flow.txt link.txt
refused flow.txt pfc.txt mix.tr
refused fct.txt ./topology.txt mix.tr
refused config.txt pfc.txt mix.tr
refused fct.txt pfc.txt link.txt
refused same.txt ./same.txt mix.tr
refused fct.txt fct.txt mix.tr
exit $((failures > 0))
