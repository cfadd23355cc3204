#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# connections - how many queue pairs does a NIC serve at full rate with each kind of cache in the same SRAM?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
# The SRAM has 224 KiB: 8192 entries of 28 bytes, or 988 contexts of 232 bytes.
for qps in $(pick qps "64 4096" "64 256 1024 4096 16384 65536"); do
    # Each queue pair is used a few times for warm-up before the counted operations.
    [ "$quick" = 1 ] || length="warm_up=$((qps * 4 + 20000)) operations=60000"
    # shellcheck disable=SC2086 # lists of options
    row flat "$qps" $busy $length "tokens=$qps" pattern=uniform policy=flat detailed.context.entries=988
    # shellcheck disable=SC2086
    row two-tier "$qps" $busy $length "tokens=$qps" pattern=uniform policy=lru l1_entries=8192 l2_bytes=0
    # shellcheck disable=SC2086
    row three-tier "$qps" $busy $length "tokens=$qps" pattern=uniform policy=lru l1_entries=8192 \
        l2_bytes=16MiB
done
draw "queue pairs" mops l1_hit_rate latency_us_p99 log
