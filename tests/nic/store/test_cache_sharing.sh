#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cache_sharing.sh - NICs of a host that share an L2.
#
# Goal: the busy NIC takes pages of the other one, as many as that gives, but not its reserve; together
# they stay within the pool; a slow link of the pool delays both; threads and ranks change nothing; an
# L2 of no bytes cannot be shared.
# Method: scenarios/cache/pool.yaml with few operations.
# Does not pin: when a pool wins (scenarios/cache/pool.sweep.yaml).
set -eu
. tests/script.sh

run() { # NAME OPTIONS...: runs the scenario with few operations
    local name=$1
    shift
    "$ROCESIM" run scenarios/cache/pool.yaml -o "$work/$name" --quiet --set operations=6000 \
        --set idle_operations=600 --set 'traffic[0].contexts.warm-up=0' \
        --set 'traffic[1].contexts.warm-up=0' --set nodes.host0.nic.cache.driver.prestage=4 "$@" \
        >"$work/$name.log" 2>&1 || fail "$(cat "$work/$name.log")"
}

run own --set l2=8KiB
run pool --set l2=16KiB --set shared=true
run reserve --set l2=16KiB --set shared=true --set reserve=0.5
run threads --set l2=16KiB --set shared=true --threads 2
run ranks --set l2=16KiB --set shared=true --ranks 2
run slow --set l2=16KiB --set shared=true --set rate=1Gbps

python3 - "$work" <<'P' || fail "what the NICs share is not what is expected"
import json, sys
def load(name):
    return json.load(open(f"{sys.argv[1]}/{name}/summary.json"))
names = ["own", "pool", "reserve", "threads", "ranks", "slow"]
own, pool, reserve, threads, ranks, slow = map(load, names)
cache = lambda d, n: d["nics"][n]["cache"]
assert "pages_taken" not in cache(own, 0)
assert cache(pool, 0)["pages_taken"] > 0
assert cache(pool, 0)["pages_taken"] == cache(pool, 1)["pages_given"]
assert cache(pool, 1)["pages_taken"] == cache(pool, 0)["pages_given"]
# Together they never have more than the pool.
for d in (pool, reserve):
    assert cache(d, 0)["l2_bytes"] + cache(d, 1)["l2_bytes"] <= 16384
assert cache(pool, 0)["l2_bytes_peak"] > 8192 >= cache(own, 0)["l2_bytes_peak"]
assert cache(reserve, 0)["l2_bytes_peak"] <= 16384 - 360
assert cache(pool, 0)["l2_hit_rate"] > cache(own, 0)["l2_hit_rate"]
assert threads["digest"] == pool["digest"] == ranks["digest"]
assert slow["apps"][0]["mops"] < pool["apps"][0]["mops"]
P
if "$ROCESIM" check scenarios/cache/pool.yaml --set l2=0 --set shared=true >"$work/log" 2>&1; then
    fail "an L2 of no bytes is shared"
fi
grep -q "nic.cache.l2.shared" "$work/log" || fail "$(cat "$work/log")"

exit $((failures > 0))
