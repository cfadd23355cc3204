#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/explain/test_explain_planted.sh - `rocesim explain` names causes that are planted in runs.
#
# Goal: of each kind of cause, at a place that the run's other traffic does not suggest, the first cause
# told has this kind and place; victims are told with what they lost; counters as a real network has them
# give the same origin; --what-if shows that a remedy changes the run.
# Method: a table of small scenarios. A run without any trouble has no cause, but for minor ones.
# Not pinned: numbers and words, and causes after the first.
set -u
. tests/script.sh
start_forks

fabric='{leaf-spine: {leaves: 3, spines: 3, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 200Gbps}}'
star='{star: {hosts: 6, rate: 100Gbps, delay: 500ns}}'
tree='{fat-tree: {k: 4, rate: 100Gbps, delay: 1us}}'
other='host1 host9 100KB 5us, host5 host10 100KB 9us'
# plant KIND PLACE TOPOLOGY FLOWS [LINES [VERB [ENTRY]]]: the first cause must be KIND at PLACE (a pattern).
count=0
plant() {
    local name=$((count += 1))-$1
    printf '%s\n' "name: $name" 'seed: 7' 'until: 50ms' 'stall-after: 2ms' "topology: $3" "${5:-}" \
        "traffic: [flows: {verb: ${6:-write}, list: [$4]}${7:+, $7}]" >"$work/$name.yaml"
    rocesim run "$work/$name.yaml" -o "$work/$name" --quiet >/dev/null 2>&1
    rocesim explain "$work/$name" --json >"$work/$name.json" || fail "explain $name"
    python3 - "$work/$name.json" "$1" "$2" <<'END' || fail "$name"
import fnmatch, json, sys
causes = [c for c in json.load(open(sys.argv[1]))["causes"] if not c["minor"]]
first = (causes[0]["kind"], causes[0]["place"]) if causes else ("none", "")
if first[0] != sys.argv[2] or not fnmatch.fnmatch(first[1], sys.argv[3]):
    print("expected", sys.argv[2:], "found", [(c["kind"], c["place"]) for c in causes])
    sys.exit(1)
END
}
small='switch: {buffer: 4MB, pfc: {alpha: 1/16}}'
plant none '' "$fabric" 'host0 host4 100KB 0us'
plant slow-receiver host6 "$fabric" "host0 host6 500KB 0us, host8 host7 300KB 2us, $other" "$small
faults: [{part: host6, kind: slow-receiver, rate: 5Gbps}]"
plant slow-receiver host3 "$tree" "host12 host3 500KB 0us, host13 host2 200KB 2us" "$small
faults: [{part: host3, kind: slow-receiver, rate: 10Gbps}]"
plant pause-storm host2 "$fabric" "host4 host2 300KB 0us, $other" "$small
faults: [{part: host2, kind: pause-storm, at: 5us, until: 500us}]"
storm=$work/$count-pause-storm
plant incast 'leaf2->host11' "$fabric" \
    "$(for i in 0 1 2 4 5 6 7; do printf "host$i host11 150KB 0us, "; done) host8 host9 100KB 5us"
plant incast 'switch0->host2' "$star" \
    'host0 host2 200KB 0us, host1 host2 200KB 0us, host3 host2 200KB 0us, host4 host5 100KB 0us' \
    'switch: {buffer: 300KB, pfc: {enabled: false}}'
pairs='{leaf-spine: {leaves: 2, spines: 4, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps}}'
plant hash-collision 'leaf?->spine?' "$pairs" \
    'host0 host4 1MB 0us, host1 host5 1MB 0us, host2 host6 1MB 0us, host3 host7 1MB 0us'
plant corrupting-link 'leaf1--host5' "$fabric" "host0 host5 500KB 0us, host5 host8 500KB 0us, $other" \
    'links: {"leaf1--host5": {loss-rate: 0.01}}
nic: {timeout: 4}'
plant degraded-link 'leaf0--host3' "$fabric" "host4 host3 500KB 0us, host8 host2 500KB 0us, $other" \
    'links: {"leaf0--host3": {rate: 25Gbps}}'
plant degraded-link 'leaf1--host4' "$fabric" "host0 host4 500KB 0us, $other" \
    'faults: [{part: "leaf1--host4", kind: degraded, rate: 10Gbps}]'
plant link-down 'leaf0--host1' "$fabric" "host1 host9 1MB 0us, $other" \
    'faults: [{part: "leaf0--host1", at: 20us, until: 60us}]
nic: {timeout: 4}'
ring='{graph: {nodes: [switch: [s0, s1, s2, s3, s4], host: [h0, h1, h2, h3, h4]], links: [s0--s1, s1--s2,
    s2--s3, s3--s4, s4--s0, h0--s0, h1--s1, h2--s2, h3--s3, h4--s4]}}'
plant deadlock 's?->s?' "$ring" \
    'h0 h2 2MB 0us, h1 h3 2MB 0us, h2 h4 2MB 0us, h3 h0 2MB 0us, h4 h1 2MB 0us' \
    'switch: {buffer: 1MB}
nic: {congestion-control: none, timeout: 0}'

# READs move data to who asked; a fabric without ECMP, and one whose headroom is too small.
plant incast 'leaf0->host0' "$fabric" \
    'host0 host4 150KB 0us, host0 host5 150KB 0us, host0 host6 150KB 0us, host0 host8 150KB 0us' '' read
plant slow-receiver host5 '{dragonfly: {switches: 4, hosts-per-switch: 2, global-links: 2}}' \
    'host20 host5 300KB 0us, host30 host5 200KB 0us, host40 host6 200KB 3us' "$small
network: {load-balancer: ugal}
faults: [{part: host5, kind: slow-receiver, rate: 8Gbps}]"
plant incast 'switch5->host5' '{torus: {x: 4, y: 4}}' \
    "$(for i in 0 2 4 9 10 14; do printf "host$i host5 100KB 0us, "; done) host1 host3 50KB 0us" \
    'switch: {buffer: 1MB, pfc: {enabled: false}}
nic: {transport: irn}'
plant headroom switch0 "$star" \
    'host0 host2 500KB 0us, host1 host2 500KB 0us, host3 host2 500KB 0us, host4 host5 100KB 0us' \
    'switch: {buffer: 600KB, pfc: {headroom: 4KB}}
nic: {congestion-control: none, timeout: 5}'
headroom=$count-headroom
# Messages of one queue pair do not compete, and an exchange among all is no incast: beside jobs, the planted
# incast is first. Of planes, the one with the slow link. A slow receiver that never stops its switch.
job='collective: {kind: all-to-all, hosts: "host[1,5,8,10]", bytes: 256KiB, repeat: 2, compute: 10us}'
plant none '' "$fabric" 'host2 host3 50KB 90us' '' write "$job"
plant incast 'leaf1->host4' "$fabric" \
    "$(for i in 0 2 3 6 7 9; do printf "host$i host4 150KB 1us, "; done) host2 host3 50KB 90us" \
    'nic: {congestion-control: hpcc}' write \
    'collective: {kind: all-reduce, hosts: "host[3,7,9,11]", bytes: 256KiB, repeat: 3, compute: 13us}'
planes='{multi-plane: {planes: 4, leaves: 2, spines: 2, hosts-per-leaf: 5, host-rate: 100Gbps,
    fabric-rate: 200Gbps}}'
plant degraded-link 'plane3-leaf1--host8' \
    "$planes" \
    'host8 host7 400KB 1us, host8 host3 400KB 3us, host8 host2 400KB 11us, host5 host8 400KB 19us' \
    'links: {"plane3-leaf1--host8": {rate: 10Gbps}}'
plant slow-receiver host5 "$fabric" 'host1 host5 700KB 0us, host2 host9 100KB 3us' \
    'nic: {congestion-control: swift}
faults: [{part: host5, kind: slow-receiver, rate: 20Gbps}]'
# A cable that is slow in one direction; a switch without PFC among others; flows to one host that meet
# before they reach its link, on the only link between two groups.
plant degraded-link 'leaf1--host5' "$fabric" "host0 host5 300KB 0us, host8 host5 200KB 3us, $other" \
    'links: {"leaf1--host5": {backward-rate: 100Gbps, rate: 10Gbps}}'
plant degraded-link 'leaf1--host5' "$fabric" "host5 host0 300KB 0us, host5 host8 200KB 3us, $other" \
    'links: {"leaf1--host5": {backward-rate: 10Gbps}}'
plant pfc-mismatch leaf1 "$fabric" \
    "$(for i in 0 1 2 8 9; do printf "host$i host5 300KB 0us, "; done) $other" \
    'switch: {buffer: 8MB, lossy-alpha: 1/64}
nodes: {leaf1: {switch: {pfc: {enabled: false}}}}
nic: {congestion-control: none, timeout: 5}'
plant incast 'switch10->host21' \
    '{dragonfly: {switches: 3, hosts-per-switch: 2, global-links: 1, delay: 300ns}}' \
    'host11 host21 120KB 1us, host16 host21 290KB 0us, host17 host21 250KB 3us, host0 host21 250KB 0us,
    host23 host21 140KB 4us, host2 host4 58KB 57us' 'switch: {buffer: 1MB, pfc: {enabled: false}}
nic: {transport: irn}'
python3 - "$work/$headroom.json" <<'END' || fail "headroom"
import json, sys
cause = json.load(open(sys.argv[1]))["causes"][0]
assert "headroom was full" in cause["sentence"], cause["sentence"]
assert "switch.pfc.headroom=auto" in str(cause["remedies"]), cause["remedies"]
END

# One count of pauses in the summary, its roots and classes, and in the tables, and one time; frames are more.
python3 - "$storm" <<'END' || fail "pauses are counted differently"
import csv, json, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
pfc = summary["pfc"]
rows = [row["event"] for row in csv.DictReader(open(sys.argv[1] + "/events.csv"))]
ports = list(csv.DictReader(open(sys.argv[1] + "/ports.csv")))
counts = {rows.count("paused"), sum(root["pauses"] for root in pfc["roots"]),
          sum(c.get("pauses", 0) for c in summary["classes"]), sum(int(p["pauses_prio3"]) for p in ports)}
assert counts == {pfc["pauses"]} and pfc["pause_frames"] > pfc["pauses"] > 1, (counts, pfc)
assert sum(root["paused_ps"] for root in pfc["roots"]) == pfc["paused_ps"] > 0, pfc
END

# The slow receiver: its tree and victims, what may help, and the same origin from counters.
python3 - "$work/2-slow-receiver.json" <<'END' || fail "victims"
import json, sys
cause = json.load(open(sys.argv[1]))["causes"][0]
tree = cause["pauses"][0]
assert tree["root"] == "host6" and tree["stops"][0]["port"] == "leaf1->host6", tree
below = [s["port"] for s in tree["stops"][0]["stops"]]
assert below and all(p.endswith("->leaf1") for p in below), below
assert all(v["goodput_gbps"] < v["possible_gbps"] for v in cause["victims"])
assert cause["remedies"] and cause["evidence"]
# Behind it are the queue pairs that send to it, not those of its victims.
pair = [(p["host"], p["peer"]) for p in cause["queue_pairs"]]
assert pair == [("host0", "host6")] and cause["queue_pairs"][0]["flows"] == 1, cause["queue_pairs"]
flows = [line.split(",") for line in open(sys.argv[1].replace(".json", "/flows.csv"))]
column = {name.strip(): i for i, name in enumerate(flows[0])}
row = next(f for f in flows if f[column["src"]] == "host0" and f[column["dst"]] == "host6")
assert cause["queue_pairs"][0]["qp"] == int(row[column["src_qp"]]) > 0
assert cause["queue_pairs"][0]["peer_qp"] == int(row[column["dst_qp"]]) > 0
END
slow=$work/2-slow-receiver
rocesim run "$slow.yaml" -o "$work/series" --quiet --set \
    'observe=[{series: "port[*->*].paused_ps", every: 10us}]' >/dev/null
awk -F, 'BEGIN { print "time_ns,port,rx_prio3_pause_duration" }
    NR > 1 { sub(/^port\[/, "", $2); sub(/\]\.paused_ps/, "", $2); print $1 "," $2 "," $3 / 1e6 }' \
    "$work/series/series.csv" >"$work/counters.csv"
rocesim explain "$work/series/topology.json" --counters "$work/counters.csv" >"$work/told" ||
    fail "counters"
grep -q '^main cause: host6 is a slow receiver' "$work/told" || fail "counters: $(head -n 2 "$work/told")"
grep -q '^    leaf1->host6 stopped for' "$work/told" || fail "no tree of counters"
grep -q 'counters cannot tell' "$work/told" || fail "no limits"
rocesim explain "$slow" --what-if --json >"$work/if.json" || fail "what if"
python3 - "$work/if.json" <<'END' || fail "the first remedy does not help"
import json, sys
runs = json.load(open(sys.argv[1]))["what_if"]
assert len(runs) >= 3 and runs[1]["paused_ps"] < 0.9 * runs[0]["paused_ps"], runs
END

# Earlier marks are offered where the port marks and senders heed it, and only there.
cat >"$work/incast.yaml" <<'END'
topology: {star: {hosts: 9}}
traffic: [incast: {to: host0, from: "host[1-8]", bytes: 1MB}]
END
for control in dcqcn hpcc swift; do
    rocesim run "$work/incast.yaml" --explain --quiet --set nic.congestion-control=$control >"$work/told" ||
        fail "$control"
    grep -q '^main cause: incast' "$work/told" || fail "$control: $(head -n 1 "$work/told")"
    grep -q 'switch.ecn.kmin=50KB' "$work/told" && offered=yes || offered=no
    [ "$offered" = "$([ $control = dcqcn ] && echo yes || echo no)" ] || fail "$control: offered: $offered"
done
rocesim run scenarios/uec/mrc.yaml --explain --quiet >"$work/told" || fail "uec/mrc"
grep -q '^main cause: incast' "$work/told" || fail "uec/mrc: $(head -n 1 "$work/told")"
grep -q 'switch.ecn.kmin' "$work/told" && fail "uec/mrc: its ports to hosts do not mark"

# refused WORDS ARGUMENT...: exit status 2 and a message with the words.
refused() {
    rocesim explain "${@:2}" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] || fail "explain ${*:2}: not refused"
    grep -q "$1" "$work/err" || fail "explain ${*:2}: $(cat "$work/err")"
}
refused 'no such folder' "$work/none"
printf 'time_s,port\n1,leaf0->host0\n' >"$work/bad.csv"
refused 'columns are missing' "$work/series/topology.json" --counters "$work/bad.csv"
printf 'time_s,port,PFC3\n1,nowhere,3\n' >"$work/bad.csv"
refused 'bad.csv:2:1: a port that' "$work/series/topology.json" --counters "$work/bad.csv"
[ $failures -eq 0 ]
