#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_hpcc.sh - `rocesim hpcc` and scenarios that use the files of other simulators.
#
# Goal: a config runs unchanged and its outputs are in the promised formats, to the byte; wrong input
# of each format is refused with exit status 2 and one line FILE:LINE:COLUMN, and nothing is written;
# what is odd is a note; topology and flow files work in scenarios.
# Method: the config in tests/golden/hpcc, whose completion times can be computed by hand: 2500 bytes
# are packets of 1048, 1048 and 548 bytes, 83, 83 and 43 ns each; the last one arrives at the switch
# at 166 + 43 + 1000 ns, waits for the one before it until 1249, and is there at 1249 + 43 + 1000; the
# ACK of 60 bytes takes 2 x (4 + 1000) ns: 4300 ns. Then the same with one thing wrong.
# Not pinned: agreement with the simulator's own results (docs/models/hpcc-compat.md).
set -u
. tests/script.sh
start_forks
cd tests/cli/hpcc || exit 1
base=$PWD/../../golden/hpcc
count=0

fail() {
    echo "FAIL $1: $2"
    failures=$((failures + 1))
}

# fresh: a copy of the good inputs, in $work/in, as current folder
fresh() {
    rm -rf "$work/in" "$work/out"
    mkdir "$work/in"
    cp "$base"/*.txt "$work/in/"
    cd "$work/in" || exit 1
    count=$((count + 1))
}

# bad NAME FILE SED-COMMAND PLACE TEXT: with FILE edited, the run is refused at FILE:PLACE with TEXT
bad() {
    fresh
    sed -i "$3" "$2"
    rocesim hpcc config.txt -o "$work/out" >"$work/stdout" 2>"$work/err"
    local status=$?
    [ "$status" -eq 2 ] || fail "$1" "exit status $status, expected 2"
    [ ! -e "$work/out" ] || fail "$1" "wrote $(ls "$work/out")"
    [ ! -s "$work/stdout" ] || fail "$1" "printed on stdout"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$1" "not one line: $(cat "$work/err")"
    grep -qF -- "$2:$4: " "$work/err" || fail "$1" "not at $2:$4: $(cat "$work/err")"
    grep -qF -- "$5" "$work/err" || fail "$1" "does not say '$5': $(cat "$work/err")"
    grep -qE "expected|did you mean" "$work/err" || fail "$1" "expected what? $(cat "$work/err")"
}

# note NAME FILE SED-COMMAND TEXT: with FILE edited, it runs and says TEXT on stderr
note() {
    fresh
    sed -i "$3" "$2"
    rocesim hpcc config.txt -o "$work/out" >/dev/null 2>"$work/err" ||
        fail "$1" "exit status $?: $(cat "$work/err")"
    [ -z "$4" ] || grep -qF -- "$4" "$work/err" ||
        fail "$1" "does not say '$4': $(cat "$work/err")"
}

# -- outputs

fresh
rocesim hpcc config.txt -o "$work/out" >"$work/stdout" 2>"$work/err" || fail run "status $?"
[ ! -s "$work/err" ] || fail run "says $(cat "$work/err")"
[ "$(head -1 "$work/stdout")" = "maxRtt=4160 maxBdp=52000" ] || fail run "no maxRtt line"
for file in fct.txt packets.txt qlen.txt; do
    cmp "$base/expected/$file" "$work/out/$file" || fail run "$file differs"
done
[ -e "$work/out/pfc.txt" ] && [ ! -s "$work/out/pfc.txt" ] || fail run "pfc.txt is not empty"
grep -q "0b000001 0b000101 10000 100 2500 2000000000 4300 4371" "$work/out/fct.txt" ||
    fail run "not the computed completion time"
# The ideal time is that of the simulator's frames: an idle path takes exactly so long.
grep -q "^0,host0,host1,10000,2500,2000000000,2000004300,4300,4300,1.000000," "$work/out/flows.csv" ||
    fail run "another ideal: $(sed -n 2p "$work/out/flows.csv")"
for file in summary.json flows.csv scenario.yaml; do
    [ -s "$work/out/$file" ] || fail run "no $file"
done
# The scenario in the folder is the same run.
rocesim run "$work/out/scenario.yaml" --json >"$work/again" 2>/dev/null || fail again "status $?"
[ "$(grep digest "$work/again")" = "$(grep digest "$work/out/summary.json")" ] ||
    fail again "another digest"

# Without -o the files the config names, and no others.
fresh
rocesim hpcc config.txt --quiet >/dev/null || fail named "status $?"
for file in fct.txt packets.txt qlen.txt; do
    cmp "$base/expected/$file" "$file" || fail named "$file differs"
done
[ ! -e summary.json ] || fail named "wrote summary.json"
chmod 444 fct.txt
rocesim hpcc config.txt --quiet >/dev/null 2>"$work/err" && fail protected "replaced fct.txt"
grep -q "protected" "$work/err" || fail protected "$(cat "$work/err")"

# Inputs beside the config; our own models; attributes on top.
fresh
cd "$work" || exit 1
rocesim hpcc in/config.txt -o "$work/out" >/dev/null 2>"$work/err" || fail beside "status $?"
grep -qF "in/config.txt:4:15: topology.txt is not in the current folder" "$work/err" ||
    fail beside "$(cat "$work/err")"
cmp "$base/expected/fct.txt" "$work/out/fct.txt" || fail beside "fct.txt differs"
fresh
rocesim hpcc config.txt -o "$work/out" --set compat=off >/dev/null || fail compat "status $?"
cmp -s "$base/expected/fct.txt" "$work/out/fct.txt" && fail compat "off changes nothing"
fresh
rocesim hpcc config.txt -o "$work/out" --set link.delay=2us >/dev/null || fail set "status $?"
grep -q " 2500 2000000000 8300 " "$work/out/fct.txt" || fail set "$(cat "$work/out/fct.txt")"
fresh
rocesim hpcc config.txt --set compat=maybe >/dev/null 2>"$work/err"
[ $? -eq 2 ] || fail compat-value "accepted"

# Every algorithm; a link that goes down; decimal ids of ConWeave, whose flows have no port.
for mode in 3 7 8 10; do
    note "mode $mode" config.txt "s/CC_MODE 1/CC_MODE $mode/" ""
    [ "$(wc -l <"$work/out/fct.txt")" -eq 2 ] || fail "mode $mode" "not two flows"
done
fresh
sed -i 's/LINK_DOWN 0 0 0/LINK_DOWN 1000 0 2/' config.txt
rocesim hpcc config.txt -o "$work/out" >/dev/null 2>&1
[ "$(wc -l <"$work/out/fct.txt")" -eq 1 ] || fail down "the flow after 2.001 s completed"
fresh
echo "LB_MODE 0" >>config.txt
printf '1\n0 1 3 2500 2000000000ns\n' >flow.txt
rocesim hpcc config.txt -o "$work/out" >/dev/null || fail conweave "status $?"
[ "$(cat "$work/out/fct.txt")" = "0 1 10000 0 2500 2000000000 4300 4371" ] ||
    fail conweave "$(cat "$work/out/fct.txt")"
# SimAI's first line; what follows the last link is a comment.
fresh
printf '3 8 0 1 2 H100\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gb/s 1us 0\nnode a b\n' >topology.txt
rocesim hpcc config.txt -o "$work/out" >/dev/null || fail simai "status $?"
cmp "$base/expected/fct.txt" "$work/out/fct.txt" || fail simai "fct.txt differs"

# Two senders fill a small buffer: pauses of their NICs (type 0), interface 1, each released; the same
# moments as in packets.txt, where a paused host (0) is traced.
fresh
sed -i 's/ENABLE_QCN 1/ENABLE_QCN 0/; s/BUFFER_SIZE 32/BUFFER_SIZE 1/' config.txt
printf '4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n' >topology.txt
printf '2\n0 2 3 100 1000000 2\n1 2 3 100 1000000 2\n' >flow.txt
printf '1\n0\n' >trace.txt
rocesim hpcc config.txt -o "$work/out" >/dev/null || fail pauses "status $?"
pauses=$(grep -cE '^2000[0-9]{6} [01] 0 1 1$' "$work/out/pfc.txt")
releases=$(grep -cE '^2000[0-9]{6} [01] 0 1 0$' "$work/out/pfc.txt")
[ "$pauses" -ge 4 ] && [ "$pauses" -eq "$releases" ] || fail pauses "$pauses and $releases"
[ "$(wc -l <"$work/out/pfc.txt")" -eq $((pauses + releases)) ] || fail pauses "other lines"
diff <(grep -E '^[0-9]+ 0 ' "$work/out/pfc.txt" | cut -d' ' -f1) \
    <(grep ' n:0 1:0 0 Recv .* P ' "$work/out/packets.txt" | cut -d' ' -f1) ||
    fail pauses "packets.txt has others"
sort -n -c "$work/out/packets.txt" || fail pauses "packets.txt is not in order of time"
# The same without an order across nodes: through streams.
rocesim hpcc config.txt -o "$work/out2" --set ties=hash >/dev/null || fail pauses "status $?"
[ "$(wc -l <"$work/out2/pfc.txt")" -ge 8 ] || fail pauses "none with ties=hash"
sort -n -c "$work/out2/pfc.txt" || fail pauses "pfc.txt is not in order of time"
rm -rf "$work/out2"

# Marks by chance are in the trace as the packets leave, as in summary.json.
fresh
sed -i 's/KMIN_MAP 1 100000000000 400/KMIN_MAP 1 100000000000 4/' config.txt
printf '4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n' >topology.txt
printf '2\n0 2 3 100 1000000 2\n1 2 3 100 1000000 2\n' >flow.txt
printf '1\n3\n' >trace.txt
rocesim hpcc config.txt -o "$work/out" >/dev/null || fail marks "status $?"
marks=$(grep -c ' Dequ ecn:3 .* U ' "$work/out/packets.txt")
[ "$marks" -ge 5 ] || fail marks "$marks in packets.txt"
marks_all=$(grep -c ' Dequ ecn:3 ' "$work/out/packets.txt")
grep -q "^  \"ecn_marked\": $marks_all,$" "$work/out/summary.json" ||
    fail marks "$marks_all in packets.txt, $(grep '^  "ecn_marked' "$work/out/summary.json")"

# Losses: of all links by the config, of one link by the topology. Our own models repeat packets.
for edit in 's/RATE_PER_LINK 0.0000/RATE_PER_LINK 2e-2/ config.txt' 's/0.000000/0.02/ topology.txt'; do
    fresh
    sed -i "${edit% *}" "${edit##* }"
    sed -i 's/2500 2.0/2500000 2.0/' flow.txt
    rocesim hpcc config.txt -o "$work/out" --set compat=off >/dev/null || fail loss "status $?"
    grep -qE '"retransmitted_packets": [1-9]' "$work/out/summary.json" || fail loss "none with $edit"
    [ "$(wc -l <"$work/out/fct.txt")" -eq 2 ] || fail loss "not two flows with $edit"
done

# -- notes

note "unknown keys" config.txt '1i FOO_BAR 3' "config.txt:1:1: unknown keys"
note "near key" config.txt 's/^RP_TIMER 300/RP_TIMER 300\nRPTIMER 3/' "did you mean RP_TIMER?"
note "go-back-0" config.txt 's/L2_BACK_TO_ZERO 0/L2_BACK_TO_ZERO 1/' "meaning reversed"
note "ack interval" config.txt \
    's/L2_ACK_INTERVAL 1/L2_ACK_INTERVAL 5/; s/L2_CHUNK_SIZE .*/L2_CHUNK_SIZE 1/' \
    "first bytes of a flow"
note "no window" config.txt 's/CC_MODE 1/CC_MODE 3/; s/HAS_WIN 1/HAS_WIN 0/' "by a window of 0"
note "static threshold" config.txt 's/PFC_THRESHOLD 1/PFC_THRESHOLD 0/' "always dynamic"
note "more links" topology.txt '$a 0 1 100Gbps 1us 0' "topology.txt:5:1: 1 more link than the 2"
note "more flows" flow.txt '$a 0 1 3 100 5 3' "flow.txt:4:1: more follows the 2 flows"
note "order" flow.txt 's/2.000000000/2.5/' "flow.txt:3:13: flows are not in order"
note "no trace file" config.txt 's/TRACE_FILE trace.txt/TRACE_FILE none.txt/' "there is no none.txt"
note "no delay" topology.txt 's/1000ns/0ns/' "topology.txt:3:13: a link without delay"

# nothing marks: the parameters of DCQCN and DCTCP are not needed
for mode in 1 8; do
    note "no marks, mode $mode" config.txt "s/^ENABLE_QCN 1/ENABLE_QCN 0/; s/CC_MODE 1/CC_MODE $mode/
        /^RP_TIMER/d; /^EWMA_GAIN/d; /^RATE_H*AI/d; /^K[A-Z]*_MAP/d; /^PMAX_MAP/d" ""
done
note "no control" config.txt 's/CC_MODE 1/CC_MODE 12/' ""
grep -qx ' *congestion-control: none' "$work/out/scenario.yaml" || fail "no control" "another control"
note "irn" config.txt '$s/$/\nENABLE_IRN 1/' ""
grep -qx ' *transport: irn' "$work/out/scenario.yaml" || fail "irn" "another transport"

# --set stands over a value that is refused, and over one that is missing
stands() {
    fresh
    sed -i "$2" config.txt
    shift 2
    "$ROCESIM" hpcc config.txt -o "$work/out" "$@" >/dev/null 2>"$work/err" ||
        fail "--set $*" "$(cat "$work/err")"
}
stands buffer 's/^BUFFER_SIZE .*/BUFFER_SIZE 0.5/' --set switch.buffer=512KiB
stands timer 's/^RP_TIMER .*/RP_TIMER soon/' --set nic.dcqcn-hpcc.increase-period=300us
stands "no timer" '/^RP_TIMER/d' --set nic.dcqcn-hpcc.increase-period=300us
stands table 's/^KMIN_MAP .*/KMIN_MAP 1 100000000000 100.5/' \
    --set 'switch.ecn.profiles=[100Gbps 100KB 400KB 0.2]'
stands "no table" '/^K[A-Z]*_MAP/d' --set 'switch.ecn.profiles=[100Gbps 100KB 400KB 0.2]'
stands mode 's/^CC_MODE 1/CC_MODE 5/' --set nic.congestion-control=swift
fresh
sed -i 's/^BUFFER_SIZE .*/BUFFER_SIZE 0.5/' config.txt
"$ROCESIM" hpcc config.txt -o "$work/out" --set nic.mtu=1024 >/dev/null 2>"$work/err" &&
    fail "another --set" "a refused value was run"
grep -qF "config.txt:44:13: '0.5'" "$work/err" || fail "another --set" "$(cat "$work/err")"

# -- wrong configs

bad "flag" config.txt 's/ENABLE_QCN 1/ENABLE_QCN yes/' 1:12 "'yes' is not a value of ENABLE_QCN"
bad "negative" config.txt 's/RP_TIMER 300/RP_TIMER -3/' 15:10 "'-3'"
bad "rate" config.txt 's/20Mb\/s/20Mbit/' 18:9 "'20Mbit' is not a value of RATE_AI"
bad "fraction" config.txt 's/BUFFER_SIZE 32/BUFFER_SIZE 1.5/' 44:13 "whole number"
bad "mode" config.txt 's/CC_MODE 1/CC_MODE 5/' 11:9 "CC_MODE 5, expected 1 (DCQCN)"
bad "mode in letters" config.txt 's/CC_MODE 1/CC_MODE abc/' 11:9 \
    "'abc' is not a value of CC_MODE, expected 1 (DCQCN)"
bad "flag of letters" config.txt 's/ENABLE_TRACE 1/ENABLE_TRACE on/' 40:14 "expected 0 or 1"
bad "no rate" config.txt 's/^KMIN_MAP .*/KMIN_MAP 1 25000000000 100/' 42:10 "KMIN_MAP has no row"
bad "kmin" config.txt 's/1600$/300/' 42:25 "expected at most its KMAX_MAP"
bad "pmax" config.txt 's/0.20$/1.2/' 43:25 "'1.2' is not a probability"
bad "short table" config.txt 's/^KMAX_MAP 1/KMAX_MAP 2/' 42:1 "'KMIN_MAP'"
bad "no topology" config.txt '/^TOPOLOGY_FILE/d' 1:1 "no TOPOLOGY_FILE"
bad "no timer" config.txt '/^RP_TIMER/d' 1:1 "no RP_TIMER"
bad "no rate, no marks" config.txt '/^RATE_AI/d; s/^CC_MODE 1/CC_MODE 3/; s/^ENABLE_QCN 1/ENABLE_QCN 0/' 1:1 \
    "no RATE_AI"
bad "no such file" config.txt 's/FLOW_FILE flow/FLOW_FILE flows/' 5:11 "flows.txt cannot be read"
bad "no such link" config.txt 's/LINK_DOWN 0 0 0/LINK_DOWN 5 0 1/' 39:11 "no link joins 0 and 1"
bad "payload" config.txt 's/PAYLOAD_SIZE 1000/PAYLOAD_SIZE 9217/' 3:21 "nic.mtu"
bad "stop" config.txt 's/4.00/1e40/' 10:21 "'1e40'"
bad "ends" config.txt '$s/QLEN_MON_END .*/QLEN_MON_END/' 48:1 "the file ends here"

# -- wrong topologies

bad "count" topology.txt '1s/3/three/' 1:1 "'three' is not the number of nodes"
bad "switches" topology.txt '1s/3 1 2/3 4 2/' 1:5 "4 switches of 3 nodes"
bad "switch id" topology.txt '2s/2/7/' 2:1 "'7' is not the id of a switch"
bad "switch twice" topology.txt '1s/3 1 2/4 2 2/;2s/2/2 2/' 2:3 "switch 2 is listed before"
bad "more ids" topology.txt '2s/2/2 1/' 2:3 "more words on the line of switch ids"
bad "node" topology.txt '3s/^0 2/9 2/' 3:1 "'9' is not a node of a link"
bad "loop" topology.txt '3s/^0 2/2 2/' 3:3 "from node 2 to itself"
bad "link rate" topology.txt '3s/100Gbps/fast/' 3:5 "'fast' is not the rate of a link"
bad "no rate at all" topology.txt '3s/100Gbps/0/' 3:5 "the rate of a link"
bad "delay" topology.txt '3s/1000ns/-1ns/' 3:13 "'-1ns' is not the delay of a link"
bad "long delay" topology.txt '3s/1000ns/2s/' 3:13 "1ps to 1s"
bad "error rate" topology.txt '3s/0.000000/2/' 3:20 "'2' is not an error rate"
bad "fewer links" topology.txt '1s/3 1 2/3 1 3/' 5:1 "the file ends after 2 links, expected 3"
bad "lonely host" topology.txt '1s/3 1 2/4 1 2/' 5:1 "node 3 is a host that no link joins"
bad "empty" topology.txt 'd' 1:1 "the file ends here, expected the number of nodes"

# -- wrong flows

bad "flow count" flow.txt '1s/2/x/' 1:1 "'x' is not the number of flows"
bad "fewer flows" flow.txt '1s/2/3/' 4:1 "the file ends after 2 flows, expected 3"
bad "no such host" flow.txt '2s/0 1/0 2/' 2:3 "the network has no host host2"
bad "no such source" flow.txt '2s/0 1/2 1/' 2:1 "the network has no host host2"
bad "to itself" flow.txt '2s/0 1/0 0/' 2:3 "from host 0 to itself"
bad "group" flow.txt '2s/1 3/1 8/' 2:5 "'8' is not the priority group"
bad "port" flow.txt '2s/100/70000/' 2:7 "'70000' is not the destination port"
bad "bytes" flow.txt '2s/2500/0/' 2:11 "'0' is not the bytes of a flow"
bad "start" flow.txt '2s/2.000000000/soon/' 2:16 "'soon' is not a start"
bad "late" flow.txt '2s/2.000000000/20000/' 2:16 "later than 10000 s"
bad "short row" flow.txt '3s/ 2.3//' 3:1 "a flow of 5 words after flows of 6 words"

# -- wrong trace files

bad "traced" trace.txt '1s/1/x/' 1:1 "'x' is not the number of traced nodes"
bad "traced node" trace.txt '2s/2/-3/' 2:1 "'-3' is not the id of a node"
bad "traced few" trace.txt '1s/1/2/' 3:1 "the file ends here"

# -- files of next hops: two leaves (4, 5), two spines (6, 7), flows from host 0 to hosts 2 and 3

routed() {
    fresh
    printf '8 4 8\n4 5 6 7\n' >topology.txt
    for link in '0 4' '1 4' '2 5' '3 5' '4 6' '4 7' '5 6' '5 7'; do
        echo "$link 100Gbps 1000ns 0" >>topology.txt
    done
    { echo 40; for i in {1..40}; do echo "0 $((2 + i % 2)) 3 100 1000 2.0"; done; } >flow.txt
    printf '4 2 1 7:4\n4 3 2 6:3 7:4\n' >routes.txt
}
# spine SPINE: data packets over it, towards leaf 5
spine() { awk -F, -v port="switch$1->switch5" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
    $c["port"] == port { print $c["tx_packets"] }' "$work/out/ports.csv"; }
routed
rocesim hpcc config.txt -o "$work/out" --routes routes.txt >/dev/null || fail routes "status $?"
# 20 flows to host 2 go over 7, those to host 3 over both.
[ "$(spine 6)" -lt 20 ] && [ "$(spine 6)" -gt 0 ] && [ "$(spine 7)" -gt 20 ] &&
    [ $(($(spine 6) + $(spine 7))) -eq 40 ] || fail routes "$(spine 6) and $(spine 7) packets"
rocesim run "$work/out/scenario.yaml" --json 2>/dev/null | grep digest >"$work/again"
[ "$(cat "$work/again")" = "$(grep digest "$work/out/summary.json")" ] || fail routes "again differs"
# The scenario key; routes of all flows over one spine.
routed
printf '4 3 1 6:3 4 2 1 6:3' >routes.txt
printf 'topology: {file: {path: topology.txt, routes: routes.txt}}\n' >s.yaml
printf 'traffic:\n  - flows: {file: flow.txt}\n' >>s.yaml
rocesim run s.yaml -o "$work/out" >/dev/null || fail "routes in a scenario" "status $?"
[ "$(spine 6)" -eq 40 ] && [ "$(spine 7)" -eq 0 ] || fail "routes in a scenario" "$(spine 6), $(spine 7)"
# wrong_routes ROWS PLACE TEXT
wrong_routes() {
    routed
    printf "$1" >routes.txt
    rocesim hpcc config.txt -o "$work/out" --routes routes.txt >/dev/null 2>"$work/err"
    [ $? -eq 2 ] || fail "routes $1" "not refused"
    [ ! -e "$work/out" ] || fail "routes $1" "wrote something"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "routes $1" "many lines: $(cat "$work/err")"
    grep -qF -- "$2: $3" "$work/err" || fail "routes $1" "does not say '$3': $(cat "$work/err")"
}
wrong_routes '4 2 1 7:3\n' routes.txt:1:7 "interface 3 of node 4 leads to node 6"
wrong_routes '4 2 1 7:4\n4 2 1 6:3\n' routes.txt:2:1 "the route of node 4 to host 2 stands in line 1"
wrong_routes '7 2 1 4:1\n' "--routes routes.txt" "topology: routes towards host2 go in a circle: by switch4"
rm routes.txt
rocesim hpcc config.txt --routes routes.txt >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q "topology.file.routes: .*routes.txt" "$work/err" ||
    fail "no routes" "$(cat "$work/err")"

# -- the files in scenarios, and htsim's

# refused NAME TEXT: s.yaml is, with TEXT
refused() {
    rm -rf "$work/out"
    rocesim run s.yaml -o "$work/out" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] || fail "$1" "not refused"
    [ ! -e "$work/out" ] || fail "$1" "wrote something"
    grep -qF -- "$2" "$work/err" || fail "$1" "does not say '$2': $(cat "$work/err")"
}

tree='Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2
Downlink_Latency_ns 1000\nTier 1\ndownlink_speed_gbps 100\nRadix_Up 2\nRadix_Down 2
Downlink_Latency_ns 1000\nSwitch_Latency_ns 500\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4
Downlink_Latency_ns 1000\n'
matrix='# two\nNodes 16\nConnections 2\n0->15 id 1 start 0 size 1000000\n3->2 start 2000000.0 size 64\n'
htsim() {
    fresh
    printf "$tree" >a.topo
    printf "$matrix" >a.cm
    printf 'topology: {file: a.topo}\ntraffic:\n  - flows: {file: a.cm}\n' >s.yaml
}
htsim
rocesim run s.yaml -o "$work/out" >/dev/null 2>"$work/err" || fail htsim "$(cat "$work/err")"
[ "$(grep -c ",host" "$work/out/flows.csv")" -eq 2 ] || fail htsim "not two flows"
grep -q '"links": 48' "$work/out/summary.json" || fail htsim "not 48 links"
rocesim run "$work/out/scenario.yaml" --json 2>/dev/null | grep digest >"$work/again"
[ "$(cat "$work/again")" = "$(grep digest "$work/out/summary.json")" ] || fail htsim "again differs"
fresh
printf 'topology: {file: topology.txt}\ntraffic:\n  - flows: {file: flow.txt}\n' >s.yaml
rocesim run s.yaml -o "$work/out" >/dev/null || fail scenario "status $?"
[ "$(grep -c "host0,host1" "$work/out/flows.csv")" -eq 2 ] || fail scenario "not two flows"
rocesim check s.yaml >/dev/null || fail scenario "check refuses it"
sed -i 's/topology.txt/none.txt/' s.yaml
refused "no file" "s.yaml:1:18: topology.file.path: "
sed -i 's/{file: none.txt}/{file: {format: hpcc}}/' s.yaml
refused "no path" "topology.file: path: none is given"

# topo SED PLACE TEXT and cm SED PLACE TEXT: one thing wrong in a.topo, a.cm
topo() {
    htsim
    sed -i "$1" a.topo
    refused "topo $1" "a.topo:$2: "
    refused "topo $1" "$3"
}
cm() {
    htsim
    sed -i "$1" a.cm
    refused "cm $1" "a.cm:$2: "
    refused "cm $1" "$3"
}
topo '/Nodes/d' 18:1 "no Nodes"
topo 's/Tiers 3/Tiers 4/' 2:7 "expected 2 or 3"
topo 's/Podsize 4/Podsize 5/' 3:9 "expected a divisor of Nodes"
topo '5s/100/fast/' 5:21 "'fast' is not Downlink_speed_Gbps"
topo '6s/.*/Radix_Upp 2/' 6:1 "did you mean 'Radix_Up'?"
topo '7s/2/3/' 7:12 "expected a divisor of Podsize"
topo '12s/2/4/' 12:12 "tier 1: expected Bundle x Podsize"
topo '17s/4/5/' 17:12 "tier 2: expected Bundle x Nodes / Podsize"
topo '4d' 4:1 "before any tier"
topo '4s/0/3/' 4:6 "tier 3, expected 0, 1 or 2"
topo '8d' 18:1 "no Downlink_Latency_ns of tier 0"
cm '3s/2/3/' 3:13 "3 connections are declared and 2 are listed"
cm '4s/15/16/' 4:4 "'16' is not the destination"
cm '4s/0->15/1->1/' 4:4 "from node 1 to itself"
cm '4s/ size 1000000//' 4:1 "a connection without size"
cm '4s/start 0/trigger 3/' 4:20 "there is no trigger 3"
cm '4s/start 0/trigger/' 4:20 "'size' is not the id of a trigger"
cm '4s/start 0/trigger 1 start 0/;$a trigger id 1 oneshot' 4:1 "a connection with start and trigger"
cm '4s/start 0//' 4:1 "a connection without start and trigger"
cm '$a trigger id 1 twoshot' 6:14 "'twoshot' in a trigger, expected"
cm '$a trigger id 1' 6:1 "a trigger without a kind"
cm '$a trigger id 1 barrier' 6:1 "a trigger without count"
cm '$a trigger oneshot' 6:1 "a trigger without id"
cm '$a trigger id 1 oneshot\ntrigger id 1 multishot' 7:1 "trigger 1 is already declared in line 6"
cm '3s/$/\nTriggers 2/;$a trigger id 1 oneshot' 4:10 "2 triggers are declared and 1 are listed"
cm '4,5s/$/ send_done_trigger 1/;$a trigger id 1 oneshot' 6:1 "2 connections activate trigger 1"
cm '4,5s/start [0-9.]*/trigger 1/;$a trigger id 1 oneshot' 4:1 "all connections wait for triggers"
cm '4s/$/ send_done_trigger 1/;5s/start [0-9.]*/trigger 1/;$a trigger id 1 oneshot' 4:1 \
    "trigger 1 starts connections of host 3 and has to do with 0->15, expected"
cm '3s/2/4/;4s/$/ send_done_trigger 1/;5s/$/\n1->2 trigger 1 size 9\n0->2 trigger 1 size 9/
    $a trigger id 1 oneshot' \
    7:1 "trigger 1 starts connections of host 1"
cm '4s/id 1/rate 1/' 4:7 "unknown word 'rate'"
cm '5a failure switch_type AGG switch_id 0 link_id 1' 6:1 "links: {agg0--core1"
cm '4s/start 0/start x/' 4:18 "'x' is not a start"
cm '2s/Nodes 16/Nodes 20/;4s/15/18/' 2:7 "the file has 20 nodes and the network 16 hosts"

# Triggers: when the sender of 0->1 is done, 0->2; when its receiver is, 1->3; when 1->3 and 2->3 have
# arrived, 3->0 and 3->1; when each of those is done, one of 3->2.
fresh
cat >chain.cm <<'END'
Nodes 4
Connections 8
Triggers 4
0->1 id 1 start 1000000 size 100000 send_done_trigger 1 recv_done_trigger 2
0->2 id 2 trigger 1 size 1000
1->3 id 3 trigger 2 size 200000 recv_done_trigger 3
2->3 id 4 start 0 size 50000 recv_done_trigger 3
3->0 id 5 trigger 3 size 5000 send_done_trigger 9
3->1 id 6 trigger 3 size 500000 send_done_trigger 9
3->2 id 7 trigger 9 size 64
3->2 id 8 trigger 9 size 65
trigger id 9 multishot
trigger id 1 oneshot
trigger id 2 oneshot
trigger id 3 barrier count 2
END
printf 'topology: {star: {hosts: 4}}\ntraffic: [{flows: {file: chain.cm}}]\n' >s.yaml
for threads in 1 3; do
    rm -rf "$work/out"
    rocesim run s.yaml -o "$work/out" --threads $threads >/dev/null 2>"$work/err" ||
        fail triggers "status $?: $(cat "$work/err")"
    # The end at the sender is that at the receiver and the way of an ACK: twice 74 bytes at 80 ps and
    # 1 us. The link that 1->3 and 3->... share with nothing else makes 2->3 the first to arrive.
    awk -F, 'NR > 1 { start[$5] = $6; end[$5] = $7 }
        function at(bytes, ns) {
            if (start[bytes] == "" || start[bytes] - ns > 0.001 || ns - start[bytes] > 0.001) {
                printf "%s bytes start at %s, expected %.3f\n", bytes, start[bytes], ns
            }
        }
        END {
            ack = 2 * (74 * 0.08 + 1000)
            at(50000, 0); at(100000, 1000)
            at(1000, end[100000]); at(200000, end[100000] - ack)
            at(5000, end[200000] - ack); at(500000, end[200000] - ack)
            at(64, end[5000]); at(65, end[500000])
        }' "$work/out/flows.csv" >"$work/wrong"
    [ ! -s "$work/wrong" ] || fail "triggers, $threads threads" "$(cat "$work/wrong")"
done
# One that nothing activates: its connections never start, which is said.
sed -i 's/ send_done_trigger 1 / /' chain.cm
rocesim run s.yaml -o "$work/out" >"$work/stdout" 2>"$work/err" || fail "no activation" "status $?"
grep -q 'chain.cm:13:1: 0 connections activate trigger 1, which needs 1: its connections never' \
    "$work/err" || fail "no activation" "$(cat "$work/err")"
grep -q '7 of 8 completed; 1 starts at or after the end' "$work/stdout" ||
    fail "no activation" "$(grep flows "$work/stdout")"
grep -q ',host0,host2,[0-9]*,1000,,,,' "$work/out/flows.csv" || fail "no activation" "it has times"
# A ring: the sender of each hop activates what its receiver sends on; with triggers: data, that is
# when the receiver has it all.
printf 'Nodes 3\nConnections 3\nTriggers 2\n' >ring.cm
printf '0->1 id 1 start 0 size 50000 send_done_trigger 1\n' >>ring.cm
printf '1->2 id 2 trigger 1 size 50001 send_done_trigger 2\n' >>ring.cm
printf '2->0 id 3 trigger 2 size 50002\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n' >>ring.cm
sed 's/chain/ring/' s.yaml >ring.yaml
rocesim run ring.yaml -o "$work/out" --set 'traffic[0].flows.triggers=data' \
    >/dev/null 2>"$work/err" || fail ring "status $?"
grep -q '^note: ring.cm:4:1: one end of a connection activates a trigger of the other end.s host' \
    "$work/err" || fail ring "$(cat "$work/err")"
awk -F, 'NR > 1 { at[$5] = $6; end[$5] = $7 }
    END { ack = 2 * (74 * 0.08 + 1000)
        for (i = 50001; i <= 50002; i++) {
            off = at[i] - (end[i - 1] - ack)
            if (at[i] == "" || off > 0.001 || off < -0.001) { print i " bytes start at " at[i] }
        } }' "$work/out/flows.csv" >"$work/wrong"
[ ! -s "$work/wrong" ] || fail ring "$(cat "$work/wrong")"
# By default a hop begins when the sender of the one before has its ACK.
rocesim run ring.yaml -o "$work/out" >/dev/null 2>"$work/err" || fail ring "status $?"
! grep -q 'one end of a connection' "$work/err" || fail ring "$(cat "$work/err")"
awk -F, 'NR > 1 { at[$5] = $6; end[$5] = $7 }
    END { for (i = 50001; i <= 50002; i++) {
            if (at[i] == "" || at[i] != end[i - 1]) { print i " bytes start at " at[i] }
        } }' "$work/out/flows.csv" >"$work/wrong"
[ ! -s "$work/wrong" ] || fail "ring, acknowledged" "$(cat "$work/wrong")"
sed -i 's/file: chain.cm/file: chain.cm, verb: read/' s.yaml
refused "read with triggers" "verb: read cannot be used with the triggers of chain.cm"

# -- without PFC the size of the buffer decides what is dropped
fresh
{
    echo '10 1 9'
    echo 9
    for host in 0 1 2 3 4 5 6 7 8; do echo "$host 9 100Gbps 1000ns 0"; done
} >topology.txt
{
    echo 8
    for host in 1 2 3 4 5 6 7 8; do echo "$host 0 3 100 1000000 2"; done
} >flow.txt
sed -i 's/^CC_MODE .*/CC_MODE 1/; s/^HAS_WIN .*/HAS_WIN 0/; /^ENABLE_PFC/d; /^TRACE_FILE/d' config.txt
sed -i 's/^KMIN_MAP .*/KMIN_MAP 1 100000000000 100000/' config.txt
sed -i 's/^KMAX_MAP .*/KMAX_MAP 1 100000000000 100001/' config.txt
for pfc in 0 1; do
    for size in 1 9 32; do
        sed "s/^BUFFER_SIZE .*/BUFFER_SIZE $size/" config.txt >sized.txt
        echo "ENABLE_PFC $pfc" >>sized.txt
        # A lost last packet is never sent again: there is no retransmission timer.
        rocesim hpcc sized.txt -o "$work/out" >/dev/null 2>"$work/err" ||
            grep -q '^stalled: ' "$work/err" || fail "PFC $pfc, buffer $size" "$(head -n 3 "$work/err")"
        dropped=$(awk '/"dropped"/ { print $2 + 0; exit }' "$work/out/summary.json")
        echo "PFC $pfc, buffer $size: $dropped dropped"
        case $pfc-$size in
        0-1 | 0-9) [ "${dropped:-0}" -gt 0 ] || fail "PFC $pfc, buffer $size" "no drops" ;;
        *) [ "${dropped:-1}" -eq 0 ] || fail "PFC $pfc, buffer $size" "$dropped drops" ;;
        esac
        cp "$work/out/summary.json" "$work/pfc-$pfc-$size"
    done
done
cmp -s "$work/pfc-0-1" "$work/pfc-0-9" && fail "no PFC" "buffers of 1 and 9 give one run"

echo "$count inputs, $failures failures"
[ "$count" -ge 80 ] && [ "$failures" -eq 0 ]
