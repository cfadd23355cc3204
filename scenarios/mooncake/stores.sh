#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stores - how do a shared store and cache-aware scheduling improve hits and the time to the first token?
#
# This is a script, since it compares each scheduler with the one before.
# The cluster has 8 prefill and 8 decode nodes and stores of 3 million tokens in all. Published
# values (16 nodes, the same trace): TTFT 3.07 s with a global store and cache-aware scheduling,
# 3.58 s local, 5.27 s by load, 19.65 s at random.
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve scheduler ttft_mean_s ttft_p99_s token_hit_rate fetched_blocks
for store in global local; do
    before=0
    for scheduler in cache-aware local load random; do
        go "$store-$scheduler" trace.yaml "trace=$trace" store=$store scheduler=$scheduler \
            "capacity_tokens=${CAPACITY:-3000000}" ${REQUESTS:+requests=$REQUESTS}
        row $store $scheduler "$(rounded 3 "$(value 'apps[0].ttft_ms.mean') / 1000")" \
            "$(rounded 3 "$(value 'apps[0].ttft_ms.p99') / 1000")" \
            "$(rounded 4 "$(value 'apps[0].token_hit_rate')")" "$(value 'apps[0].fetched_blocks')"
        # Each scheduler is slower than the one before it, as published; with local stores the first
        # two are the same.
        mean=$(value 'apps[0].ttft_ms.mean')
        if awk -v a="$before" -v b="$mean" 'BEGIN { exit !(b < a) }'; then
            say "OUT: $store $scheduler is faster than the scheduler before it"
            [ "$quick" = 1 ] || status=1
        fi
        before=$mean
    done
done
axis=0 labels=1 figure "scheduler" ttft_mean_s token_hit_rate
exit "$status"
