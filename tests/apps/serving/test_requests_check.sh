#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Goal: `rocesim check` tells traces of requests by their content, counts them as another program
# does, and refuses broken ones by line and column with exit status 2.
# Method: a count of the shipped trace by Python; small CSV files.
# Not pinned: the words of the table.
set -eu
. tests/script.sh

cp scenarios/mooncake/small.jsonl "$work/trace.anything"
"$ROCESIM" check --json "$work/trace.anything" >"$work/ours"
python3 - "$work/trace.anything" "$work/ours" <<'PYTHON' || fail "counts of JSON lines"
import json, statistics, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
ours = json.load(open(sys.argv[2]))
times = sorted(row["timestamp"] for row in rows)
gaps = [(b - a) / 1000 for a, b in zip(times, times[1:])]
seen, hits, blocks = set(), 0, 0
for row in rows:
    blocks += len(row["hash_ids"])
    for block in row["hash_ids"]:
        if block not in seen:
            break
        hits += 1
    seen.update(row["hash_ids"])
theirs = {"format": "mooncake-jsonl", "requests": len(rows), "blocks": blocks, "distinct_blocks": len(seen),
          "leading_blocks_seen": hits}
for name, value in theirs.items():
    assert ours[name] == value, (name, ours[name], value)
for name, key in (("prompt_tokens", "input_length"), ("output_tokens", "output_length")):
    values = sorted(row[key] for row in rows)
    assert ours[name]["sum"] == sum(values) and ours[name]["max"] == values[-1]
    assert ours[name]["p50"] == values[(len(values) + 1) // 2 - 1]
assert abs(ours["requests_per_s"] - 1 / statistics.mean(gaps)) < 1e-9
assert abs(ours["gap_cv"] - statistics.pstdev(gaps) / statistics.mean(gaps)) < 1e-6
PYTHON

printf '%s\r\n' TIMESTAMP,ContextTokens,GeneratedTokens '2023-11-16 18:17:03.5,100,10' \
    '2023-11-16 18:17:05.5,300,0' >"$work/azure"
"$ROCESIM" check "$work/azure" >"$work/out" || fail "a trace of Azure"
grep -q 'requests of Azure (CSV)' "$work/out" || fail "the format of Azure"
grep -q 'requests  2 in 2.000 s' "$work/out" || fail "the times of Azure"
grep -q 'prompts   400 tokens; mean 200.0' "$work/out" || fail "the prompts of Azure"
printf 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,a,1,2,3,b\n' >"$work/burst"
"$ROCESIM" check "$work/burst" | grep -q 'requests of BurstGPT' || fail "a trace of BurstGPT"

printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,100\n' >"$work/bad"
status=0
"$ROCESIM" check "$work/bad" >"$work/out" 2>"$work/err" || status=$?
[ $status = 2 ] || fail "exit status $status of a broken trace"
[ ! -s "$work/out" ] || fail "a broken trace is described"
[ "$(cat "$work/err")" = "$work/bad:2:1: the row has 2 cells, expected 3 as the first line has" ] ||
    fail "$(cat "$work/err")"

# Traffic of kind flows names the application that reads such a file.
printf 'topology: {star: {hosts: 2}}\ntraffic: [{flows: {file: azure}}]\n' >"$work/flows.yaml"
"$ROCESIM" check "$work/flows.yaml" >/dev/null 2>"$work/err" && fail "a trace of requests is taken for flows"
grep -q 'a trace of requests, which traffic of kind serving reads' "$work/err" || fail "$(cat "$work/err")"
[ $failures = 0 ]
