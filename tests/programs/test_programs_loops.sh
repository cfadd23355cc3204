#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_loops.sh - loops without a call that wait for a write of the NIC.
#
# Goal: a loop waits at a jump that the library writes into it if one of its instructions can be moved, else
# at an int3; registers survive, and both take the same simulated time. Method: loops.c has nine forms of
# loops, each with ten round trips over two links of 1 us each way; threads/chains.c has thirteen by which
# three threads hand on a turn, and three in a library that it loads and closes. Not pinned: which forms look
# as if a jump led into them.
# Rerun: ctest --test-dir build/release -R test_programs_loops
set -eu
. tests/script.sh

counts=
if grep -q 'libcapstone' "$BUILD_DIRECTORY/librocesim-programs.so"; then
    counts=-DCOUNTS_TOO
else
    echo "not tried: loops that count; the library of programs was built without libcapstone-dev"
fi
[ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] &&
    ${CC:-cc} -O2 -I. $counts tests/programs/loops.c -o "$work/loops" -libverbs 2>/dev/null || {
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
sed -i '/^without/w '"$work/without"'
/^without/d' "$out"
forms=9
if [ -n "$counts" ]; then
    forms=15
    # With a bound of 20, without time; with 100,000 and 50,000,000, that many iterations of 2 or 42 ns.
    awk '{ each = /down/ ? 42 : 2; ns = $3 < 1000 ? 0 : $3 * each
           if (($3 - /down/) % 10 || $4 < ns - 200 || $4 > ns + 200) exit 1 }
         END { if (NR != 18) exit 1 }' \
        "$work/without" || fail "loops that count end otherwise: $(cat "$work/without")"
    [ "$(grep -c 'before.* [1-9][0-9]*$' "$out")" = 6 ] ||
        fail "loops that count do not count: $(cat "$out")"
fi
[ "$(grep -c . "$out")" = "$forms" ] && [ "$(grep -c ' jump ' "$out")" -ge 5 ] &&
    grep -q '^fixed int3 ' "$out" ||
    fail "the loops wait otherwise: $(cat "$out")"
# Ten round trips of 4 us and a bit.
awk 'NR > 1 && ($3 - last < 40300 || $3 - last > 40500) { exit 1 } { last = $3 }' "$out" ||
    fail "a form of a loop takes another time: $(cat "$out")"
# Two threads: each has counted for as long as it slept or waited, 80 us and 50 us.
if [ -n "$counts" ]; then
    for level in 0 2; do
        ${CC:-cc} -O$level -pthread tests/programs/threads/counting.c -o "$work/counting"
        cat >"$work/counting.yaml" <<YAML
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/counting"}
      - {host: host0, command: "$work/counting"}
YAML
        within 60 "$ROCESIM" run "$work/counting.yaml" --programs -o "$work/threads" >"$work/log" 2>&1 ||
            fail "threads: $(cat "$work/log")"
        cat "$work/threads/programs/host0-"?.out >"$work/all"
        awk '$1 < 700 || $1 > 760 || $2 < 24900 || $2 > 25100 || $3 < 79000 || $3 > 82000 { exit 1 }
             END { if (NR != 2) exit 1 }' "$work/all" || fail "threads at -O$level: $(cat "$work/all")"
    done
fi
# Three threads in a ring, a hundred rounds: the sum of their turns, and no more time than they cost.
lines=$([ -n "$counts" ] && echo 19 || echo 16)
for level in 0 2; do
    ${CC:-cc} -O$level $counts -pthread tests/programs/threads/chains.c -o "$work/chains" -ldl
    ${CC:-cc} -O$level $counts -DLIBRARY -shared -fPIC tests/programs/threads/chains.c -o "$work/chains.so"
    cat >"$work/chains.yaml" <<YAML
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/chains $work/chains.so"}
YAML
    for run in 1 2 3; do
        within 60 "$ROCESIM" run "$work/chains.yaml" --programs -o "$work/chains$run" >"$work/log" 2>&1 ||
            fail "threads in a ring, -O$level: $(cat "$work/log")"
        cmp "$work/chains1/programs/host0-0.out" "$work/chains$run/programs/host0-0.out" ||
            fail "threads in a ring print otherwise, -O$level"
        sed -n 's/^  digest *//p' "$work/log"
    done >"$work/digests"
    [ "$(sort -u "$work/digests" | wc -l)" = 1 ] || fail "threads in a ring have different digests, -O$level"
    awk -v lines="$lines" '$2 != 15150 || (NR > 1 && ($3 - last < 100 || $3 - last > 2000)) { exit 1 }
         { last = $3 }
         END { if (NR != lines) exit 1 }' "$work/chains1/programs/host0-0.out" ||
        fail "threads in a ring, -O$level: $(cat "$work/chains1/programs/host0-0.out")"
done
exit $((failures > 0))
