#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_loops.sh - loops without a call that wait for a write of the NIC.
#
# Goal: a loop waits at a jump that the library writes into it if one of its instructions can be moved, else
# at an int3; registers survive, and both take the same simulated time. Method: loops.c has nine forms of
# loops, each with ten round trips over two links of 1 us each way. Not pinned: which forms look as if a jump
# led into them.
# Rerun: ctest --test-dir build/release -R test_programs_loops
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] &&
    ${CC:-cc} -O2 -I. tests/programs/loops.c -o "$work/loops" -libverbs 2>/dev/null || {
    echo "skipped: libibverbs-dev, a compiler or the library of programs is not there"
    exit 77
}
cat >"$work/loops.yaml" <<YAML
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/loops"}
      - {host: host1, command: "$work/loops host0", start: 1ms}
YAML
for run in 1 2 3; do
    within 60 "$ROCESIM" run "$work/loops.yaml" --programs -o "$work/$run" >"$work/$run.log" 2>&1 ||
        fail "run $run: $(cat "$work/$run.log")"
    cmp "$work/1/programs/host0-0.out" "$work/$run/programs/host0-0.out" || fail "run $run prints otherwise"
done
[ "$(sed -n 's/^  digest *//p' "$work"/?.log | sort -u | wc -l)" = 1 ] || fail "runs have different digests"
out=$work/1/programs/host0-0.out
[ "$(grep -c . "$out")" = 9 ] && [ "$(grep -c ' jump ' "$out")" -ge 5 ] && grep -q '^fixed int3 ' "$out" ||
    fail "the loops wait otherwise: $(cat "$out")"
# Ten round trips of 4 us and a bit.
awk 'NR > 1 && ($3 - last < 40300 || $3 - last > 40500) { exit 1 } { last = $3 }' "$out" ||
    fail "a form of a loop takes another time: $(cat "$out")"
exit $((failures > 0))
