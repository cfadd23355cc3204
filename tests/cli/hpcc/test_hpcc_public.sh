#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_hpcc_public.sh - files as people publish them run, or are refused by their name.
#
# Goal: HPCC's trace file with nodes that the topology lacks, a stop time that means never, payloads in
# jumbo frames, topology and flows as options, keys of other simulators, endless connections of htsim,
# steps in distributions, headers of ns3-datacenter; files that list no flows are told what they are.
# Method: small files in each format; counts and notes.
# Not pinned: how well results agree with the other simulators (test_hpcc_agreement.sh).
set -u
. tests/script.sh
source=$PWD
. tests/cli/hpcc/small_config.sh

printf '2\n0 2 3 100 100000 2.0\n1 2 3 100 100000 2.0\n' >flow.txt
echo 0 >trace.txt
config 'PACKET_PAYLOAD_SIZE 1000' 'TRACE_FILE trace.txt' 'FCT_OUTPUT_FILE fct.txt' 'PFC_OUTPUT_FILE pfc.txt'

# runs WHAT TEXT ARGUMENT...: the config runs to its end, with that text on the standard error.
runs() {
    local what=$1 text=$2
    shift 2
    "$program" hpcc "$@" --quiet >out 2>err || fail "$what: $(cat err)"
    grep -q "2 of 2 completed" out || fail "$what: $(head -n 5 out)"
    [ -z "$text" ] || grep -qF -- "$text" err || fail "$what: no note '$text': $(cat err)"
}

printf '3\n0 1 348\n' >traced.txt
sed 's/trace.txt/traced.txt/' config.txt >c.txt
runs "a traced node that is none" \
    "traced.txt:2:5: node 348 is not traced: the topology has the nodes 0 to 3" c.txt
printf '2\n0 -7\n' >traced.txt
"$program" hpcc c.txt >/dev/null 2>err && fail "a node -7 is traced"
sed 's/TIME 4.00/TIME 40000000000000.00/' config.txt >c.txt
runs "a stop time that means never" "a stop after 40000000000000.00 s is never" c.txt
sed 's/SIZE 1000/SIZE 9000/' config.txt >c.txt
runs "jumbo payloads" "a payload of 9000 bytes is in jumbo frames" c.txt
# 100,000 bytes are 12 packets of up to 9000 bytes, each with an ACK, over two links and for two flows.
"$program" hpcc c.txt --quiet -o jumbo >/dev/null 2>&1 || fail "jumbo frames"
hops=$(sed -n 's/^  "packet_hops": \([0-9]*\),/\1/p' jumbo/summary.json)
[ "$hops" = 96 ] || fail "$hops packet-hops of jumbo frames, expected 96"
sed 's/SIZE 1000/SIZE 9217/' config.txt >c.txt
"$program" hpcc c.txt >/dev/null 2>err && fail "a payload of 9217 bytes"
grep -q "9217 is out of range" err || fail "a payload of 9217 bytes: $(cat err)"

# The page of keys has all those that rocesim knows of other simulators.
sed -n 's/^    {"\([^"]*\)", "\(SimAI\|ConWeave\|ns3-rdma\)", "\([^"]*\)"},$/| \1 | \2 | \3 |/p' \
    "$source/cli/hpcc/load.c" | sed 's/\*/\\*/' >rows
[ "$(wc -l <rows)" -gt 30 ] || fail "$(wc -l <rows) keys of other simulators in cli/hpcc/load.c"
while IFS= read -r row; do
    grep -qxF -- "$row" "$source/docs/formats/hpcc.md" || fail "docs/formats/hpcc.md has no row $row"
done <rows
printf 'KMAX 40\nVOQ_MON_FILE x\nKMAXMAP 3\n' | cat config.txt - >c.txt
runs "keys of other simulators" "KMAX (ns3-rdma: it is the upper threshold of marking" c.txt
grep -q 'VOQ_MON_FILE (ConWeave: it is an output file)' err &&
    grep -q 'KMAXMAP (did you mean KMAX_MAP?)' err || fail "unknown keys: $(cat err)"

# SimAI's topology has two GPUs a server, NVSwitches of 2880 Gbps and a switch. Its tables of marking have no
# rows for NVLink, which is exempt from congestion control.
printf '7 2 2 1 8 H100\n4 5 6\n' >nvlink.txt
for gpu in 0 1 2 3; do
    printf '%s %s 2880Gbps 25ns 0\n%s 6 100Gbps 1us 0\n' "$gpu" $((4 + gpu / 2)) "$gpu"
done >>nvlink.txt
printf '2\n0 1 3 100 100000 2\n0 2 3 100 100000 2\n' >nvflow.txt
runs "NVLink without rows of marking" "" config.txt --topology nvlink.txt --flows nvflow.txt
"$program" hpcc config.txt --topology nvlink.txt --flows nvflow.txt --quiet -o nvlink >/dev/null 2>&1
awk -F, '$3 ~ /^host1/ && $8 < 1500 || $3 ~ /^host2/ && $8 > 9000 { n++ } END { exit n != 2 }' \
    nvlink/flows.csv || fail "NVLink and the network: $(cat nvlink/flows.csv)"
grep -A3 '^  switch4:' nvlink/scenario.yaml | grep -q 'enabled: false' || fail "an NVSwitch marks"

grep -v '^TOPOLOGY_FILE\|^FLOW_FILE' config.txt >bare.txt
"$program" hpcc bare.txt >/dev/null 2>err && fail "a config without topology"
grep -q "no TOPOLOGY_FILE, expected the name of a file, here or as --topology FILE" err ||
    fail "$(cat err)"
runs "--topology and --flows" "" bare.txt --topology topo.txt --flows flow.txt
runs "--set for both" "" bare.txt --set topology.file.path=topo.txt \
    --set 'traffic[0].flows.file=flow.txt'
# An option counts more than the config, for everything that depends on the topology.
sed 's/100Gbps/40Gbps/' topo.txt >slow.txt
"$program" hpcc config.txt --topology slow.txt >/dev/null 2>err
grep -q "KMIN_MAP has no row for ports of 40000000000 bit/s" err ||
    fail "--topology over the config: $(cat err)"

{
    cat config.txt
    printf 'CONWEAVE_TX_EXPIRY_TIME 300\nns3::RdmaHw::Mtu 1000\nBUFFER_SICE 32\n'
} >c.txt
runs "keys of others" "CONWEAVE_TX_EXPIRY_TIME (ConWeave: it is a parameter of its load balancer)" c.txt
runs "keys of nobody" \
    "as HPCC's, SimAI's and ConWeave's simulators do: BUFFER_SICE (did you mean BUFFER_SIZE?)" c.txt

# -- files given to scenarios

cat >base.yaml <<'END'
topology: {star: {hosts: 4, rate: 100Gbps}}
until: 1ms
traffic: [flows: {file: endless.cm}]
END
printf 'Nodes 4\nConnections 2\n0->1 id 1 start 0 size 0\n2->3 id 2 start 0 size 1000000\n' >endless.cm
"$program" run base.yaml --quiet >out 2>err || fail "endless.cm: $(cat err)"
grep -q "size 0 is a flow without end" err || fail "endless.cm: no note"
grep -q "the time limit at 1.000 ms" out && grep -q "1 of 2 completed" out ||
    fail "endless.cm: $(head -n 5 out)"

for header in '5 1 1 4' '5 1 1 4 100000000000 400000000000'; do
    printf '%s\n4\n' "$header" >dc.txt
    printf '%s 4 100Gbps 1us 0\n' 0 1 2 3 >>dc.txt
    "$program" run base.yaml --quiet --set 'topology={file: dc.txt}' >out 2>err ||
        fail "header $header: $(cat err)"
    grep -q "4 hosts, 1 switch, 4 links" out || fail "header $header: $(head -n 3 out)"
done

# is FILE TEXT: given to flows, it is refused by what it is.
is() {
    "$program" run base.yaml --set "traffic[0].flows.file=$1" >/dev/null 2>err
    [ $? -eq 2 ] && grep -q "^$1:.*$2" err || fail "$1 is not told to be '$2': $(cat err)"
}
printf '1\n0 2 3 10000000 2 9\n' >rdma.txt
is rdma.txt "a flow file of ns3-rdma (source destination group packets start stop)"
printf '1\n0 2 3 100 2.0 9.0\n' >rdma.txt
is rdma.txt "a flow file of ns3-rdma"
printf 'num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 0\n}\n' >goal.txt
is goal.txt "a GOAL file"
printf 'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1\n1\n%s\n' \
    'layer -1 100 ALLREDUCE 100 100 NONE 0 1 NONE 0 1' >workload.txt
is workload.txt "a workload of SimAI or ASTRA-sim"
printf '\x09\x0a\x050.0.4\x18\x00\x00' >chakra.et
is chakra.et "a Chakra trace"
echo '{"schema": "1.0.2-chakra.0.0.4", "nodes": []}' >chakra.json
is chakra.json "a Chakra trace"
echo '{"timestamp": 0, "input_length": 10, "hash_ids": [1]}' >trace.jsonl
is trace.jsonl "which traffic of kinds mooncake-trace and serving reads"
is config.txt "a configuration of HPCC's simulator, which .rocesim hpcc. runs"

# Steps: 15 % of the sizes are exactly 10 bytes, 45 % exactly 70.
printf '0 0\n10 0\n10 15\n70 15\n70 60\n1000 100\n' >cdf.txt
"$program" run base.yaml --quiet -o steps --until 20ms \
    --set 'traffic=[{poisson: {load: 0.2, sizes: cdf.txt, stop: 20us}}]' >/dev/null 2>err ||
    fail "steps: $(cat err)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR > 1 { n++; small += $at["bytes"] == 10; middle += $at["bytes"] == 70 }
    END { exit !(n > 500 && small / n > 0.11 && small / n < 0.19 &&
                 middle / n > 0.39 && middle / n < 0.51) }' \
    steps/flows.csv || fail "the shares of steps: $(wc -l <steps/flows.csv) rows"

# Frames of the standard have its MTUs.
"$program" run base.yaml --quiet --set nic.mtu=9000 >/dev/null 2>err && fail "nic.mtu 9000 in standard frames"
exit $((failures > 0))
