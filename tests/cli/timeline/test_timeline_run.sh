#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/timeline/test_timeline_run.sh - `rocesim timeline` of any run.
#
# Goal: the trace follows the Trace Event Format: every event has its fields, arrows leave and arrive inside
# slices, slices of one thread do not overlap, counters have numbers; flows, pauses, drops, faults, cache
# misses and series of the result files are all in it; the number of events is bounded.
# Method: Python compares the trace of small runs with their result files. Not pinned: names, colours.
# A browser reads the trace in studio/tests/test_studio_page.sh.
set -u
. tests/script.sh
cat >"$work/s.yaml" <<END
seed: 3
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 3}}
switch: {buffer: 4MB, pfc: {alpha: 1/64}}
nic: {timeout: 4}
faults: [{part: leaf0--spine0, at: 10us, until: 30us}, {part: host4, kind: bit-errors, bit-error-rate: 1e-7}]
traffic: [incast: {to: host0, from: "host[1-5]", bytes: 200KB}]
observe: [{series: "port[leaf0->host0].queue_bytes", every: 2us}]
END
cat >"$work/cache.yaml" <<END
topology: {star: {hosts: 2, rate: 100Gbps, delay: 300ns}}
nic: {model: detailed, cache: {policy: hybrid}}
outputs: {cache-events: true}
traffic: [flows: {list: [host0 host1 64KB 0us, host0 host1 64KB 1us]}]
END
for name in s cache; do
    "$ROCESIM" run "$work/$name.yaml" -o "$work/$name" --quiet >/dev/null || fail "run $name"
    "$ROCESIM" timeline "$work/$name" -o "$work/$name.json" || fail "timeline $name"
done
"$ROCESIM" timeline "$work/s" --events 10 -o "$work/few.json" 2>"$work/note" || fail "few events"
"$ROCESIM" timeline "$work/s" --events 100 -o "$work/some.json" 2>/dev/null || fail "some events"
grep -q 'holds [0-9]* events and leaves out' "$work/note" || fail "no note: $(cat "$work/note")"
"$ROCESIM" timeline "$work/s" --from 20us --to 25us -o "$work/part.json" || fail "a range"

python3 - "$work" <<'END' || fail "contents"
import collections, csv, json, sys
work = sys.argv[1]

def read(name):
    events = json.load(open("%s/%s.json" % (work, name)))["traceEvents"]
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    slices = collections.defaultdict(list)
    arrows = collections.defaultdict(list)
    for e in events:
        assert isinstance(e["pid"], int) and isinstance(e["tid"], int) and isinstance(e["name"], str), e
        assert e["ph"] in "MXiCsf", e
        assert e["ph"] == "M" or isinstance(e["ts"], float), e
        if e["ph"] == "X":
            assert e["dur"] >= 0 and (e["pid"], e["tid"]) in threads, e
            slices[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
        elif e["ph"] == "i":
            assert e["s"] == "t" and (e["pid"], e["tid"]) in threads, e
        elif e["ph"] == "C":
            assert all(isinstance(v, (int, float)) for v in e["args"].values()), e
        elif e["ph"] in "sf":
            arrows[e["id"]].append(e)
    for a in slices.values():
        a.sort()
        assert all(x[1] <= y[0] + 1e-6 for x, y in zip(a, a[1:])), a
    for ends in arrows.values():
        assert sorted(e["ph"] for e in ends) == ["f", "s"], ends
        for e in ends:
            assert any(b <= e["ts"] <= c for b, c in slices[e["pid"], e["tid"]]), e
    return events, arrows

def count(events, **fields):
    return sum(all(e.get(k) == v for k, v in fields.items()) for e in events)

events, arrows = read("s")
flows = list(csv.DictReader(open(work + "/s/flows.csv")))
rows = collections.Counter(r["event"] for r in csv.DictReader(open(work + "/s/events.csv")))
processes = {e["args"]["name"] for e in events if e["name"] == "process_name"}
assert {"host0", "host4", "leaf0", "spine0"} <= processes, processes
data = [ends for ends in arrows.values() if ends[0]["name"] == "data"]
assert len(data) == len(flows) == count(events, ph="X", cat="send") == count(events, ph="X", cat="recv")
assert count(events, ph="X", cat="pause") == rows["paused"] > 0, rows
# An arrow between pauses goes from a port of the node that stops to the port that it stops.
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
ports = {(e["pid"], e["tid"]): e["args"]["name"].split()[1] for e in events
         if e["name"] == "thread_name" and e["args"]["name"].startswith("port ")}
pauses = [sorted(ends, key=lambda e: e["ph"]) for ends in arrows.values() if ends[0]["name"] == "pause"]
assert 0 < len(pauses) < rows["paused"], (len(pauses), rows["paused"])
for follows, leads in pauses:
    stopped = ports[follows["pid"], follows["tid"]]
    assert stopped.split("->")[1].split("#")[0] == names[leads["pid"]], (stopped, names[leads["pid"]])
    assert abs(follows["ts"] - leads["ts"]) < 0.01, (follows, leads)
assert count(events, ph="i", cat="drop") == rows["drop"] > 0, rows
assert count(events, ph="X", cat="fault") == rows["link_down"] + rows["fault"] == 4, rows
down = [e for e in events if e["name"] == "link_down"]
assert all(abs(e["ts"] - 10) < 1 and abs(e["dur"] - 20) < 1 for e in down), down
series = list(csv.DictReader(open(work + "/s/series.csv")))
counters = [e for e in events if e["ph"] == "C"]
assert [(e["ts"], e["args"]["value"]) for e in counters] == \
    [(float(r["time_ns"]) / 1e3, int(r["value"])) for r in series], "counters"
ends = {(r["src"], r["dst"]): float(r["end_ns"]) / 1e3 for r in flows}
for e in events:
    if e.get("cat") == "send" and e["ph"] == "X":
        assert any(abs(e["ts"] + e["dur"] - t) < 1e-6 for t in ends.values()), e
part, _ = read("part")
for e in part:
    assert e["ph"] != "X" or e["ts"] <= 25 and e["ts"] + e["dur"] >= 20, e
    assert e["ph"] not in "iC" or 20 <= e["ts"] <= 25, e
assert 0 < len(part) < len(events)
few, _ = read("few")
_, some = read("some") # each arrow has both of its ends, though most events are left out
assert some, "no arrow"
assert sum(e["ph"] != "M" for e in few) <= 10
events, _ = read("cache")
rows = collections.Counter(r["event"] for r in csv.DictReader(open(work + "/cache/events.csv")))
assert count(events, ph="i", cat="cache") == sum(rows[k] for k in ("l2_hit", "expand", "to_l1", "to_l2",
    "to_l3", "write_back")) > 0, rows
END
[ $failures -eq 0 ]
