#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/results/test_result_pages.sh - what results say of themselves: the story, cut lists, described pages.
#
# Goal: messages over NVLink and those beyond flows-max are told apart from flows; the critical path adds up
# to the iteration; every value that a page names exists in the schema; trims are part of the story.
# Method: a small training job, serving and MRC, and python. Not pinned: the wording of sentences.
set -u
. tests/script.sh

run() {
    "$ROCESIM" run "scenarios/$2.yaml" -o "$work/$1" --quiet "${@:3}" >"$work/$1.txt" 2>&1 ||
        fail "$2: $(tail -n 3 "$work/$1.txt")"
}
run training training/gpt --set gpus=16 --set tp=4 --set pp=2 --set dp=2 --set layers=2 \
    --set microbatches=2 --set traffic[0].training.flows-max=1600 --explain
run serving serving/serving --set requests=8
run mrc uec/mrc
python3 - "$work" <<'PY' || fail "the results"
import csv
import json
import re
import sys

wrong = []


def read(run, name="summary.json"):
    return json.load(open(f"{sys.argv[1]}/{run}/{name}"))


def check(good, what):
    if not good:
        wrong.append(what)


training = read("training")
app = training["apps"][0]
with open(f"{sys.argv[1]}/training/flows.csv") as file:
    media = [row["medium"] for row in csv.DictReader(file)]
check(media.count("host") == training["local_flows"]["count"], "rows within hosts")
check(media.count("network") == training["flows"]["count"], "rows over the network")
check(training["flows"]["left_out"] == app["messages"] - len(media), "messages beyond flows-max")
check(any("flows-max" in text for text in training["story"]), "the story says what flows-max left out")
explained = read("training", "explain.json")
check(any("flows-max" in text for text in explained["notes"]), "explain says what flows-max left out")
check(bool(explained["verdict_text"]), "explain has a sentence on the whole run")
total = sum(app["critical_ms"].values())
check(abs(total - app["iteration_ms"]) < 1e-6 * total, "the critical path adds up to the iteration")
check(len(app["by_rank"]) == 16 and app["by_rank_left_out"] == 0, "a row for each rank")
serving = read("serving")["apps"][0]
check(serving["ttft_cdf"][-1]["percent"] == 100, "a distribution ends at 100 %")
one = [goal for goal in serving["goals"] if goal["factor"] == 1]
same = one and abs(one[0]["goodput_rps"] - serving["goodput_rps"]) < 1e-9
check(same, "the goals themselves are among their multiples")
mrc = read("mrc")
check(mrc["trimmed"] > 0 and any("trimmed" in text for text in mrc["story"]), "trims are part of the story")

# Every value that a page names is in the schema of some of its applications, or of the summary.
schema = read("mrc", "schema.json")


def find(fields, path):
    for step in re.split(r"\[\d+\]\.?|\.", path):
        if step in ("", "*", "#"):
            continue
        if fields is None or step not in fields:
            return False
        fields = fields[step].get("properties", fields[step].get("items", {}).get("properties"))
    return True


COUNTED = ("transport.", "transports", "hottest_ports", "nics")  # described in words alone
for page in schema["pages"]:
    tables = [schema["summary"]["properties"]]
    if page["of"] == "apps":
        tables = [schema["summary"]["apps_by_kind"][kind] for kind in page["kinds"]]
    if page["of"] == "nics":
        tables = [schema["summary"]["nics_by_part"][page["needs"]]]
    paths = [value["path"] for value in page["facts"]]
    for chart in page["charts"]:
        rows = chart.get("rows", "")
        if chart["kind"] == "tracks":
            continue
        names = [value["path"] for value in chart["values"]] + [chart.get("x", "#"), chart.get("by", "#")]
        paths += [f"{rows}.{name}" if rows else name for name in names]
    for path in paths:
        if path.startswith("ports.csv"):
            continue
        if page["of"] == "summary" and (path.startswith(COUNTED) or path.startswith("flows.slowdown.")):
            continue
        check(any(find(table, path) for table in tables), f"{page['name']}: {path}")
for text in wrong:
    print("wrong:", text)
sys.exit(bool(wrong))
PY
exit $((failures > 0))
