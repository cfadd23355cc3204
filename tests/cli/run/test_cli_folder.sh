#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_folder.sh - result folders are whole, or what they were; and say what they hold.
#
# Goal: a run that is killed, hung up or out of space loses no earlier results and does not block its
# folder; manifest, topology and schema agree with the files; every file that is not whole is named.
# Method: kill -9, SIGHUP and a limit of file size, in folders with and without results.
# Not pinned: power cuts.
set -u
. tests/script.sh
start_forks

quick=scenarios/quickstart.yaml
"$ROCESIM" run $quick -o "$work/a" --quiet >/dev/null || fail "run"
[ -e "$work/a/.unfinished" ] && fail "an unfinished part of a finished run"

# begun FOLDER: starts a long run into it, in $child; waits until it writes.
begun() {
    # shellcheck disable=SC2086 # options
    setsid "$ROCESIM" run $quick -o "$1" --quiet --until 100s \
        --set 'traffic[0].incast.every=10ms' >"$work/log" 2>&1 &
    child=$!
    for _ in $(seq 6000); do
        [ -e "$1/.unfinished/events.csv" ] && sleep 0.2 && return
        sleep 0.1
    done
    fail "nothing is written: $(cat "$work/log")"
}

cp -r "$work/a" "$work/before"
begun "$work/a"
kill -KILL $child
wait $child 2>/dev/null
diff -r -x .unfinished "$work/before" "$work/a" || fail "a killed run changed earlier results"
begun "$work/new"
kill -KILL $child
wait $child 2>/dev/null
for folder in a new; do
    "$ROCESIM" run $quick -o "$work/$folder" --quiet --seed 2 >/dev/null ||
        fail "$folder: refused after a kill"
    [ -e "$work/$folder/.unfinished" ] && fail "$folder: an unfinished part is left"
    grep -q '"seed": 2,' "$work/$folder/summary.json" || fail "$folder: not the new results"
done
diff -r -I '"wall_' "$work/a" "$work/new" || fail "other results in a folder that was used"

begun "$work/hup"
kill -HUP $child
wait $child
[ $? -eq 1 ] || fail "SIGHUP: exit status"
grep -q '"ended": "interrupted"' "$work/hup/summary.json" || fail "SIGHUP: no results"

# Files may not grow: each is named, and what was there stays.
cp -r "$work/a" "$work/small"
limit=$(($(stat -c %s "$work/a/scenario.yaml") / 1024 + 1)) # which is written before the run
(ulimit -f $limit && "$ROCESIM" run $quick -o "$work/small" --quiet >"$work/said" 2>"$work/log")
[ $? -eq 1 ] || fail "a limit of file size: $(cat "$work/log")"
grep -qF "files     not whole, in $work/small/.unfinished/; $work/small/ is as it was" "$work/said" ||
    fail "the folder is said to hold the new results: $(cat "$work/said")"
grep -q "receiver.pcap.gz: File too large" "$work/log" &&
    grep -q "schema.json: cannot write: File too large; the file is incomplete" "$work/log" ||
    fail "not named: $(cat "$work/log")"
diff -r -x .unfinished "$work/a" "$work/small" || fail "a full disk changed earlier results"

# A folder with something else is refused still, also next to an unfinished part.
mkdir -p "$work/mine/.unfinished"
touch "$work/mine/thesis.tex"
"$ROCESIM" run $quick -o "$work/mine" >/dev/null 2>"$work/log" && fail "a foreign folder is accepted"
grep -q "holds 'thesis.tex'" "$work/log" || fail "foreign folder: $(cat "$work/log")"

# -- what the folder says

command -v python3 >/dev/null || { echo "skip: no python3 to read JSON"; exit $((failures > 0)); }
"$ROCESIM" schema >"$work/schema.json" || fail "schema"
"$ROCESIM" params --json >"$work/params.json" || fail "params --json"
"$ROCESIM" run $quick --set outputs.hops-max=9 --set outputs.operations-max=9 -o "$work/all" \
    >/dev/null 2>&1 || fail "a run that writes all tables"
python3 - "$work" <<'END' || fail "manifest, topology or schema"
import csv, json, os, sys
work = sys.argv[1]
folder = work + "/a/"
read = lambda name: json.load(open(name))
manifest, summary = read(folder + "manifest.json"), read(folder + "summary.json")
for key in ("version", "scenario", "seed", "digest", "ended", "sim_time_ps"):
    assert manifest[key] == summary[key], key
names = {f["name"] for f in manifest["files"]}
there = {os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(folder) for f in fs}
assert names == there - {"manifest.json"}, names ^ there
for f in manifest["files"]:
    assert f.get("bytes", f.get("wall_bytes")) == os.path.getsize(folder + f["name"]), f
topology = read(folder + "topology.json")
assert len(topology["nodes"]) == summary["network"]["nodes"]
assert len(topology["links"]) == summary["network"]["links"]
ports = {p for n in topology["nodes"] for p in n["ports"]}
rows = list(csv.DictReader(open(folder + "ports.csv")))
assert ports == {r["port"] for r in rows}
assert ports == {l[e] for l in topology["links"] for e in ("a_port", "b_port")}
schema = read(work + "/schema.json")
assert schema == read(folder + "schema.json")
assert schema["parameters"] == read(work + "/params.json")
metrics = {(m["of"], m["name"]): m for m in schema["metrics"]}
assert metrics["port", "queue_bytes"]["unit"] == "bytes" and metrics["port", "queue_bytes"]["per_class"]
assert metrics["qp", "rate_bps"]["unit"] == "bit/s" and metrics["switch", "buffer_bytes"]["help"]
for name, table in schema["tables"].items():
    assert [c["name"] for c in table["columns"]] == next(csv.reader(open(work + "/all/" + name))), name
paths = [p["path"] for p in schema["parameters"]]
assert "nic.mtu" in paths and len(paths) == len(set(paths))
# What chooses a part by name says the names: each of them, and no other, is one of a scenario's.
by_name = {p["path"]: p["choices"] for p in schema["parameters"]
           if p["type"] in ("name", "string") and "choices" in p}
assert {"nic.congestion-control", "nic.transport", "nic.detailed.store", "network.routes",
        "switch.mmu"} <= set(by_name)
for path, names in by_name.items():
    default = next(p["default"] for p in schema["parameters"] if p["path"] == path)
    assert default in names and len(names) == len(set(names)), (path, default, names)
with open(work + "/choices", "w") as out:
    for path, names in by_name.items():
        print("\n".join(f"{path}={name}" for name in names), file=out)
assert set(summary) <= set(schema["summary"]["properties"])
app = summary["apps"][0]
told = set(app) - {"kind", "transfers_done", "units", "flows"}
assert told <= set(schema["summary"]["apps_by_kind"][app["kind"]]), told
END

while read -r setting; do
    rocesim check scenarios/quickstart.yaml --set "$setting" >"$work/log" 2>&1 ||
        ! grep -qE "no [a-z ]+ \"|expected one of|did you mean" "$work/log" ||
        fail "$setting: $(cat "$work/log")"
done <"$work/choices"

# -- scenario files by their schema

"$ROCESIM" schema scenarios >/dev/null 2>&1 && fail "schema scenarios"
"$ROCESIM" schema scenario >"$work/scenario.json" || fail "schema scenario"
python3 -c 'import yaml, jsonschema' 2>/dev/null ||
    { echo "skip: no yaml and jsonschema"; exit $((failures > 0)); }
python3 - "$work" <<'END' || fail "the schema of scenarios"
import glob, json, re, sys, jsonschema, yaml

class Loader(yaml.SafeLoader):  # YAML 1.2: "on" is a word
    pass

truth = "tag:yaml.org,2002:bool"
Loader.yaml_implicit_resolvers = {
    letter: [pair for pair in pairs if pair[0] != truth]
    for letter, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver(truth, re.compile("^(true|false)$"), list("tf"))
read = lambda name: yaml.load(open(name), Loader)
schema = json.load(open(sys.argv[1] + "/scenario.json"))
jsonschema.Draft202012Validator.check_schema(schema)
check = jsonschema.Draft202012Validator(schema)
files = [f for f in glob.glob("scenarios/**/*.yaml", recursive=True) if ".sweep." not in f]
good = 0
for name in files:
    scenario = read(name)
    if not isinstance(scenario, dict) or "scenario" in scenario or "traffic" not in scenario:
        continue  # a sweep, or constants
    errors = [f"{name}: {list(e.absolute_path)}: {e.message}" for e in check.iter_errors(scenario)]
    assert not errors, errors[:3]
    good += 1
assert good > 10, good
for path in glob.glob(sys.argv[1] + "/a/scenario.yaml"):  # the resolved one: every key there is
    errors = [f"{list(e.absolute_path)}: {e.message}" for e in check.iter_errors(read(path))]
    assert not errors, errors[:3]
for wrong in ({"nic": {"mtuu": 4096}}, {"nic": {"model": 3}}, {"traffic": [{"incasts": {}}]},
              {"topology": {"star": {}, "fat-tree": {}}}, {"nic": {"transport": "go-back"}},
              {"nodes": {"host0": {"nic": {"congestion-control": "dcqnc"}}}}, {"switch": {"mmu": "hpc"}},
              {"nic": {"dcqcn": {"gian": 1}}},
              {"switch": {"ecn": {"kmin": [1]}}}, {"nick": {}}):
    assert not check.is_valid(wrong), wrong
END
exit $((failures > 0))
