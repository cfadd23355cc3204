#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# tests/programs/test_random_perftest.sh - perftest's programs against our own perftest.
#
# Goal: bandwidths within 0.5 %, latencies within 1 %, with the ideal NIC and with the ConnectX-5 profile.
# Method: tests/random-perftest draws options; `tests/random-perftest ROCESIM FIRST COUNT` repeats a pair.
# Seven pairs are always drawn: a poll costs no more because completions came before it (1113), both
# directions (2012, 3026), buffers that are not aligned (7020), events (20027, 20048), and posts that follow a
# call that costs time (60111).
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
command -v ib_write_bw >/dev/null && [ -e "$library" ] || {
    echo "skipped: perftest or the library of programs is not there"
    exit 77
}
first=${RANDOM_FIRST:-1}
count=${RANDOM_COUNT:-$(few 12 4)}
echo "again: tests/random-perftest $ROCESIM $first $count"
within $((120 + 10 * count)) tests/random-perftest "$ROCESIM" "$first" "$count" "$work"
for number in 1113 2012 3026 7020 20027 20048 60111; do
    within 60 tests/random-perftest "$ROCESIM" $number 1 "$work"
done
