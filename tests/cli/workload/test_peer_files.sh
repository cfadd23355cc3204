#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/workload/test_peer_files.sh - files of other programs, as people bring them.
#
# Goal: `rocesim check FILE` describes or names each kind; what the owner of a format refuses is refused with
# its place; units, words and elements that real files have are read; hosts with links to each other exchange
# messages. Method: small files written here, in the form of public ones. Not pinned: wording beyond names.
set -u
. tests/script.sh
start_forks

# refused PLACE TEXT COMMAND...: status 2, one line that begins with PLACE and says TEXT
refused() {
    rocesim "${@:3}" >"$work/said" 2>&1
    [ $? = 2 ] && [ "$(wc -l <"$work/said")" = 1 ] && grep -q -- "^$work/$1" "$work/said" &&
        grep -qE -- "$2" "$work/said" || fail "${*:3} said: $(cat "$work/said"), expected $1 $2"
}

# passes TEXT COMMAND...: status 0, and says TEXT
passes() {
    rocesim "${@:2}" >"$work/said" 2>&1 && grep -qF -- "$1" "$work/said" ||
        fail "${*:2} said: $(cat "$work/said")"
}

# named FILE TEXT: the content on stdin is named by check as TEXT, whatever the name of the file
named() {
    cat >"$work/$1"
    refused "$1" "$2" check "$work/$1"
    if grep -qE 'YAML|a mapping' "$work/said"; then fail "$1: $(cat "$work/said")"; fi
}

# -- kinds

printf '2\n0 1 3 100 1000 2.0\n1 0 3 100 1000 2.0\n' >"$work/flow.txt"
passes "flows of HPCC's simulator" check "$work/flow.txt"
printf '1\n1 0 3 1000 2\n' >"$work/flow.txt"
passes "1, of 1.000 KB" check "$work/flow.txt"
printf '0 0\n1000 50\n20000 100\n' >"$work/sizes.txt"
passes "5.500 KB" check "$work/sizes.txt"
printf '0 0\n1000 50\n' >"$work/sizes.txt"
refused sizes.txt:2:6 "100" check "$work/sizes.txt"
printf '\n\r\r\n12345678' | named table.csv 'capture of packets \(pcapng\)'
printf '\xd4\xc3\xb2\xa1aaaaaaaa' | named table.csv 'capture of packets \(pcap\)'
printf '\x28\xb5\x2f\xfdaaaa' | named t.zst 'zstd'
printf '\xfd7zXZ\0aaaa' | named t.csv 'xz'
printf 'BZh91AY&SY' | named t.csv 'bzip2'
printf 'PK\3\4aaaa' | named t.csv 'zip'
printf 'PAR1aaaa' | named t.csv 'Parquet'
printf 'nodes 3\nTIERS 2\n' | named t.topo 'htsim'
printf '4 0 2 1:1 2:3\n' | named t.txt 'next hops'
printf 'host0 host1 1MB 0us\n' | named t.txt 'list of flows'
printf '0b000001 0b000101 10000 100 2500 2000000000 4300 4371\n' | named t.txt 'HPCC'
printf '3\n0 1 2\n' | named t.txt 'traced nodes'
printf 'flow_id,src,dst,src_port,bytes\n' | named t.csv 'flows of a run'
printf 'scheduling-policy: LIFO\nendpoint-delay: 1\n' | named t.txt 'ASTRA-sim'
printf '{"scheduling-policy": "LIFO"}' | named t.json 'ASTRA-sim'
printf '{"topology-name": "x", "units-count": [8]}' | named t.json 'ASTRA-sim'
printf 'topology: [ Ring ]\nnpus_count: [ 8 ]\n' | named t.yml 'ASTRA-sim'
printf '{"logical-dims": ["4"]}' | named t.json 'ASTRA-sim'
printf 'test\nTP:\nallreduce,: 300\n' | named t.yaml 'busbw.*SimAI'
printf 'Size,1 Node(NVLinkx),2Node-16GPU(NIC )\n1,2,3\n' | named t.csv 'SimAI'
printf 'ENABLE_QCN 1\nCC_MODE 1\n' | named t.txt 'rocesim hpcc'
printf '{"WRED_PROFILE": {"AZURE_LOSSLESS": {}}}' | named t.json 'SONiC'
printf '{"DEVICE_METADATA": {"localhost": {}}, "PORT": {}}' | named t.json 'SONiC.*rocesim import'
printf 'SwitchName=s0 Nodes=n[0-3]\n' | named t.conf 'Slurm.*rocesim import'
printf 'a_node,a_port,b_node,b_port\n' | named t.csv 'list of links.*rocesim import'
printf '  Port Rx    PFC0    PFC1\n-------- ------ ------\n' | named t.txt 'pfc counters.*--counters'
printf 'NIC statistics:\n     rx_packets: 3\n' | named t.txt 'ethtool.*--counters'
printf 'scenario: quickstart\nexpect: [drops == 0]\n' | named t.yaml 'rocesim expect'
printf 'scenario: quickstart\nconstants: {}\npoints: []\n' | named t.yaml 'rocesim calibrate'
printf 'scenario: quickstart\nvariants: []\n' | named t.yaml 'rocesim sweep'
printf '{"call":"submit","src":0,"dst":1,"bytes":9}\n' | named t.jsonl 'rocesim serve'
printf 'time_ns,event,port,priority\n' | named t.csv 'events of a run'
printf '{"traceEvents": []}' | named t.json 'profiler'
printf '{"schema": "1.0.3-chakra.0.0.4", "nodes": [{"id": 1, "ctrl_deps": 0}]}' | named t.json 'PyTorch'
printf '[{"id": "x", "conversations": [{"from": "human"}]}]' | named t.json 'ShareGPT'
printf '{"num_nodes": 1, "nodes": [], "instances": [{"npu_num": 1}]}' | named t.json 'LLMServingSim'
printf '#       size  count  type  redop  algbw  busbw\n#   out-of-place\n' | named t.txt 'nccl-tests'
printf ' #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]\n' | named t.txt 'perftest'
printf '<graphml></graphml>' | named t.graphml 'GraphML'
printf 'digraph x { a -> b }' | named t.dot 'Graphviz'
printf 'version https://git-lfs.github.com/spec/v1\n' | named t.csv 'Git LFS'
printf 'ZEBRA_PARALLEL\n1\nl\t-1\t5\tNONE\t0\t5\tNONE\t0\t5\tALLREDUCE\t4\t5\n' | named t.txt 'ZEBRA_PARALLEL'
printf '# Dragonfly\np 2\na 4\nh 2\n\nLink_speed_global_Gbps 400\n' | named t.topo 'htsim.*dragonfly:'
printf '# x\ntopology dragonfly\nrouters_per_group 2\n' | named t.topo 'dragonfly of htsim'
printf '# x\ntopology: [ Custom ]\ntopology_file: "t.txt"\n' | named t.yml 'ASTRA-sim'
printf '{"schema_version": 2, "topology": {"kind": "x"}, "hosts": []}' | named t.json "keys 'schema_version'"
printf '{"remote-memory-type": "NO"}' | named t.json "ASTRA-sim's memory"
printf '{\n  "1-Epoch_Duration": 2.5e-07\n}' | named t.json 'TE-CCL'
printf 'sn,cpu_milli,memory_mib,gpu,model\n' | named t.csv 'Alibaba'
printf 'apiVersion: v1\nkind: List\nmetadata: {}\n' | named t.yaml 'Kubernetes'
printf 'time: 2000000000\n0 1 1\n' | named t.txt 'queue lengths of HPCC'
printf '0\n' | named t.txt 'a count without rows'
printf '12,8,4\n8,12,4\n' | named t.csv 'table of numbers'

# what is no scenario is named by run, too, and so are rows of other simulators in a list of flows
printf 'num_ranks 1\nrank 0 {\n}\n' >"$work/t.goal"
refused t.goal:1:1 "the file is a workload" run "$work/t.goal" -o "$work/none"
printf '2\n0 1 3 100 1000 2.0\n1 0 3 100 1000 2.0\n' >"$work/flow.txt"
refused flow.txt:1:1 "traffic: .{flows" run "$work/flow.txt" -o "$work/none"
[ ! -e "$work/none" ] || fail "a refused file made a folder"
printf 'topology: {star: {hosts: 2}}\ntraffic: [{flows: {file: rows.txt}}]\n' >"$work/rows.yaml"
rows() {
    echo "$1" >"$work/rows.txt"
    refused rows.yaml:2 "$2" check "$work/rows.yaml"
}
rows '0 1 3 1000 2.0 9.0' 'a row of ns3-rdma'
rows '0 1 3 100 1000 2.0' "a row of HPCC's simulator"
rows '0 1 3 1000 2.0' 'a row of ConWeave'
printf '1\n0 1 3 1000 2 9\n' >"$work/rows.txt"
(cd "$work" && rocesim check rows.yaml 2>&1) | grep -q '^rows.txt:2:7: a flow file of ns3-rdma' ||
    fail "ns3-rdma"
printf '1\n0 1 3 100 1 2\n' >"$work/rows.txt"
passes "1 transfer planned" check "$work/rows.yaml"

# gzip is read by every reader, here of a scenario, its topology and its flows
printf '3 1 2\n2\n0 2 12.5GB/s 1us 0\n1 2 100Gibps 1us 0\n' | gzip >"$work/net.txt"
printf '1\n0 1 3 100 1000 0.0\n' | gzip >"$work/flow.txt"
printf 'topology: {file: net.txt}\ntraffic: [{flows: {file: flow.txt}}]\n' | gzip >"$work/all.yaml"
passes "1 transfer planned" check "$work/all.yaml"
head -c 40 "$work/all.yaml" >"$work/cut.yaml"
refused cut.yaml "gzip and broken" check "$work/cut.yaml"

# forks name the kind of a link behind its error rate
printf '4 2 3\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0 wan\n2 3 100Gbps 1us 0 wan\n' >"$work/net.txt"
printf 'topology: {file: net.txt}\ntraffic: [{flows: {list: [host0 host1 1KB 0us]}}]\n' >"$work/wan.yaml"
passes "left out, here 'wan'" check "$work/wan.yaml"

# 2000 messages that arrive at a rank at once are described in a moment
{
    printf 'num_ranks 2001\nrank 0 {\n'
    for r in $(seq 2000); do echo "l$r: recv 500000b from $r tag 0"; done
    printf '}\n'
    for r in $(seq 2000); do printf 'rank %d {\nl: send 500000b to 0 tag 0\n}\n' "$r"; done
} >"$work/incast.goal"
within 20 rocesim check "$work/incast.goal" >"$work/said" 2>&1 && grep -q '^  estimate' "$work/said" ||
    fail "an incast of 2000: $(cat "$work/said")"

printf '\x28\xb5\x2f\xfdaaaa' >"$work/c.pcap.zst"
pcap() { # LINK-TYPE as two digits of hexadecimal
    printf "\\xd4\\xc3\\xb2\\xa1\\x02\\0\\x04\\0\\0\\0\\0\\0\\0\\0\\0\\0\\xff\\xff\\0\\0\\x$1\\0\\0\\0"
}
pcap 71 >"$work/any.pcap"
refused any.pcap "tcpdump -i any.*link type 113" capture convert "$work/any.pcap" -o "$work/c.pcap"
pcap 65 >"$work/any.pcap"
refused any.pcap "IP packets.*link type 101" capture convert "$work/any.pcap" -o "$work/c.pcap"
refused c.pcap.zst "compressed by zstd" capture convert "$work/c.pcap.zst" -o "$work/c.pcap"

# -- what owners of formats refuse or pass over

step() {
    echo "<step s=\"$1\" type=\"$2\" srcbuf=\"o\" srcoff=\"$3\" dstbuf=\"o\" dstoff=\"$3\" cnt=\"1\"" \
        "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"
}
algorithm() {
    cat <<X
<algo name="x" proto="${1:-Simple}" nchannels="${2:-1}"${3:-}
 nchunksperloop="2" ngpus="2" coll="allgather" inplace="1">
$(for g in 0 1; do echo "<gpu id=\"$g\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">
<copy i_off=\"0\" o_off=\"0\"/>
<tb id=\"0\" send=\"$((1 - g))\" recv=\"$((1 - g))\" chan=\"0\"><note><inner/></note>
$(step 0 s $g)$(step 1 r $((1 - g)))
</tb></gpu>"; done)
</algo>
X
}
algorithm >"$work/a.xml"
passes "4 elements are passed over" check "$work/a.xml"
algorithm Zork >"$work/a.xml"
refused a.xml:1:1 "protocol is unknown: 'Zork'" check "$work/a.xml"
algorithm LL 7 >"$work/a.xml"
refused a.xml:1:1 "nchannels says 7" check "$work/a.xml"
algorithm LL128 1 ' minBytes="9" maxBytes="8"' >"$work/a.xml"
refused a.xml:1:1 "minBytes is above maxBytes" check "$work/a.xml"
algorithm | sed 's/<tb /<tbb /' >"$work/a.xml"
refused a.xml "closing|mismatched" check "$work/a.xml"

node='"id": 1, "name": "c", "type": "COMP_NODE", "runtime": 100'
for bad in '{"workload_graph": 5}' "{\"workload_graph\": [{$node, \"data_deps\": {}}]}" \
    "{\"workload_graph\": [{$node, \"ctrl_deps\": 7}]}" \
    "{\"workload_graph\": [{$node, \"attr\": \"x\"}]}"; do
    echo "$bad" >"$work/a.0.json"
    refused a.0.json:1:[0-9] "is no list" check "$work/a.0.json"
done
# all-to-alls of unequal ranks: 4096 bytes of rank 0 in two parts, 8193 of rank 1
coll() {
    echo "{\"workload_graph\": [{\"Id\": 1, \"Name\": \"x\", \"NodeType\": \"COMM_COLL_NODE\", $1}]}"
}
coll '"comm_type": "ALL_TO_ALL", "comm_size": 4096' >"$work/v.0.json"
coll '"comm_type": "all_to_allv", "comm_size": 8193' >"$work/v.1.json"
printf 'topology: {star: {hosts: 2}}\ntraffic: [{workload: {file: v.0.json}}]\n' >"$work/v.yaml"
passes "bytes_sent 6.145 KB" run "$work/v.yaml" -o "$work/v"
coll '"comm_type": "ALL_SUM", "comm_size": 8193' >"$work/v.1.json"
refused "v.1.json:1:[0-9]" "the collective is unknown: 'ALL_SUM'" check "$work/v.0.json"
coll '"comm_type": "ALL_REDUCE", "comm_size": 4096' >"$work/v.1.json"
refused v.1.json "another collective or size" check "$work/v.0.json"
echo '{"gpus": [{"id": 0, "threadblocks": {}}]}' >"$work/plan.json"
refused plan.json:1:37 "threadblocks is no list" check "$work/plan.json"

printf '%s\n' 'Nodes 2' 'Connections 2' '0->1 id 1 msg start 0 size 40' '0->1 id 1 msg 7 start 0 size 40' \
    >"$work/a.cm"
passes "id msg size start" check "$work/a.cm"
sed -i 's/msg 7/msg 0/' "$work/a.cm"
rocesim check "$work/a.cm" 2>&1 | grep -q "a.cm:4:15: '0' is not the number of a message" || fail "msg 0"
printf 'Nodes 2\nConnections 9\nTriggers 4\n0->1 id 1 start 0 size 40\n' >"$work/a.cm"
refused a.cm:2:13 "htsim refuses it, too.*Connections 1' with 'Triggers 0'" check "$work/a.cm"
printf 'Nodes 4\nTiers 2\nPodsize 4\nTier 1\nAsymmetric_mode single\n' >"$work/a.topo"
printf 'topology: {file: a.topo}\ntraffic: [{permutation: {bytes: 1KB}}]\n' >"$work/a.yaml"
(cd "$work" && rocesim check a.yaml 2>&1) | grep -q '^a.topo:5:1: .*links: {' || fail "an asymmetric tree"
printf 'num_ranks 1\nrank 0 {\na: recv 8b from -1 tag -1\n}\n' >"$work/a.goal"
passes "from any rank with any tag" check "$work/a.goal"

# -- byte order marks, in files of rows

printf '\xef\xbb\xbfhost0 host1 1000 0us\r\n' >"$work/rows.txt"
printf '\xef\xbb\xbf0 0\r\n1000 100\r\n' >"$work/sizes.txt"
printf 'topology: {star: {hosts: 4}}\ntraffic: [flows: {file: rows.txt}, %s]\n' \
    'poisson: {sizes: sizes.txt, load: 0.1, stop: 10us}' >"$work/marked.yaml"
passes "1 of 1 transfer done" run "$work/marked.yaml" -o "$work/marked"

# -- hosts with links to each other

printf '4 0 4\n0 1 100Gbps 1us 0\n1 2 100Gbps 1us 0\n2 3 100Gbps 1us 0\n3 0 100Gbps 1us 0\n' >"$work/ring.txt"
{
    echo 'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4' \
        'checkpoints: 0 checkpoint_initiates: 0'
    printf '1\nl -1 1 ALLREDUCE 4000000 1 NONE 0 1 NONE 0 1\n'
} >"$work/ar4.txt"
printf 'topology: {file: ring.txt}\ntraffic: [%s, {flows: {list: [%s]}}]\n' \
    '{workload: {file: ar4.txt, algorithm: ring}}' \
    'host3 host2 1MB 1ms, host3 host0 1MB 1ms, host0 host1 1MB 1ms' >"$work/ring.yaml"
passes "3 of 3 transfers done" run "$work/ring.yaml" -o "$work/ring"
sed -i 's/host3 host2/host3 host1/' "$work/ring.yaml"
refused ring.yaml:2 "no path between" check "$work/ring.yaml"

[ "$failures" = 0 ]
