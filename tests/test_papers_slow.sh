#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain long
# tests/test_papers_slow.sh - published figures that take longer come out as published.
#
# Goal: HPCC's incast, DCQCN's and TIMELY's fixed points are within the tolerances of their tables; the
# fat-tree, the dumbbell and the testbed run through and fill every row.
# Method: HPCC's incast with fewer seeds and TIMELY's fixed points in full; the others with --quick, whose
# tables are checked for gaps. The long form runs DCQCN's fixed points in full (test_cc_dcqcn_fluid holds one
# of them to its theory in every run) and the fat-tree with three schemes instead of one.
# Not pinned: the numbers of the fat-tree, the dumbbell and the testbed (docs/models/papers.md has those of
# whole runs).
set -eu
out=$(mktemp -d /tmp/rocesim-papers.XXXXXX)
trap 'rm -rf "$out"' EXIT

fail() {
    echo "$1" >&2
    echo "rerun: ROCESIM=$ROCESIM scenarios/papers/run $2" >&2
    exit 1
}

scenarios/papers/run -o "$out" --seeds 3 hpcc-incast || fail "a row is out of its tolerance" "hpcc-incast"
scenarios/papers/run -o "$out" timely-fixed || fail "a row is out of its tolerance" "timely-fixed"
schemes=HPCC
if [ -n "${TEST_LONG:-}" ]; then
    schemes="DCQCN TIMELY+win HPCC"
    scenarios/papers/run -o "$out" dcqcn-fixed || fail "a row is out of its tolerance" "dcqcn-fixed"
fi
for name in fat-tree dumbbell-fct testbed; do
    HORIZON_MS=1 SCHEMES=$schemes \
        scenarios/papers/run -o "$out" --quick $name >"$out/$name.txt" ||
        fail "$name did not run through" "--quick $name"
    if grep -E 'MISSING|not measured' "$out/$name.txt"; then
        fail "$name has rows without a number" "--quick $name"
    fi
done
