#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# compression - how much do compressed tokens gain over contexts in the same bytes of memory?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
for compression in true false; do
    for l1 in $(pick entries "1024 8192" "512 1024 2048 4096 8192 16384"); do
        # shellcheck disable=SC2086
        row "compression $compression" "$l1" $busy $length tokens=8192 policy=lru "l1_entries=$l1" \
            l2_bytes=64KiB \
            "cache.compression=$compression"
    done
done
draw "L1, in units of 28 bytes" mops l1_hit_rate access_ns log
