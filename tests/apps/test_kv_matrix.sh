#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/test_kv_matrix.sh - traffic matrices of KV caches (docs/models/kv-matrix.md).
#
# Goal: files of kvbench run unchanged, whatever form a matrix has; a pattern alone takes the closed-form time
# of its longest flow, and one that ECMP lets collide the time of the shared port; storage and sleeps
# take their time; all bytes are counted; flows have the ports and queue pairs of their packets; wrong
# files are refused with their place.
# Method: two leaves with two spines and no congestion control; values recomputed in Python.
# Does not pin: latencies under congestion, which congestion controls decide.
set -u
. tests/script.sh
start_forks
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
cd "$work" || exit 1
mkdir tps matrices

# rows CELL...: a matrix of 8 ranks whose cells are "SOURCE DESTINATION SIZE".
rows() {
    awk -v cells="$*" 'BEGIN {
        count = split(cells, word, " ")
        for (i = 1; i < count; i += 3) size[word[i] "," word[i + 1]] = word[i + 2]
        for (s = 0; s < 8; s++) {
            line = ""
            for (d = 0; d < 8; d++) line = line (((s "," d) in size) ? size[s "," d] : "0") " "
            print line
        }
    }'
}
{ echo "[rdma]" && rows 0 4 40M 1 5 0.5M && echo && echo "[read]" && echo "10M 10M 0 0 0 0 0 0" &&
    echo "[write]" && echo "30M 1M 0 0 0 0 0 0"; } >tps/tp_0.tp
rows 2 4 50M 3 5 20480K >matrices/m1.txt
cat >plan.yaml <<'EOF'
traffic_patterns:
- {tp_file: tps/tp_0.tp, matrix_file: matrices/none.txt, sleep_before_launch_sec: 0.001, mem_type: cuda,
   metadata: {isl: 8000}, storage: {read: [1M]}}
- {matrix_file: matrices/m1.txt, sleep_before_launch_sec: 1.2e-3, sleep_after_launch_sec: 0.002}
- xfer_op: read
  matrix: [[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],
           [10M,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0]]
iters: 10
isolation_iters: 5
EOF
cat >kv.yaml <<'EOF'
topology:
  leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4, host-rate: 400Gbps, fabric-rate: 400Gbps,
               links-per-spine: 2, delay: 500ns}
nic: {congestion-control: none}
switch: {buffer: 64MB}
traffic:
  - kv-matrix: {file: plan.yaml}
EOF
rocesim run kv.yaml -o out --quiet >/dev/null 2>said || fail "plan.yaml: $(cat said)"
if command -v tshark >/dev/null; then
    { cat kv.yaml && echo 'captures: [{ports: "leaf*->spine*", snaplen: 96B}]'; } >seen.yaml
    rocesim run seen.yaml -o seen --quiet --set seed=3 --until 4ms >/dev/null 2>said ||
        fail "captures: $(cat said)"
    mergecap -a -w all.pcap seen/captures/* 2>/dev/null
    tshark -r all.pcap -Y 'infiniband.bth.opcode <= 0xb && udp.length > 1000' -T fields -E separator=, \
        -e ip.src -e ip.dst -e udp.srcport -e infiniband.bth.destqp 2>/dev/null | sort -u >packets
    python3 - <<'EOF' || fail "flows.csv has other ports or queue pairs than the captures"
import csv
names = dict(line.split() for line in open("seen/hosts") if line.strip())
of = {name: address for address, name in names.items()}
flows = {(of[row["src"]], of[row["dst"]], int(row["src_port"]), int(row["dst_qp"] or 0))
         for row in csv.DictReader(open("seen/flows.csv"))}
lines = [line.strip().split(",") for line in open("packets")]
packets = {(a, b, int(port), int(qp, 0)) for a, b, port, qp in lines}
assert packets and packets <= flows, (sorted(packets - flows)[:3], sorted(flows)[:3])
EOF
fi
cat >check.py <<'EOF'
import csv, json, sys
app = json.load(open("out/summary.json"))["apps"][0]
flows = [row for row in csv.DictReader(open("out/flows.csv")) if int(row["bytes"]) > 100000]
rows = app["patterns"]
def near(value, expected, share, what):
    assert abs(value - expected) <= share * expected, f"{what}: {value}, expected {expected}"
MIB = 1 << 20
sizes = [40 * MIB + MIB // 2, 50 * MIB + 20480 * 1024, 10 * MIB]
for row, size, senders in zip(rows, sizes, (2, 2, 1)):
    near(row["size_gbytes"], size / 1e9, 1e-9, "size")
    assert row["num_senders"] == senders, row
# Alone and without collisions, a pattern takes as long as its longest flow on an idle network.
ideal = {int(f["bytes"]): float(f["ideal_fct_ns"]) / 1e6 for f in flows}
near(rows[0]["isolated_latency_ms"], ideal[40 * MIB], 1e-4, "alone")
near(rows[2]["isolated_latency_ms"], ideal[10 * MIB], 3e-3, "a read: a request more")
for row in rows:  # frames of 4096 bytes of payload have 82 more on the wire with gap and preamble
    near(row["isolated_latency_ms"], row["bound_ms"] * 4178 / 4096, 0.03, "bound")
    near(row["latency_ms"], row["isolated_latency_ms"], 0.01, "nobody else sends")
shared = rows[1]["bottleneck"]
assert ("spine" in shared) == (rows[1]["bound_ms"] > 50 * MIB * 8 / 400e6 * 1.01), rows[1]
assert app["ranks_finished"] == app["ranks"] == 8 and app["messages_failed"] == 0
# Rank 0 of pattern 0 reads 10 MiB at 50 Gbps, sleeps, and writes 30 MiB while it sends.
workload = 0.1 + 10 * MIB * 8 / 50e6 + 1 + 0.1 + 30 * MIB * 8 / 50e6
alone = sum(row["isolated_latency_ms"] for row in rows)
near(app["duration_ms"], alone + workload, 0.01, "storage and sleep")
EOF
python3 check.py || fail "the patterns of plan.yaml"
for threads in 2 4; do
    rocesim run kv.yaml -o "t$threads" --threads $threads --quiet >/dev/null
    cmp -s out/flows.csv "t$threads/flows.csv" || fail "$threads threads"
done
rows 0 4 3M >one.txt
printf 'traffic_pattern: {matrix_file: one.txt, xfer_op: write}\niters: 2\n' >one.yaml
rocesim run kv.yaml --set traffic[0].kv-matrix.file=one.yaml --json --quiet 2>said |
    grep -q '"size_gbytes": 0.003145728' || fail "ct-perftest: $(cat said)"

# Storage behind ranks of its own: the bytes cross the network.
rocesim run kv.yaml -o stored --quiet --set traffic[0].kv-matrix.storage-ranks=2 \
    --set topology.leaf-spine.hosts-per-leaf=5 >/dev/null 2>said || fail "storage-ranks: $(cat said)"
awk -F, '$5 == 10485760 && $2 == "host8" || $5 == 31457280 && $3 == "host8"' stored/flows.csv | wc -l |
    grep -qx 2 || fail "storage-ranks: $(grep host8 stored/flows.csv)"

# Lists of storage may end before the last rank and stand before all matrices; pages have 4 KiB.
cat >short.yaml <<'EOF'
traffic_patterns:
- storage: {read: [1K], write: [0, 5000]}
- {matrix: [[0, 1K, 0], [0, 0, 0], [0, 0, 0]], storage: {write: [4096]}}
EOF
rocesim check kv.yaml --set traffic[0].kv-matrix.file=short.yaml >said 2>&1 || fail "short: $(cat said)"
grep -q '2 patterns of 3 ranks, 1 transfer of .*; 0.00001638 GB read from' said ||
    fail "short lists: $(cat said)"

# A model's requests: caches of 327680 bytes a token, cut into 8 x 2 parts.
rocesim run kv.yaml -o made --quiet --set traffic[0].kv-matrix="{model: llama-70b, requests: 3,
    prefill-tp: 2, decode-tp: 4, node-gpus: 4, input-mean: 100, input-scale: 0, input-min: 1, tflops: 1000000,
    isolation-iterations: 0}" >/dev/null 2>said || fail "a model: $(cat said)"
awk -F, 'NR > 1 && $5 > 100000 { n++; ok += $5 == 100 * 327680 / 4 } 
            END { exit !(n == 12 && ok == 12) }' made/flows.csv ||
    fail "a model: $(cut -d, -f2-5 made/flows.csv)"

# refused TEXT WORDS: a plan of this text is refused with these words and status 2.
refused() {
    printf '%s\n' "$1" >bad.yaml
    rocesim run kv.yaml --set traffic[0].kv-matrix.file=bad.yaml -o bad --quiet >said 2>&1
    [ $? = 2 ] && grep -qF "$2" said || fail "$1: $(cat said)"
    [ ! -e bad ] || fail "$1: something was written"
}
printf '0 1M\n1X 0\n' >matrices/bad.txt
refused 'traffic_patterns: [{matrix_file: matrices/bad.txt}]' 'matrices/bad.txt:2:1: 1X is no size'
printf '0 1M 2M\n0 0 0\n' >matrices/bad.txt
refused 'traffic_patterns: [{matrix_file: matrices/bad.txt}]' 'bad.txt:2:1: the matrix ends after 2 lines'
: >matrices/bad.txt
refused 'traffic_patterns: [{matrix_file: matrices/bad.txt}]' 'bad.txt:1:1: the file is empty'
printf '[rdm]\n0 1\n0 0\n' >matrices/bad.txt
refused 'traffic_patterns: [{tp_file: matrices/bad.txt}]' 'bad.txt:1:1: [rdm] is no section, expected [rdma]'
printf '0 1M\n0\n' >matrices/bad.txt
refused 'traffic_patterns: [{matrix_file: matrices/bad.txt}]' 'bad.txt:2:1: the line has 1 value, expected 2'
printf '[rdma]\n0 1M\n0 0\n[read]\n1M\n0\n' >matrices/bad.txt
refused 'traffic_patterns: [{tp_file: matrices/bad.txt}]' 'bad.txt:5:1: the line has 1 value, expected 2'
printf '1 1M\n0 0\n' >matrices/bad.txt
refused 'traffic_patterns: [{matrix_file: matrices/bad.txt}]' 'rank 0 sends 1 bytes to itself'
refused 'traffic_patterns: [{mem_type: cuda}]' 'bad.yaml:1:20: the traffic pattern is empty'
refused 'patterns: []' 'neither traffic_patterns nor traffic_pattern'
refused 'traffic_patterns: [{matrix_file: matrices/none.txt}]' 'matrices/none.txt: cannot open'
refused 'traffic_patterns: [{matrix_file: one.txt, sleep_before_launch_sec: -1}]' 'expected a number from 0'
refused 'traffic_patterns: [{matrix: [[0, 1M], [0, 0]], xfer_op: push}]' \
    'bad.yaml:1:57: xfer_op: push, expected READ or WRITE'
refused 'traffic_patterns: [{matrix: [[0, 1M], [0]]}]' \
    'bad.yaml:1:20: matrix:2:1: the line has 1 value, expected 2'
refused 'traffic_patterns: [{storage: {read: [1M, 1Z]}}]' 'storage.read:1:4: 1Z is no size'
refused 'traffic_patterns: {a: 1}' 'a list of patterns'
refused 'traffic_patterns: []' 'no pattern has a matrix or storage, expected a line of sizes'
rocesim check kv.yaml --set topology.leaf-spine.hosts-per-leaf=2 >said 2>&1
[ $? = 2 ] && grep -q '8 ranks' said || fail "too few hosts: $(cat said)"

# The study: bytes / bandwidth is too low by more than the share of headers.
(cd "$OLDPWD" && scenarios/serving/run -o "$work/study" --quick formula) >said 2>&1 ||
    fail "the study: $(cat said)"
awk -F, 'NR > 1 { n++; ok += $5 > 1.02 && $6 >= $5 } END { exit !(n == 2 && ok == 2) }' \
    study/formula/data.csv || fail "the study: $(cat study/formula/data.csv)"
exit $((failures > 0))
