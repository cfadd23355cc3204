#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tiers - how much SRAM does a NIC need, and how much CXL memory behind it?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
for l2 in $(pick l2-sizes "0 64KiB" "0 32KiB 128KiB 1MiB"); do
    for l1 in $(pick entries "256 4096" "128 256 512 1024 2048 4096 8192"); do
        # shellcheck disable=SC2086
        row "L2 $l2" "$l1" $busy $length tokens=16384 policy=lru "l1_entries=$l1" "l2_bytes=$l2"
    done
done
draw "entries of L1" mops l1_hit_rate access_ns log
