#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# Goal: on an idle network, every request of `serving` has the times of an independent queue model, and one
# node without batches has the mean waiting time of the queue M/D/1.
# Method: queue_model.py follows the rules of docs/models/serving.md on the same trace: 2 % for means and 99th
# percentiles, 3 % for M/D/1. Prompts, outputs and memory are chosen so that queues form, requests give
# their memory up, and decode nodes have none to give.
# Does not pin: times on a network that is loaded.
set -u
. tests/script.sh
start_forks
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
here=$PWD
cd "$work" || exit 1
python3 - <<'PYTHON'
import json, random
random.seed(5)
def trace(name, count, gap_ms, prompt, output):
    now = 0.0
    with open(name, "w") as file:
        for _ in range(count):
            now += random.expovariate(1 / gap_ms)
            file.write(json.dumps({"timestamp": round(now, 6), "input_length": max(1, round(prompt())),
                                   "output_length": max(1, round(output()))}) + "\n")
trace("usual.jsonl", 20, 40, lambda: random.lognormvariate(6, 1), lambda: random.lognormvariate(3.3, 1))
trace("tight.jsonl", 40, 25, lambda: random.uniform(50, 700), lambda: random.uniform(10, 150))
with open("shared.jsonl", "w") as file:
    now = 0.0
    for i in range(16):
        now += random.expovariate(1 / 60)
        shared, prompt = random.choice((1, 2, 4)), random.randint(2100, 4000)
        own = range(1000 * i + 100, 1000 * i + 100 + prompt // 512 - shared)
        ids = [*range(10 * shared, 11 * shared), *own]
        file.write(json.dumps({"timestamp": round(now, 6), "input_length": prompt,
                               "output_length": random.randint(1, 9), "hash_ids": ids}) + "\n")
with open("blocked.jsonl", "w") as file:
    for at, prompt, output in ((0, 100, 600), (1000, 1700, 20)):
        file.write(json.dumps({"timestamp": at, "input_length": prompt, "output_length": output}) + "\n")
PYTHON
cat >serving.yaml <<'EOY'
topology: {star: {hosts: 9, rate: 400Gbps, delay: 500ns}}
nic: {congestion-control: none, frames: bare, mtu: 9216, ack-interval: 32}
traffic:
  - serving: {prefill: 2, decode: 2, route: round-robin, timestamp-unit: ms, log: on}
EOY

# run NAME TRACE SETTING...: settings of the application, or rate=, the rate of links
run() {
    local name=$1 set=(--set "traffic[0].serving.trace=$work/$2.jsonl") one
    shift 2
    for one in "$@"; do
        case $one in
        rate=*) set+=(--set "topology.star.$one") ;;
        *) set+=(--set "traffic[0].serving.$one") ;;
        esac
    done
    rocesim run serving.yaml -o "$name" --quiet "${set[@]}" >said 2>&1 || fail "$name: $(cat said)"
}
run layer usual
run whole usual kv=whole rate=25Gbps
run slow usual rate=25Gbps
run wide usual model=llama3-70b tp=4 requests=12
run both usual decode=0
run split usual decode=0 chunked-prefill=off
run small usual token-budget=200 batch=4 prefill=1
run tight tight kv-memory=180MB
run lone tight kv-memory=180MB decode=0
run cached shared
run stages usual pp=2 kv=whole
run pipeline usual pp=4 token-budget=300 prefill=1 decode=1
run narrow tight pp=3 kv-memory=180MB decode=0 prefill=1
run blocked blocked kv-memory=265MB rate=1Gbps prefill=1 decode=1
PYTHONPATH=$here/tests/apps/serving python3 - <<'PYTHON' || fail "times differ from those of the queue model"
import json, sys
from queue_model import Request, System
RULES = dict(model="llama3-8b", tp=1, pp=1, prefill=2, decode=2, batch=256, token_budget=8192, chunked=True,
             kv="layer", kv_memory=None, nic=400e9 / 8, path=3e-6)
CASES = {
    "layer": ("usual", {}),
    "whole": ("usual", dict(kv="whole", nic=25e9 / 8)),
    "slow": ("usual", dict(nic=25e9 / 8)),
    "wide": ("usual", dict(model="llama3-70b", tp=4, requests=12)),
    "both": ("usual", dict(decode=0)),
    "split": ("usual", dict(decode=0, chunked=False)),
    "small": ("usual", dict(token_budget=200, batch=4, prefill=1)),
    "tight": ("tight", dict(kv_memory=180e6)),
    "lone": ("tight", dict(kv_memory=180e6, decode=0)),
    "cached": ("shared", {}),
    "stages": ("usual", dict(pp=2, kv="whole")),
    "pipeline": ("usual", dict(pp=4, token_budget=300, prefill=1, decode=1)),
    "narrow": ("tight", dict(pp=3, kv_memory=180e6, decode=0, prefill=1)),
    "blocked": ("blocked", dict(kv_memory=265e6, nic=1e9 / 8, prefill=1, decode=1)),
}
def summary(values):
    values = sorted(values)
    return sum(values) / len(values), values[(99 * len(values) + 99) // 100 - 1]
failed = False
for name, (trace, rules) in CASES.items():
    rows = [json.loads(line) for line in open(trace + ".jsonl")][:rules.pop("requests", None)]
    first = rows[0]["timestamp"]
    requests = [
        Request(i, 0.01 + (row["timestamp"] - first) / 1e3, row["input_length"], row["output_length"],
                row.get("hash_ids", ()))
        for i, row in enumerate(rows)]
    System({**RULES, **rules}).run(requests)
    app = json.load(open(name + "/summary.json"))["apps"][0]
    served = sorted(app["served"], key=lambda one: one["request"])
    # No request is lost or served twice, and each has its tokens.
    assert [one["request"] for one in served] == list(range(len(rows))), name
    assert [(one["prompt_tokens"], one["output_tokens"]) for one in served] == \
        [(one.prompt, one.output) for one in requests], name
    for what, ours, theirs in (
            ("TTFT", [one["ttft_ms"] for one in served], [(r.first - r.arrival) * 1e3 for r in requests]),
            ("end to end", [one["e2e_ms"] for one in served], [(r.end - r.arrival) * 1e3 for r in requests])):
        for part, a, b in zip(("mean", "p99"), summary(ours), summary(theirs)):
            if abs(a / b - 1) > 0.02:
                failed = True
                print(f"{name}: {part} of {what} {a:.3f} ms, the model has {b:.3f} ms")
    cached = [one["cached_tokens"] for one in served]
    assert cached == [one.cached for one in requests], f"{name}: {cached} tokens come from caches"
    assert sum(cached) > 0 or name != "cached", "nothing comes from a cache"
    again = sum(request.preempted for request in requests)
    assert app["preemptions"] == again, f"{name}: {app['preemptions']} preemptions, the model has {again}"
    assert again > 0 or name not in ("tight", "lone", "narrow", "blocked"), f"{name}: none gave up"
sys.exit(failed)
PYTHON

# Prompts of one length on one node without batches: service times are constant.
md1() {
    rocesim run serving.yaml -o md1 --quiet --set 'traffic[0].serving.log=off' \
        --set 'traffic[0].serving.decode=0' --set 'traffic[0].serving.prefill=1' \
        --set 'traffic[0].serving.batch=1' --set 'traffic[0].serving.prompt-tokens=1000' \
        --set 'traffic[0].serving.output-tokens=1' --set "traffic[0].serving.rate=$1" \
        --set "traffic[0].serving.requests=$2" >said 2>&1 || fail "M/D/1: $(cat said)"
    python3 - "$1" <<'PYTHON' || fail "the mean wait at $1 requests per second is not that of M/D/1"
import json, sys
stages = json.load(open("md1/summary.json"))["apps"][0]["stages"]
service = stages["prefill_ms"]
load = float(sys.argv[1]) * service / 1e3
expected = load * service / 2 / (1 - load)
print(f"load {load:.3f}: {stages['prefill_queue_ms']:.3f} ms, M/D/1 {expected:.3f} ms")
sys.exit(abs(stages["prefill_queue_ms"] / expected - 1) > 0.03)
PYTHON
}
md1 16 10000

# Requests whose KV data cannot be moved fail, also where only a part of a prompt was on its way.
"$ROCESIM" run serving.yaml -o lost --quiet --set 'topology.star.nics-per-host=2' \
    --set "traffic[0].serving.trace=$work/usual.jsonl" --set 'traffic[0].serving.tp=2' \
    --set 'traffic[0].serving.requests=20' --set nic.timeout=8 \
    --set 'faults=[{part: host1/nic1, at: 100ms, until: 100s}]' >said 2>&1 || fail "lost: $(cat said)"
grep -q '"unfinished": 0' lost/summary.json || fail "requests wait for a NIC that is down for good"
grep -q '"failed": [1-9]' lost/summary.json || fail "no request failed"
[ $failures = 0 ]
