#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hits - how large must the store be, and does its policy matter?
#
# This is a script, since TRACE may name the public trace of an hour.
# The figure shows the token hits of one shared store by its capacity and policy. Hits depend only
# on the order of the trace.
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve tokens token_hit_rate block_hit_rate evictions
all="10000 100000 1000000 2000000 3000000 5000000 10000000 50000000"
for policy in lru lfu length-aware; do
    for tokens in $(pick capacities "100000 10000000" "$all"); do
        go "$policy-$tokens" trace.yaml "trace=$trace" policy=$policy "capacity_tokens=$tokens" \
            kv_bytes_per_token=1
        row $policy "$tokens" "$(rounded 4 "$(value 'apps[0].token_hit_rate')")" \
            "$(rounded 4 "$(value 'apps[0].block_hit_rate')")" "$(value 'apps[0].evictions')"
    done
done
figure "tokens" token_hit_rate log
exit "$status"
