#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# policies - which policy has the most hits under which access pattern?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
for policy in hybrid lru lfu fifo sieve random; do
    index=0
    for pattern in zipf uniform bursty scan; do
        index=$((index + 1))
        # shellcheck disable=SC2086
        row "$policy" "$index" $busy $length tokens=8192 l1_entries=1024 l2_bytes=256KiB "policy=$policy" \
            "pattern=$pattern" load.working-set=800 load.phase=10000
    done
done
draw "1 zipf, 2 uniform, 3 bursty, 4 scan" mops l1_hit_rate access_ns
