#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_scale_up_random.sh - random scale-up networks, and a large one.
#
# Goal: nothing is lost between accelerators: all transfers end, and both ends of each link count the
# same packets and bytes, with repetitions apart; digests are equal on 1 and 3 threads; 1024
# accelerators take less than 128 MiB; what scale-up networks cannot do is refused; explain names links
# that wait for credits and links that repeat packets.
# Method: SCALE_UP_RANDOM scenarios (24) from the number SCALE_UP_FIRST (1) on; their networks, protocols,
# credits, patterns and messages follow from the number. To run one again: SCALE_UP_FIRST=N
# SCALE_UP_RANDOM=1 ctest -R test_scale_up_random.
# Does not pin: times; tests/net/test_scale_up.sh has closed forms.
set -u
. tests/script.sh
start_forks
count=${SCALE_UP_RANDOM:-$(few 24 8)}
first=${SCALE_UP_FIRST:-1}
make_scenario() {
    awk -v seed="$1" '
    function pick(list, n, a) { n = split(list, a, " "); return a[1 + int(rand() * n)] }
    BEGIN {
        srand(seed)
        gpus = 2 + int(rand() * 12); hosts = pick("1 1 1 2 3")
        protocol = pick("nvlink ualink sue"); packet = pick("64 128 256")
        train = packet * pick("1 2 4 16"); credits = train * 4 + 1024 * int(rand() * 64)
        print "name: random"
        print "topology: {star: {hosts: " hosts ", nics-per-host: 1, rate: 100Gbps}}"
        print "scale-up: {model: packets, protocol: " protocol ", accelerators: " gpus \
            ", switches: " 1 + int(rand() * 6) ", packet: " packet ", train: " train \
            ", credits: " credits ", delay: " pick("50ns 200ns 700ns") \
            ", error-rate: " pick("0 0 0.001 0.02") "}"
        print "traffic:"
        for (i = 0; i < 1 + int(rand() * 2); i++)
            print "  - accelerators: {pattern: " \
                pick("pair ring incast scatter all-to-all permutation") ", operation: " \
                pick("store store load") ", bytes: " 1 + int(exp(rand() * 12)) \
                ", messages: " 1 + int(rand() * 6) ", outstanding: " pick("1 2 1024") "}"
    }'
}
check() {
    python3 - "$work/out" <<'PY'
import csv, json, sys
folder = sys.argv[1]
summary = json.load(open(folder + "/summary.json"))
bad = [] if summary["ended"] == "done" else ["ended: " + summary["ended"]]
for app in summary["apps"]:
    done, all_ = app.get("done"), app.get("transfers")
    if done is not None and all_ is not None and done != all_:
        bad.append(f"{app.get('name')}: {done} of {all_} transfers")
sums = {}
for row in csv.DictReader(open(folder + "/ports.csv")):
    name = row["port"]
    if "-gpu" not in name:
        continue
    one, other = name.split("#")[0].split("->")
    number = name.split("#")[1] if "#" in name else ""
    for what, key in (("tx", (one, other, number)), ("rx", (other, one, number))):
        total = sums.setdefault(key, {})
        total[what] = (int(row[what + "_packets"]), int(row[what + "_bytes"]))
        if what == "tx" and int(row["discards"]):
            bad.append(name + ": discards")
if not sums:
    bad.append("no port of an accelerator")
bad += [f"{k}: {v}" for k, v in sums.items() if v.get("tx") != v.get("rx")]
print("; ".join(bad[:3]))
PY
}
for ((n = first; n < first + count; n++)); do
    make_scenario "$n" >"$work/random.yaml"
    digests=
    for threads in 1 3; do
        rocesim run "$work/random.yaml" --seed "$n" --threads $threads -o "$work/out" >"$work/log" 2>&1 ||
            fail "scenario $n: $(tail -3 "$work/log") $(cat "$work/random.yaml")"
        digests+="$(grep digest "$work/log") "
    done
    # shellcheck disable=SC2086
    [ "$(printf '%s\n' $digests | sort -u | wc -l)" = 2 ] || fail "scenario $n: digests $digests"
    wrong=$(check)
    [ -z "$wrong" ] || fail "scenario $n: $wrong; $(cat "$work/random.yaml")"
done

# -- 1024 accelerators, each with 8 links
rocesim run scale-up/sue --set bytes=64KiB -o "$work/out" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
memory=$(python3 -c "import json
print(json.load(open('$work/out/summary.json'))['wall_memory_bytes'] >> 20)")
[ "$memory" -lt 128 ] || [ -n "${TEST_FEW:-}" ] || fail "1024 accelerators take $memory MiB"

# -- refusals
cat >"$work/small.yaml" <<'YAML'
topology: {star: {hosts: 1, nics-per-host: 4, rate: 100Gbps}}
scale-up: {model: packets}
traffic: [accelerators: {pattern: all-to-all, bytes: 64KiB, messages: 20}]
YAML
refused() { # TEXT OPTION...: the run says TEXT
    local text=$1
    shift
    rocesim run "$work/small.yaml" "$@" >"$work/log" 2>&1 && fail "accepted: $*"
    grep -q -- "$text" "$work/log" || fail "$*: $(cat "$work/log")"
}
refused "scale-up.train" --set scale-up.train=1MiB --set scale-up.credits=4KiB
refused "scale-up.protocol" --set scale-up.protocol=pcie
refused "expected" --set scale-up.error-rate=2

# -- explain
rocesim run "$work/small.yaml" --set scale-up.credits=8KiB --set scale-up.delay=2us -o "$work/out" \
    >"$work/log" 2>&1 || fail "$(cat "$work/log")"
rocesim explain "$work/out" >"$work/log" 2>&1
grep -q 'waited for credits for .* of the run; so did' "$work/log" || fail "credits: $(cat "$work/log")"
grep -q 'scale-up.credits=' "$work/log" || fail "no remedy: $(cat "$work/log")"
rocesim run "$work/small.yaml" --set scale-up.error-rate=0.01 -o "$work/out" >"$work/log" 2>&1
rocesim explain "$work/out" >"$work/log" 2>&1
grep -q 'damaged packets again, which cost it' "$work/log" || fail "retries: $(cat "$work/log")"
# Series of these ports are counters of the timeline.
rocesim run "$work/small.yaml" --set scale-up.credits=8KiB -o "$work/out" \
    --set 'observe=[{series: "port[host0-gpu0->*].credit_wait_ps", every: 1us}]' >"$work/log" 2>&1 &&
    rocesim timeline "$work/out" -o "$work/timeline.json" >>"$work/log" 2>&1 ||
    fail "timeline: $(cat "$work/log")"
grep -q 'credit_wait_ps' "$work/timeline.json" || fail "the timeline lacks credits"
[ "$failures" -eq 0 ]
