#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/serving/test_serving_losses.sh - several nodes of `serving` lose their power.
#
# Goal: no request is lost or served twice while one node after the other stops; none is served by a node that
# has stopped; the others stop exchanging data with all of them; nodes that come back serve requests again,
# also between two of them; digests are equal on 1, 2 and 4 threads.
# Method: the log of requests beside the times of the failures; transfers to lost nodes fail and are counted.
# Does not pin: how long the requests take.
set -u
. tests/script.sh
start_forks
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
cd "$work" || exit 1
cat >losses.yaml <<'EOY'
topology: {star: {hosts: 7, rate: 100Gbps, delay: 500ns}}
nic: {congestion-control: none, timeout: 8}
traffic:
  - serving: {prefill: 2, decode: 4, requests: 60, rate: 100, prompt-tokens: 40, output-tokens: 20,
              log: on, fail-detect: 50ms, fail-at: 250ms, fail-host: "host[3-4] host1@300ms host6@350ms"}
EOY
experts='--set traffic[0].serving.experts=pool --set traffic[0].serving.model=mixtral-8x7b
    --set traffic[0].serving.tp=2 --set traffic[0].serving.layer-groups=1'
for threads in 1 2 4; do
    rocesim run losses.yaml -o t$threads --threads $threads --quiet $experts >said 2>&1 ||
        fail "$(cat said)"
    grep '"digest"' t$threads/summary.json >digest$threads
done
cmp -s digest1 digest2 && cmp -s digest1 digest4 || fail "digests differ on 1, 2 and 4 threads"
rocesim run losses.yaml -o mooncake --quiet --set 'traffic[0].serving.transport=mooncake' \
    --set 'traffic[0].serving.layer-groups=4' >said 2>&1 || fail "$(cat said)"
rocesim run losses.yaml -o late --quiet --set 'traffic[0].serving.fail-host=host2@90s' \
    --set 'traffic[0].serving.fail-at=250ms' >said 2>&1 || fail "$(cat said)"
grep -q 'warning: serving: host2 fails at 90 s, but the last request ended at ' said || fail "$(cat said)"
rocesim run losses.yaml -o t1 --quiet --threads 1 $experts >said 2>&1 || fail "$(cat said)"
grep -q 'but the last request ended' said && fail "$(cat said)"
rocesim run losses.yaml -o all --quiet --set 'traffic[0].serving.fail-host=host[1-6]' >said 2>&1 ||
    fail "$(cat said)"
for experts in node pool; do
    rocesim run losses.yaml -o back-$experts --quiet --set traffic[0].serving.decode=2 \
        --set 'traffic[0].serving.fail-host=host1@250ms+1200ms host4@900ms+1100ms host2@2500ms host3@2600ms' \
        --set traffic[0].serving.requests=80 --set traffic[0].serving.rate=20 \
        --set traffic[0].serving.arrivals=constant --set traffic[0].serving.layer-groups=1 \
        --set traffic[0].serving.model=mixtral-8x7b --set traffic[0].serving.tp=2 \
        --set traffic[0].serving.experts=$experts >said 2>&1 || fail "$(cat said)"
done
python3 - <<'PYTHON' || fail "a value is wrong"
import json
STOPS = {"host3": 250, "host4": 250, "host1": 300, "host6": 350}
for name in ("t1", "mooncake"):
    app = json.load(open(name + "/summary.json"))["apps"][0]
    assert app["requests"] == 60 and app["failed"] + app["unfinished"] == 0, name
    assert len({row["request"] for row in app["served"]}) == 60, f"{name}: a request was served twice"
    assert sum(row["output_tokens"] for row in app["served"]) == 60 * 20, name
    assert app["placed_again"] > 0, f"{name}: nothing was placed again"
    for row in app["served"]:
        if row["decode"] in STOPS:
            assert row["arrival_ms"] + row["e2e_ms"] <= STOPS[row["decode"]], f"{name}: {row}"
        if row["arrival_ms"] > 410:
            assert (row["prefill"], row["decode"]) == ("host2", "host5"), f"{name}: {row}"
# A step meets a lost node until the router has told of it, and never again.
app = json.load(open("t1/summary.json"))["apps"][0]
steps = sum(node["steps"] for node in app["nodes"])
assert 0 < app["exchanges_failed"] < 100 < steps, f"{app['exchanges_failed']} exchanges in {steps} steps"
for name in ("back-node", "back-pool"):
    app = json.load(open(name + "/summary.json"))["apps"][0]
    assert app["requests"] == 80 and app["placed_again"] > 0, f"{name}: {app['requests']}"
    assert len({row["request"] for row in app["served"]}) == 80, f"{name}: a request was served twice"
    for row in app["served"]: # the router knows 50 ms after a host has stopped, or is back
        at, nodes = row["arrival_ms"], (row["prefill"], row["decode"])
        if 320 < at < 1450:
            assert nodes[0] == "host2", f"{name}: {row}"
        if 960 < at < 2000:
            assert nodes[1] == "host3", f"{name}: {row}"
        if at > 2660: # both have come back
            assert nodes == ("host1", "host4"), f"{name}: {row}"
app = json.load(open("all/summary.json"))["apps"][0]
assert app["requests"] + app["failed"] == 60 and app["failed"] > 20, "no node is left"
PYTHON
for wrong in 'host1 host1:twice' 'host1@soon:no time' 'host0:no host of a prefill or decode node' \
    'host99:matches no host' 'host1@250ms+1s:expected at least 1.05 s' \
    'host1+x:no time' 'host1@18446744s+2s:at most 100000s' 'host1+18446743s:at most 100000s'; do
    rocesim run losses.yaml -o wrong --quiet --set "traffic[0].serving.fail-host=${wrong%%:*}" \
        >/dev/null 2>said && fail "$wrong was taken"
    grep -q -- "fail-host.*${wrong#*:}" said || fail "$wrong: $(cat said)"
done
[ $failures = 0 ]
