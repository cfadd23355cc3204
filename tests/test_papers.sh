#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# tests/test_papers.sh - published figures that take seconds come out as published.
#
# Goal: the traces of a vendor's DCQCN and of HPCC at 25 Gbit/s (scenarios/papers) are within the tolerances
# of their tables, and the script that says so would say otherwise too.
# Method: these figures in full; then a copy whose published numbers are changed, which must fail.
# Not pinned: the figures that take longer (tests/test_papers_slow.sh), the drawings.
set -eu
out=$(mktemp -d /tmp/rocesim-papers.XXXXXX)
trap 'rm -rf "$out"' EXIT
rerun="rerun: ROCESIM=$ROCESIM scenarios/papers/run"

fail() {
    echo "$1" >&2
    echo "$rerun vendor-short vendor-incast hpcc-micro" >&2
    exit 1
}

scenarios/papers/run -o "$out/as-published" vendor-short vendor-incast hpcc-micro ||
    fail "a row is out of its tolerance"

cp -r scenarios/papers "$out/copy"
cp scenarios/study_lib.sh scenarios/study_run.sh "$out/" # beside the copy, as beside scenarios/papers
sed -i 's/^after cut 3,3.38/after cut 3,5.38/' "$out/copy/vendor-incast/published.csv"
if "$out/copy/run" -o "$out/changed" vendor-incast >"$out/changed.txt"; then
    fail "a published number that is not met went unnoticed"
fi
grep -q '^after cut 3 .* OUT$' "$out/changed.txt" || fail "the row that is out is not marked"
[ "$(grep -c 'OUT$' "$out/changed.txt")" = 1 ] || fail "other rows are out too"

sed -i 's/^after cut 3,/after cut 99,/' "$out/copy/vendor-incast/published.csv"
if "$out/copy/run" -o "$out/missing" vendor-incast >"$out/missing.txt"; then
    fail "a published number that is not measured went unnoticed"
fi
grep -q '^after cut 99 .* MISSING$' "$out/missing.txt" || fail "the row that is missing is not marked"
"$out/copy/run" -o "$out/none" no-such-figure 2>/dev/null && fail "an unknown figure is accepted"
exit 0
