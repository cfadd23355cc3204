#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# skew - how skewed must accesses be for a small L1 to suffice?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
for policy in $(pick policies "lru" "hybrid lru lfu sieve random"); do
    for skew in $(pick skews "0 1.2" "0 0.3 0.6 0.8 0.99 1.2 1.5"); do
        # shellcheck disable=SC2086
        row "$policy" "$skew" $busy $length tokens=8192 l1_entries=512 l2_bytes=64KiB "policy=$policy" \
            "skew=$skew"
    done
done
draw "skew of Zipf's law" mops l1_hit_rate access_ns
