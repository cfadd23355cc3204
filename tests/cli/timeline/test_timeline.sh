#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/timeline/test_timeline.sh - operations.csv and `rocesim timeline`.
#
# Goal: each operation of a workload is a row and a slice with its exact times; slices of one thread do not
# overlap; the number of rows is bounded for each rank; a range leaves out what lies beside it; wrong input
# leaves no file. Method: a small schedule on an ideal network, the trace read by Python. Not pinned: colours,
# the order of events in the file.
set -u
. tests/script.sh
start_forks

cat >"$work/two.goal" <<'EOF'
num_ranks 2
rank 0 {
c: calc 1000
s: send 1001b to 1 tag 3
s requires c
t: send 1001b to 1 tag 4
t requires c
}
rank 1 {
r: recv 1001b from 0 tag 3
q: recv 1001b from -1 tag 4
d: calc 500 cpu 1
d requires r
n: recv 5b from 0 tag 9
}
EOF
cat >"$work/star.yaml" <<'EOF'
topology: {star: {hosts: 2, rate: 100Gbps, delay: 1us}}
outputs: {operations-max: 1000}
traffic:
  - workload: {file: two.goal, network-model: ideal, semantics: spcl, latency: 1us, byte-gap: 1ns, start: 1us}
EOF
rocesim run "$work/star.yaml" --quiet -o "$work/out" >/dev/null 2>&1 # it stalls: nothing matches tag 9
grep -qx '0,0,host0,0,0,calc,none,,0,,1000,2000' "$work/out/operations.csv" &&
    grep -qx '0,1,host1,0,0,recv,none,,1001,0,1000,4000' "$work/out/operations.csv" &&
    grep -qx '0,1,host1,0,3,recv,none,,5,0,1000,' "$work/out/operations.csv" ||
    fail "operations.csv: $(cat "$work/out/operations.csv")"
rocesim timeline "$work/out" -o "$work/trace.json" || fail "timeline: status $?"
cat >"$work/look.py" <<'EOF'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
ranks = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
slices = [e for e in events if e["ph"] == "X" and "number" in e["args"]] # of ranks
for e in sorted(slices, key=lambda e: (e["pid"], e["args"]["number"])):
    print(ranks[e["pid"]], "|", names[e["pid"], e["tid"]], "|", e["name"], "|", e["ts"], e["dur"],
          e["args"]["bytes"])
for a in slices:
    for b in slices:
        if a is not b and (a["pid"], a["tid"]) == (b["pid"], b["tid"]):
            assert a["ts"] + a["dur"] <= b["ts"] or b["ts"] + b["dur"] <= a["ts"], (a, b)
EOF
cat >"$work/wanted" <<'EOF'
rank 0 (host0) | cpu 0 | calc | 1.0 1.0 0
rank 0 (host0) | cpu 0 sends | send to 1 | 2.0 2.0 1001
rank 0 (host0) | cpu 0 sends | send to 1 | 3.0 2.0 1001
rank 1 (host1) | cpu 0 receives | recv from 0 | 1.0 3.0 1001
rank 1 (host1) | cpu 0 receives (2) | recv from any | 1.0 4.0 1001
rank 1 (host1) | cpu 1 | calc | 4.0 0.5 0
rank 1 (host1) | cpu 0 receives (3) | recv from 0 | 1.0 4.0 5
EOF
sed -i '3s/sends |/sends (2) |/' "$work/wanted" # the first one is on its way until 4 us
python3 "$work/look.py" "$work/trace.json" >"$work/made" || fail "the trace is wrong"
cmp -s "$work/made" "$work/wanted" || fail "the trace: $(diff "$work/made" "$work/wanted")"

# -- bounds

rocesim timeline "$work/out" -o - --from 4.1us --to 4.2us >"$work/part.json" || fail "a range: status $?"
python3 "$work/look.py" "$work/part.json" | cut -d '|' -f 3 | tr '\n' ',' >"$work/made"
grep -qx ' send to 1 , recv from any , calc , recv from 0 ,' "$work/made" ||
    fail "a range: $(cat "$work/made")"
rocesim run "$work/star.yaml" --quiet --set outputs.operations-max=5 -o "$work/few" >"$work/said" 2>&1
[ "$(wc -l <"$work/few/operations.csv")" = 5 ] || fail "5 rows for 2 ranks: $(cat "$work/few/operations.csv")"
grep -q 'operations.csv leaves out 3 operations' "$work/few/summary.json" || fail "rows that are left out"
rocesim run "$work/star.yaml" --quiet --set outputs.operations-max=0 -o "$work/none" >/dev/null 2>&1
[ ! -e "$work/none/operations.csv" ] || fail "a file that nobody asked for"

# -- wrong input

refused() {
    rocesim timeline "${@:2}" >"$work/said" 2>&1
    [ $? = 2 ] && grep -qF -- "$1" "$work/said" || fail "${*:2} said: $(cat "$work/said")"
}
refused "-o is missing" "$work/out"
rm -f "$work/none/"*.csv
refused "nothing to draw" "$work/none" -o "$work/no.json"
refused "--from" "$work/out" -o "$work/no.json" --from soon
sed -i '2s/,1000,2000/,3000,2000/' "$work/out/operations.csv"
refused "ends before it starts" "$work/out" -o "$work/no.json"
for file in "$work"/no.json*; do [ ! -e "$file" ] || fail "wrong input left $file"; done
[ "$failures" = 0 ]
