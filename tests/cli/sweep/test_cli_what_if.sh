#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_cli_what_if.sh - rocesim what-if: each part fails once, and what breaks is named.
#
# Goal: each link, switch and change is a row; what breaks is what is planted (a host that only one link
# reaches); the printed command gives the row's figures; a folder keeps all rows and the same command goes on;
# JSON has all rows, those that break something first; wrong options are refused.
# An interrupted command prints the rows that are finished, and its folder goes on.
# Method: a leaf-spine of four hosts, and a ring of four switches.
# Does not pin: the order of rows that break equally much, and the figures.
set -u
. tests/script.sh

cat >"$work/small.yaml" <<'END'
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2}}
link: {rate: 100Gbps, delay: 500ns}
network: {convergence: 20us}
traffic:
  - incast: {to: host0, senders: 1, bytes: 400KB, from: host3}
  - permutation: {bytes: 200KB}
END

# rows KIND: prints the number of rows of this kind.
rows() { awk -F, -v kind="$1" '$1 == kind' "$work/out/what-if.csv" | wc -l; }

"$ROCESIM" what-if "$work/small.yaml" -o "$work/out" -j 2 --quiet >"$work/table" 2>"$work/said" ||
    fail "status $?: $(cat "$work/said")"
for pair in link:4 access:4 switch:4 incast:1; do
    [ "$(rows "${pair%:*}")" = "${pair#*:}" ] || fail "there are $(rows "${pair%:*}") rows ${pair%:*}"
done
[ "$(rows threshold)" -ge 5 ] || fail "there are $(rows threshold) rows of thresholds"
[ "$(rows receiver)" -ge 1 ] && [ "$(rows optic)" -eq 4 ] || fail "receivers or optics are missing"
grep -q '^access,.*host0 goes down,[a-z]*,[1-9].*unfinished flows' "$work/out/what-if.csv" ||
    fail "the link of a host breaks nothing: $(grep '^access' "$work/out/what-if.csv")"
grep -q '^switch,spine0 goes down,done,0,' "$work/out/what-if.csv" ||
    fail "flows do not survive a spine: $(grep '^switch' "$work/out/what-if.csv")"

# The command of a row repeats it, and what-if.csv has it, too.
commands=0
while IFS= read -r line; do
    command=${line#    rocesim }
    eval "\"\$ROCESIM\" $command -o \"\$work/again\" --quiet" >/dev/null 2>&1
    drops=$(sed -n 's/^ *"dropped": \([0-9]*\),*$/\1/p' "$work/again/summary.json" | head -n 1)
    row=$(grep -B 1 -F -- "$line" "$work/table" | head -n 1)
    [ "$(cut -c 40- <<<"$row" | awk '{print $3}')" = "$drops" ] || fail "$command dropped $drops: $row"
    python3 -c 'import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["command"] == "rocesim " + sys.argv[2]]
sys.exit([row["drops"] for row in rows] != [sys.argv[3]])' "$work/out/what-if.csv" "$command" "$drops" ||
        fail "what-if.csv does not have $command with $drops drops"
    commands=$((commands + 1))
done < <(grep -F '    rocesim run' "$work/table" | head -n 4)
[ $commands -eq 4 ] || fail "the table has $commands commands: $(cat "$work/table")"

# A second call of this command finds all runs there; another scenario is refused.
"$ROCESIM" what-if "$work/small.yaml" -o "$work/out" --quiet >"$work/table2" 2>"$work/said" ||
    fail "again: $(cat "$work/said")"
cmp -s "$work/table" "$work/table2" || fail "the table differs the second time"
echo '# another' >>"$work/small.yaml"
"$ROCESIM" what-if "$work/small.yaml" -o "$work/out" --quiet >/dev/null 2>"$work/said" &&
    fail "a folder of another scenario is taken"

cat >"$work/ring.yaml" <<'END'
topology:
  graph:
    nodes:
      - switch: [s0, s1, s2, s3]
      - host: [h0, h1, h2, h3]
    links: [s0--s1, s1--s2, s2--s3, s3--s0, s0--h0, s1--h1, s2--h2, s3--h3]
link: {rate: 100Gbps, delay: 500ns}
network: {convergence: 0s}
nic: {congestion-control: none}
switch: {buffer: 1MB}
stall-after: 1ms
until: 20ms
traffic:
  - flows:
      list: [h0 h2 2MB 0us, h1 h3 2MB 0us, h2 h0 2MB 0us, h3 h1 2MB 0us]
END
"$ROCESIM" what-if "$work/ring.yaml" --kind link --kind threshold --json --quiet >"$work/ring.json" \
    2>"$work/said" || fail "ring: $(cat "$work/said")"
python3 - "$work/ring.json" <<'END' || fail "ring: $(head -c 3000 "$work/ring.json")"
import json, sys
whatif = json.load(open(sys.argv[1]))
links = [row for row in whatif["changes"] if row["kind"] == "link"]
assert len(links) == 4
assert all(row["command"].startswith("rocesim run ") for row in whatif["changes"])
keys = [bool(row["breaks"]) for row in whatif["changes"]]
assert any(keys), "nothing breaks"
assert keys == sorted(keys, reverse=True), "rows that break nothing stand before others"
END

# Copies of one run and runs from the beginning (as ties by a rotor need) have the same figures where ties
# do not matter; progress is printed without a terminal; SIGINT prints what is finished.
cat >"$work/load.yaml" <<'END'
topology: {leaf-spine: {leaves: 4, spines: 3, hosts-per-leaf: 4}}
link: {rate: 100Gbps, delay: 300ns}
network: {convergence: 5us}
nic: {congestion-control: none}
switch: {buffer: 2MB}
traffic:
  - poisson: {from: host*, to: host*, sizes: fbhadoop, load: 0.6, stop: 100us}
  - incast: {to: host0, senders: 8, bytes: 200KB, start: 60us}
END
"$ROCESIM" what-if "$work/load.yaml" --kind link --kind switch --kind receiver --kind optic -o "$work/load" \
    >/dev/null 2>"$work/said" || fail "load: $(cat "$work/said")"
grep -q '^[0-9]* of 28 runs in [0-9]* s' "$work/said" || fail "no progress: $(cat "$work/said")"
python3 - "$work/load/what-if.csv" "$ROCESIM" "$work/one" <<'END' || fail "a command does not repeat its row"
import csv, json, shlex, subprocess, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 27, len(rows)
for row in rows[::4]:
    command = shlex.split(row["command"])
    subprocess.run([sys.argv[2], *command[1:], "-o", sys.argv[3], "--quiet", "--yes", "--explain"],
                   capture_output=True)
    summary = json.load(open(sys.argv[3] + "/summary.json"))
    explained = json.load(open(sys.argv[3] + "/explain.json"))
    flows = summary["flows"]
    again = [summary["packets"]["dropped"], summary["pfc"]["pauses"],
             flows["count"] - flows["completed"],
             sum(len(cause.get("victims", [])) for cause in explained["causes"])]
    columns = ("drops", "pauses", "unfinished", "victims")
    assert [int(row[column]) for column in columns] == again, (row, again)
    assert abs(float(row["worst_fct_us"]) - flows["fct_us"]["max"]) < 0.001, (row, flows["fct_us"])
END
"$ROCESIM" what-if "$work/load.yaml" -j 1 -o "$work/cut" >"$work/table" 2>"$work/said" &
pid=$!
for ((i = 0; i < 300; i++)); do
    [ "$(grep -c row "$work/cut/rows.jsonl" 2>/dev/null)" -ge 3 ] 2>/dev/null && break
    sleep 0.1
done
kill -TERM $pid
wait $pid
[ $? -eq 1 ] && grep -q '^interrupted: ' "$work/said" && grep -q '^without changes' "$work/table" ||
    fail "interrupted: $(cat "$work/said" "$work/table")"
kept=$(grep -c row "$work/cut/rows.jsonl")
"$ROCESIM" what-if "$work/load.yaml" -o "$work/cut" >/dev/null 2>"$work/said" ||
    fail "goes on: $(cat "$work/said")"
rows=$(wc -l <"$work/cut/what-if.csv")
[ "$(grep -c row "$work/cut/rows.jsonl")" -eq "$rows" ] && [ "$kept" -ge 3 ] ||
    fail "rows.jsonl: $(wc -l "$work/cut/rows.jsonl" "$work/cut/what-if.csv")"

refused() { # TEXT ARGUMENT...
    "$ROCESIM" what-if "${@:2}" >"$work/said" 2>&1
    [ $? -eq 2 ] && grep -q "$1" "$work/said" || fail "${*:2}: $(cat "$work/said")"
}
refused "unknown --kind 'links'" "$work/ring.yaml" --kind links
refused 'expected' "$work/ring.yaml" --at 3parsecs
refused 'expected one scenario' # no operand
exit $((failures > 0))
