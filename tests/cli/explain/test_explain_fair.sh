#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/explain/test_explain_fair.sh - `rocesim explain` accuses nothing that is healthy.
#
# Goal: stops that are open where events.csv is cut last no longer than ports.csv counts; the target of an
# incast is no slow host; losses of all links are no bad cable, and a bad cable among them is told; drops
# without another cause are told with their reason; each remedy is one that `rocesim check` accepts.
# Method: small scenarios, whose causes, counters and remedies are compared.
# Not pinned: words, and numbers that the run's own files do not have.
set -u
. tests/script.sh
start_forks

# explain NAME LINE...: runs the scenario of these lines and writes NAME.json.
explain() {
    printf '%s\n' "name: $1" "${@:2}" >"$work/$1.yaml"
    rocesim run "$work/$1.yaml" -o "$work/$1" --quiet >/dev/null 2>"$work/err"
    rocesim explain "$work/$1" --json >"$work/$1.json" 2>"$work/err" || fail "$1: $(cat "$work/err")"
}
fabric='topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps,
    fabric-rate: 100Gbps, delay: 500ns}}'
star='topology: {star: {hosts: 4, rate: 100Gbps, delay: 500ns}}'
slow='faults: [{part: host1, kind: slow-receiver, rate: 60Gbps}]'
incast='traffic: [incast: {to: host1, senders: 3, bytes: 1MB}]'

# A pause is under way at the third row, the sixth and so on.
for rows in 2 12 22; do
    explain "cut$rows" "$star" "$slow" "outputs: {events-max: $rows}" \
        'nic: {congestion-control: none}' "$incast"
done
ring='topology: {graph: {nodes: [switch: [s0, s1, s2, s3, s4], host: [h0, h1, h2, h3, h4]], links: [s0--s1,
    s1--s2, s2--s3, s3--s4, s4--s0, h0--s0, h1--s1, h2--s2, h3--s3, h4--s4]}}'
explain deadlock "$ring" 'stall-after: 1ms' 'until: 20ms' 'switch: {buffer: 1MB}' \
    'nic: {congestion-control: none, timeout: 0}' \
    'traffic: [flows: {list: [h0 h2 2MB 0us, h1 h3 2MB 0us, h2 h4 2MB 0us, h3 h0 2MB 0us, h4 h1 2MB 0us]}]'
rows=$(($(wc -l <"$work/deadlock/events.csv") - 2))
explain deadlock-cut "$ring" 'stall-after: 1ms' 'until: 20ms' 'switch: {buffer: 1MB}' \
    "outputs: {events-max: $rows}" 'nic: {congestion-control: none, timeout: 0}' \
    'traffic: [flows: {list: [h0 h2 2MB 0us, h1 h3 2MB 0us, h2 h4 2MB 0us, h3 h0 2MB 0us, h4 h1 2MB 0us]}]'
rocesim explain "$work/cut2" | grep -q '^events.csv ends at ' || fail "the text does not tell of the cut"

trim='switch: {buffer: 4MB, pfc: {enabled: false}, trim: {enabled: true}}'
explain target "$fabric" "$trim" 'nic: {transport: uec-rud}' \
    'traffic: [incast: {to: host0, senders: 6, bytes: 1MB}, permutation: {bytes: 1MB}]'
# READs that meet between groups: only the ends of their paths are known.
explain reads 'topology: {dragonfly: {switches: 3, hosts-per-switch: 2, global-links: 1, delay: 300ns}}' \
    'switch: {buffer: 4MB, pfc: {enabled: false}}' 'nic: {transport: irn}' 'seed: 377' \
    'traffic: [flows: {verb: read, list: [host8 host17 208KB 6us, host10 host9 267KB 2us,
    host12 host6 244KB 26us,
    host17 host9 134KB 45us, host11 host13 278KB 9us, host18 host3 236KB 30us, host4 host2 99KB 4us]}]'
explain losses "$fabric" 'link: {loss-rate: 0.0005}' 'nic: {timeout: 6}' \
    'traffic: [permutation: {bytes: 3MB}]'
explain cable "$fabric" 'link: {loss-rate: 0.0005}' 'links: {"leaf1--host5": {loss-rate: 0.02}}' \
    'nic: {timeout: 6}' 'traffic: [permutation: {bytes: 2MB}]'
explain one "$fabric" 'links: {"leaf1--host5": {loss-rate: 0.02}}' 'nic: {timeout: 6}' \
    'traffic: [permutation: {bytes: 500KB}]'
explain gone "$star" 'nic: {timeout: 6}' 'traffic: [serving: {prefill: 1, decode: 1, requests: 20, rate: 1000,
    prompt-tokens: 500, output-tokens: 5, fail-host: host1, fail-at: 12ms, fail-detect: 10ms}]'
narrow='topology: {leaf-spine: {leaves: 2, spines: 1, hosts-per-leaf: 4, host-rate: 100Gbps,
    fabric-rate: 50Gbps}}'
explain burst "$narrow" 'switch: {buffer: 1MB, pfc: {alpha: 1/64}}' 'nic: {congestion-control: none}' \
    'outputs: {flows: false}' 'traffic: [flows: {list: [host0 host4 300KB 0us, host1 host5 300KB 0us,
    host2 host6 300KB 0us, host0 host4 1KB 2ms]}]'
# Every remedy of every transport is one that its scenario can have, and none changes nothing.
table() {
    tables="${tables:-} $1"
    explain "$@" 'traffic: [incast: {to: host0, senders: 6, bytes: 100KB}, permutation: {bytes: 50KB}]'
}
lossy='switch: {buffer: 1MB, pfc: {enabled: false}}'
small='switch: {buffer: 1MB, pfc: {alpha: 1/64}, ecn: {kmin: 20KB, kmax: 40KB}}'
storm='faults: [{part: host1, kind: pause-storm, at: 5us, until: 400us}]'
for transport in go-back-n irn uec-rud mrc; do
    table "lossy-$transport" "$fabric" "$lossy" "nic: {transport: $transport, timeout: 6}" \
        'links: {"leaf0--host1": {loss-rate: 0.02}}'
done
for nic in 'transport: uec-rod' 'transport: mrc' 'congestion-control: hpcc' 'congestion-control: none'; do
    table "pfc-${nic##* }" "$fabric" "$small" "nic: {$nic}" "$storm"
done
(cd "$work" && python3 - $tables <<'END') >"$work/sets"
import json, sys
for name in sys.argv[1:]:
    causes = json.load(open(name + ".json"))["causes"]
    for values in sorted({r["set"] for c in causes for r in c["remedies"]}):
        print(name, values)
END
[ "$(wc -l <"$work/sets")" -ge 25 ] || fail "few remedies: $(cat "$work/sets")"
while read -r name values; do
    # shellcheck disable=SC2086 # a remedy may have several values
    rocesim check "$work/$name/scenario.yaml" --set $values >/dev/null 2>"$work/err" ||
        fail "$name: $values: $(cat "$work/err")"
done <"$work/sets"

python3 - "$work" <<'END' || fail "causes"
import csv, json, sys
work, wrong = sys.argv[1], []
def told(name):
    return json.load(open(f"{work}/{name}.json"))
def expect(what, seen, good):
    if not good:
        wrong.append((what, seen))
for rows in (2, 12, 22):
    run = told(f"cut{rows}")
    ports = csv.DictReader(open(f"{work}/cut{rows}/ports.csv"))
    counted = {r["port"]: float(r["paused_prio3_ns"]) for r in ports}
    stopped = run["causes"][0]["pauses"][0]["paused_ps"] / 1000
    expect(f"cut {rows}: left out", run["events_left_out"], run["events_left_out"] > 0)
    most = min(counted["switch0->host1"], run["events_end_ps"] / 1000)
    expect(f"cut {rows}: stopped", stopped, stopped <= most)
for name in "deadlock", "deadlock-cut":
    kind = told(name)["causes"][0]["kind"]
    expect(name, kind, kind == "deadlock" and (told(name)["events_left_out"] > 0) == (name != "deadlock"))
def causes(name):
    return [(c["kind"], c["place"]) for c in told(name)["causes"]]
expect("target", causes("target"), causes("target")[0] == ("incast", "leaf0->host0") and
       "slow-host" not in dict(causes("target")))
expect("reads", causes("reads"), "slow-host" not in dict(causes("reads")))
expect("losses", causes("losses"), causes("losses")[0] == ("lossy-links", "fabric") and
       "corrupting-link" not in dict(causes("losses")))
expect("cable", causes("cable"), causes("cable")[0] == ("corrupting-link", "leaf1--host5") and
       len([c for c in causes("cable") if c[0] == "corrupting-link"]) == 1)
expect("one", causes("one"), causes("one")[0] == ("corrupting-link", "leaf1--host5"))
drops = json.load(open(f"{work}/gone/summary.json"))["drops"]["unknown-qp"]
gone = [c for c in told("gone")["causes"] if c["kind"] == "drops"]
expect("gone", (drops, gone), drops > 0 and gone and str(drops) in gone[0]["sentence"] and
       "unknown-qp" in gone[0]["sentence"] and gone[0]["place"] == "host1")
expect("burst", causes("burst"), causes("burst")[0] == ("burst", "leaf0->spine0"))
for line in wrong:
    print(*line)
sys.exit(bool(wrong))
END
[ $failures -eq 0 ]
