#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_random_perftest.sh - perftest's programs against our own perftest.
#
# Goal: bandwidths within 0.5 %, latencies within 1 %, with the ideal NIC and with the ConnectX-5 profile.
# Method: tests/random-perftest draws options; `tests/random-perftest ROCESIM FIRST COUNT` repeats a pair.
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
