#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/test_instructions.sh - what one packet costs on one link stays what it is.
#
# Goal: a packet-hop takes no more instructions than docs/performance.md says, with some room for other
# compilers. Method: callgrind counts two runs of bench_permutation that differ in size only, so that
# building the network cancels out. Not pinned: time, which is another machine's every day.
set -u
. tests/script.sh
limit=330 # 311 where it was measured, gcc 12 -O2

bench=$BUILD_DIRECTORY/bench/bench_permutation
if ! command -v valgrind >/dev/null; then
    echo "skip: valgrind is not installed"
    exit 77
fi
if ! grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$BUILD_DIRECTORY/CMakeCache.txt" ||
    ! grep -q '^CMAKE_C_COMPILER:.*gcc' "$BUILD_DIRECTORY/CMakeCache.txt"; then
    echo "skip: figures are gcc's, of a release build"
    exit 77
fi

# Not among what is built as a rule.
if ! cmake --build "$BUILD_DIRECTORY" --target bench_permutation >"$work/log" 2>&1; then
    tail -n 5 "$work/log"
    fail "bench_permutation cannot be built"
    exit 1
fi

# count BYTES: instructions and packet-hops of a whole run.
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" --k 4 --bytes "$1" 2>&1 |
        awk '/Collected :/ { n = $NF }
             match($0, /"packet_hops": [0-9]+/) { h = substr($0, RSTART + 15, RLENGTH - 15) }
             END { print n, h }'
}

small=$(count 300KB)
large=$(count 600KB)
each=$(awk -v a="$small" -v b="$large" 'BEGIN {
    split(a, s, " "); split(b, l, " ")
    print (l[2] > s[2] ? int((l[1] - s[1]) / (l[2] - s[2])) : 0) }')
echo "$each instructions a packet-hop at k=4 (runs: $small; $large)"
[ "$each" -gt 100 ] || fail "the bench did not run: $small; $large"
[ "$each" -le $limit ] || fail "$each instructions a packet-hop, expected at most $limit"
[ $failures -eq 0 ]
