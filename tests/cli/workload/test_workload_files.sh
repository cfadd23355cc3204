#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/workload/test_workload_files.sh - `rocesim check` and `rocesim convert` on files of workloads.
#
# Goal: a workload is told from a scenario by its content; counts, bounds and times are those of independent
# parsers; GOAL's text and binary turn into each other without a change; wrong input is refused. Method: a
# schedule written here, and public tables where they exist. Not pinned: the wording of the description.
set -u
. tests/script.sh
start_forks

cat >"$work/two.goal" <<'EOF'
// a comment
num_ranks 3
rank 0 {
c: calc 1000 cpu 1
s: send 1000b to 1 tag 3 cpu 1 nic 2
s requires c
t: send 0b to 2
t irequires s
}
rank 1 {
recv 1000b from -1 tag -1
}
rank 2 {
recv 5b from 0
}
EOF
rocesim check "$work/two.goal" --set loggp.latency=2us --set loggp.semantics=spcl \
    >"$work/said" 2>"$work/warned" ||
    fail "check: status $?"
for text in 'GOAL, text' '3, with up to 2 processors and 3 NICs' '2 sends, 2 receives, 1 computation' \
    '1 requires, 1 irequires' 'from 0 B to 1.000 KB, 2 sizes' 'path 3.440 us' 'estimate    3.440 us'; do
    grep -qF -- "$text" "$work/said" || fail "check does not say '$text': $(cat "$work/said")"
done
grep -q '1 receive has another size' "$work/warned" || fail "sizes: $(cat "$work/warned")"
"$ROCESIM" check "$work/two.goal" --json 2>/dev/null | python3 -c '
import json, sys
made = json.load(sys.stdin)
wanted = dict(ranks=3, sends=2, recvs=2, calcs=1, bytes=1000, max_cpu=1, max_nic=2, matched=2, depth=3)
sys.exit(any(made[key] != wanted[key] for key in wanted))' || fail "check --json"

# -- conversions

rocesim convert "$work/two.goal" -o "$work/two.bin" &&
    rocesim convert "$work/two.bin" -o "$work/again.goal" &&
    rocesim convert "$work/again.goal" -o - >"$work/again.bin" || fail "convert: status $?"
cmp -s "$work/two.bin" "$work/again.bin" || fail "a text of a binary has another binary"
grep -qx 'l2: send 1000b to 1 tag 3 cpu 1 nic 2' "$work/again.goal" &&
    grep -qx 'l3 irequires l2' "$work/again.goal" &&
    grep -qx 'l1: recv 1000b from -1 tag -1' "$work/again.goal" || fail "the text: $(cat "$work/again.goal")"
rocesim check "$work/two.bin" 2>/dev/null | grep -q 'GOAL, binary' || fail "check of a binary"

# -- wrong input

# refused TEXT COMMAND...: expects status 2 and a text
refused() {
    rocesim "${@:2}" >"$work/said" 2>&1
    [ $? = 2 ] && grep -qF -- "$1" "$work/said" || fail "${*:2} said: $(cat "$work/said")"
}
refused "-o is missing" convert "$work/two.goal"
printf 'num_ranks 2\nrank 0 {\nsend 5 to 1\n}\n' >"$work/bad.goal"
refused "bad.goal:3:6: the number is wrong" check "$work/bad.goal"
refused "bad.goal:3:6: the number is wrong" convert "$work/bad.goal" -o "$work/bad.bin"
[ ! -e "$work/bad.bin" ] || fail "a refused conversion wrote its file"
refused "expected loggp.NAME=VALUE" check "$work/two.goal" --set nic.mtu=1024
refused "loggp.latency=x" check "$work/two.goal" --set loggp.latency=x
printf 'topology: {star: {hosts: 2}}\n' >"$work/scenario.yaml"
refused "--json describes a file of a workload" check "$work/scenario.yaml" --json
rocesim check "$work/scenario.yaml" >/dev/null 2>&1 || fail "check of a scenario: status $?"
printf 'num_ranks 2\nrank 0 {\nsend 5b to 7\n}\n' >"$work/absent.goal"
rocesim check "$work/absent.goal" 2>&1 | grep -q "absent.goal:3:12: there is no such rank: '7'" ||
    fail "check of a file that names a rank it does not have"

# -- connection matrices

cat >"$work/two.cm" <<'EOF'
Nodes 4
Connections 4
Triggers 2
0->1 id 1 start 0 size 1000 send_done_trigger 1
0->2 id 2 trigger 1 size 2000 recv_done_trigger 2
2->3 id 3 trigger 2 size 3000
3->1 id 4 start 7 size 4000
trigger id 1 oneshot
trigger id 2 oneshot
EOF
"$ROCESIM" check "$work/two.cm" --json 2>"$work/warned" | python3 -c '
import json, sys
made = json.load(sys.stdin)
wanted = dict(nodes=4, connections=4, triggers=2, bytes=10000, sources=3, destinations=3,
              max_fan_in=2, max_fan_out=2, trigger_depth=3, min_size=1000, max_size=4000,
              recv_done_triggers=1, never_started=0,
              words="id recv_done_trigger send_done_trigger size start trigger")
sys.exit(any(made[key] != wanted[key] for key in wanted))' || fail "check of a connection matrix"
grep -q '1 connection has recv_done_trigger' "$work/warned" || fail "$(cat "$work/warned")"
sed -i 's/ send_done_trigger 1//' "$work/two.cm"
rocesim check "$work/two.cm" 2>&1 | grep -q 'warning: .* 2 connections start never' || fail "never started"

# Goal: a matrix of connections runs as a workload on a fabric of its size, and its attributes are refused.
printf '%s\n' 'Nodes 5' 'Connections 2' 'Triggers 1' '0->1 start 0 size 100000 send_done_trigger 1' \
    '1->4 trigger 1 size 100000' 'trigger id 1 oneshot' >"$work/chain.cm"
scenario=scenarios/training/workload.yaml
rocesim run "$scenario" --set file="$work/chain.cm" --set gpus=9 -o "$work/chain" >"$work/said" 2>&1 ||
    fail "run of a matrix: $(cat "$work/said")"
grep -q 'flows: 2 of 2 transfers done' "$work/said" || fail "a matrix: $(cat "$work/said")"
rocesim check "$scenario" --set file="$work/chain.cm" 2>&1 | grep -q ' 6 hosts' || fail "ranks of a matrix"
refused "map: random, but" check "$scenario" --set file="$work/chain.cm" --set map=random
sed -i 's/0->1/0->9/' "$work/chain.cm"
refused "chain.cm:4:4" check "$scenario" --set file="$work/chain.cm"

printf '%s\n' 'Nodes 4294967295' 'Connections 1' '0->1 start 0 size 1000' >"$work/many.cm"
refused "many.cm:1:7: '4294967295' is not Nodes, expected a whole number from 0 to 16777216" \
    check "$work/many.cm"
# Its nodes are NICs, host by host, if hosts are too few: node 11 is the fourth NIC of the second server.
printf '%s\n' 'Nodes 16' 'Connections 2' 'Triggers 1' '0->11 start 0 size 100000 send_done_trigger 1' \
    '11->3 trigger 1 size 100000' 'trigger id 1 oneshot' >"$work/nics.cm"
rocesim run "$scenario" --set file="$work/nics.cm" --set topology=rail-optimised -o "$work/nics" \
    >"$work/said" 2>&1 || fail "nodes that are NICs: $(cat "$work/said")"
[ "$(cut -d, -f2,3,5 "$work/nics/flows.csv" | tr '\n' ' ')" = \
    'src,dst,bytes host0/nic0,host1/nic3,100000 host1/nic3,host0/nic3,100000 ' ] ||
    fail "$(cut -d, -f1-6 "$work/nics/flows.csv")"
sed -i 's/Nodes 16/Nodes 17/' "$work/nics.cm"
refused "nics.cm:1:7: the file has 17 nodes and the network 2 hosts with 16 NICs" check "$scenario" \
    --set file="$work/nics.cm" --set gpus=16 --set topology=rail-optimised

# -- files of other programs

echo '<!-- a server --><system version="1"><cpu><pci><gpu/><gpu/></pci>' \
    '<nic><net/></nic></cpu></system>' >"$work/server.xml"
"$ROCESIM" check "$work/server.xml" --json | python3 -c '
import json, sys
made = json.load(sys.stdin)
wanted = dict(version="1", cpus=1, pci=1, gpus=2, nics=1, nets=1, nvlinks=0)
sys.exit(any(made[key] != wanted[key] for key in wanted))' || fail "a topology of NCCL"
printf '<system><cpu></system>' >"$work/server.xml"
refused "server.xml:1:16: not valid XML" check "$work/server.xml"
tier() { printf '\nTier %d\nDownlink_speed_Gbps 100\nRadix_Down %d\n%sDownlink_Latency_ns 500\n' "$@"; }
{ printf 'Nodes 8\nTiers 2\nPodsize 8\n' && tier 0 4 $'Radix_Up 2\n' && tier 1 2 ''; } >"$work/a.topo"
refused "a topology of htsim" check "$work/a.topo"
# A broken one has the message that a run with it has.
printf 'Nodes 8\nTiers 2\n' >"$work/a.topo"
refused "a.topo:3:1: no Podsize" check "$work/a.topo"
printf '3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps\n' >"$work/a.topo"
refused "a.topo:5:1: the file ends here, expected the delay of a link" check "$work/a.topo"
printf '3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n' >"$work/a.topo"
refused "a topology of HPCC" check "$work/a.topo"

# -- public schedules

public=../shared/data/ai
[ -d "$public" ] || { echo "skip: no $public" && [ "$failures" = 0 ] && exit 77; exit 1; }
cat >"$work/compare.py" <<'EOF'
import csv, json, os, subprocess, sys
program, public = sys.argv[1:]
wrong = files = 0
sets = {"default": "2500ns 1500ns 1us 6ns", "ai": "3700ns 200ns 5ns 40ps", "hpc": "3us 8us 0s 180ps"}
def check(file, **changed):
    options = ["--set=loggp.%s=%s" % (name.replace("_", "-"), changed[name]) for name in changed]
    path = "%s/data/goal/%s.goal" % (public, file)
    if not os.path.exists(path):
        return None
    command = [program, "check", path, "--json"] + options
    return json.loads(subprocess.run(command, capture_output=True).stdout)
for row in csv.DictReader(open(public + "/expected/goal_counts.csv")):
    made = check(row["file"])
    for key in row if made else ():
        if key in made and key != "file" and int(row[key]) != made[key]:
            print(row["file"], key, made[key], "expected", row[key])
            wrong += 1
    files += made is not None
for row in csv.DictReader(open(public + "/expected/goal_loggp_bounds.csv")):
    latency, overhead, gap, byte = sets[row["params"]].split()
    made = check(row["file"], latency=latency, send_overhead=overhead, recv_overhead=overhead, gap=gap,
                 byte_gap=byte)
    for key in row if made else ():
        if key.startswith("bound_") and float(row[key]) != made[key]:
            print(row["file"], row["params"], key, made[key], "expected", row[key])
            wrong += 1
for row in csv.DictReader(open(public + "/expected/cm_counts.csv")):
    command = [program, "check", public + "/data/" + row["file"], "--json"]
    if os.path.exists(command[2]):
        made = json.loads(subprocess.run(command, capture_output=True).stdout)
        for key in row:
            if key in made and key != "file" and row[key] != str(made[key]):
                print(row["file"], key, made[key], "expected", row[key])
                wrong += 1
for row in csv.DictReader(open(public + "/expected/nccl_topo_counts.csv")):
    command = [program, "check", public + "/data/" + row["file"], "--json"]
    if os.path.exists(command[2]):
        made = json.loads(subprocess.run(command, capture_output=True).stdout)
        for key in row:
            if key != "file" and row[key] != str(made[key]):
                print(row["file"], key, made[key], "expected", row[key])
                wrong += 1
print(files, "files")
sys.exit(wrong > 0 or files < 10)
EOF
python3 "$work/compare.py" "$ROCESIM" "$public" >"$work/said" || fail "public schedules: $(cat "$work/said")"
for binary in "$public"/data/goal/bin/*.bin; do
    text=$public/data/goal/$(basename "$binary" .bin).goal
    [ -e "$text" ] || continue
    rocesim convert "$text" -o - 2>/dev/null | cmp -s - "$binary" || fail "$text has another binary"
    rocesim convert "$binary" -o "$work/text.goal" 2>/dev/null
    rocesim convert "$work/text.goal" -o - 2>/dev/null | cmp -s - "$binary" || fail "$binary as a text"
done
[ "$failures" = 0 ]
