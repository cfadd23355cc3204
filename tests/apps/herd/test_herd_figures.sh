#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain long
# test_herd_figures.sh - rates and latencies of HERD are those of the paper's figures.
#
# Goal: echoes and latencies (figures 5 and 11) come out as published; HERD's rates on Connect-IB, one by
# one and batched; rates and latencies move the right way with window, postlist and share of PUTs, for
# one seed, three in the long form.
# Method: scenarios/herd/run for two studies; runs of scenarios/herd/herd.yaml and the guidelines' herd.yaml.
# Not pinned: the other studies (tests/apps/herd/test_herd_studies.sh).
set -eu
out=$(mktemp -d /tmp/rocesim-herd.XXXXXX)
trap 'rm -rf "$out"' EXIT
fail() {
    echo "test_herd_figures: $*; rerun: ROCESIM=$ROCESIM tests/apps/herd/test_herd_figures.sh" >&2
    exit 1
}
scenarios/herd/run -o "$out" echoes latency >"$out/log" 2>&1 || { cat "$out/log"; fail "a row is out"; }

# run SCENARIO METRIC SETTING...: a number of the application, into $value
run() {
    local scenario=$1 metric=$2 setting
    local -a settings=()
    shift 2
    for setting in "$@"; do settings+=(--set "$setting"); done
    value=$("$ROCESIM" run "$scenario" --quiet --json "${settings[@]}" |
        sed -n 's/^ *"'"$metric"'": \([-0-9.e+]*\),\{0,1\}$/\1/p' | head -n 1)
    [ -n "$value" ] || fail "$scenario $*: no $metric"
}
near() { awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0.9 * b && a < 1.1 * b) }' || fail "$1: $2, not $3"; }
rises() { awk -v a="$2" -v b="$3" 'BEGIN { exit !(b > a) }' || fail "$1: $2, then $3"; }

# Connect-IB: one core and the most, plain and batched (Kalia et al., USENIX ATC 2016).
ib=scenarios/guidelines/herd.yaml
run $ib mops workers=1 batch=off && near "one core, plain" "$value" 6.7
run $ib mops workers=1 && near "one core, batched" "$value" 12.3
run $ib mops workers=14 batch=off && near "all cores, plain" "$value" 72.8
run $ib mops workers=12 && near "all cores, batched" "$value" 98.3

apt=scenarios/herd/herd.yaml
for seed in 1 ${TEST_LONG:+2 3}; do
    run $apt mops "seed=$seed" window=1 clients=12 keys=10000 && one=$value
    run $apt mops "seed=$seed" window=4 clients=12 keys=10000 && rises "rate by window" "$one" "$value"
    run $apt p99 "seed=$seed" window=4 keys=10000 && four=$value
    run $apt p99 "seed=$seed" window=8 keys=10000 && rises "p99 by window" "$four" "$value"
    run $apt p50 "seed=$seed" window=4 keys=10000 && four=$value
    run $apt p50 "seed=$seed" window=8 keys=10000 && rises "p50 by window" "$four" "$value"
    run $apt mops "seed=$seed" profile=connect-ib workers=1 window=16 postlist=1 pipeline=0 keys=10000
    one=$value
    run $apt mops "seed=$seed" profile=connect-ib workers=1 window=16 postlist=16 pipeline=0 keys=10000
    rises "rate by postlist" "$one" "$value"
    run $apt batch_mean "seed=$seed" profile=connect-ib workers=1 window=16 postlist=16 pipeline=0 keys=10000
    rises "batches by postlist" 8 "$value"
    # Under way are as many as before: what is done faster is answered sooner.
    lists="profile=connect-ib workers=1 window=16 pipeline=0 keys=10000"
    for percentile in p50 p99; do
        run $apt $percentile "seed=$seed" $lists postlist=16 && many=$value
        run $apt $percentile "seed=$seed" $lists postlist=1
        rises "$percentile without a postlist" "$many" "$value"
        run $apt $percentile "seed=$seed" workers=1 prefetch=off update_percentage=100 keys=10000
        puts=$value
        run $apt $percentile "seed=$seed" workers=1 prefetch=off update_percentage=0 keys=10000
        rises "$percentile without PUTs" "$puts" "$value"
    done
    # A PUT misses memory once, a GET twice.
    run $apt mops "seed=$seed" workers=1 prefetch=off update_percentage=0 keys=10000 && one=$value
    run $apt mops "seed=$seed" workers=1 prefetch=off update_percentage=100 keys=10000
    rises "rate by PUTs" "$one" "$value"
done
exit 0
