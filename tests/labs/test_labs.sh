#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/labs/test_labs.sh - the exercises of docs/labs and their checks.
#
# Goal: each check names every gap of the program as it is given, finds nothing missing in the solution, and
# each page names its check. Method: solve.py fills in the gaps. Not pinned: other solutions.
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] &&
    cc examples/verbs_hello.c -o "$work/c" -libverbs 2>/dev/null || {
    echo "skipped: libibverbs-dev, a compiler or the library of programs is not there"
    exit 77
}
python3 tests/labs/solve.py docs/labs "$work" || fail "a gap is not where solve.py looks for it"
for exercise in first_write cc incast storm lossy store; do
    within 60 docs/labs/check "$exercise" >"$work/log" 2>&1 && status=0 || status=$?
    [ "$status" = 1 ] && grep -q "^missing: " "$work/log" || {
        cat "$work/log"
        fail "the check of $exercise does not say what is missing (status $status)"
    }
    within 60 docs/labs/check "$exercise" "$work/$exercise.c" >"$work/log" 2>&1 || {
        cat "$work/log"
        fail "the check of $exercise refuses its solution"
    }
    grep -q "docs/labs/check $exercise" docs/labs/[1-6]-*.md || fail "no page names the check of $exercise"
done
docs/labs/check nothing >"$work/log" 2>&1 && fail "an unknown exercise is accepted"
exit $((failures > 0))
