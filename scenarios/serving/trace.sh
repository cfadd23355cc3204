#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# trace - how much of the prompts of a trace is in a cache, and what does it save and send?
#
# This is a script, since it counts the hits that the trace allows.
# TRACE names a trace of requests with hash_ids; the public ones of Mooncake are of an hour. The default takes
# the first 120 requests of scenarios/mooncake/small.jsonl, in less than a minute; requests=auto takes all
# of a trace, and packets=large simulates it in less than half of the time. `none` computes every
# prompt; `local` uses what its prefill node has, `peers` what any has, and `store` what two storage nodes
# have. KV data has a byte per value.
set -eu
. "$(dirname "$0")/serving_lib.sh"
trace=$(realpath "${TRACE:-$(dirname "$0")/../mooncake/small.jsonl}")
begin_study "$1" "${STUDY_QUICK:-0}" \
    cache,prefill,hit_rate,ttft_ms,ttft_p99_ms,goodput_rps,prefill_busy,fetched_gb,sent_gb,network_share
requests=$(pick requests 30 120)
count=$requests
[ "$requests" != auto ] || count=$(wc -l <"$trace")
# The tokens of prompts that begin as an earlier prompt, if each prompt is cached at once.
known=$(head -n "$count" "$trace" | awk '
    {
        tokens = $0; sub(/.*"input_length": */, "", tokens); sub(/[^0-9].*/, "", tokens)
        ids = $0; sub(/.*"hash_ids": *\[/, "", ids); sub(/\].*/, "", ids); gsub(/ /, "", ids)
        number = split(ids, id, ","); hit = 0
        while (hit < number && (id[hit + 1] in seen)) hit++
        for (i = 1; i <= number; i++) seen[id[i]] = 1
        hits += hit * 512 < tokens ? hit * 512 : tokens - 1
        all += tokens
    }
    END { printf "%.4f", (all > 0 ? hits / all : 0) }')
for cache in $(pick caches "none peers" "none local peers store"); do
    for prefill in $(pick prefill "2 3" "2 4"); do
        simulate_file serving.yaml "trace=$trace" "requests=$requests" "cache=$cache" \
            "prefill=$prefill" route=cache-aware link=200Gbps per_leaf=3 ttft_goal=2s \
            "storage=$([ "$cache" = store ] && echo 2 || echo 0)" 'traffic[0].serving.kv-value-bytes=1'
        put "$cache" "$prefill" "$(calc 4 "$(value 'apps[0].kv_hit_rate')")" \
            "$(calc 4 "$(value 'apps[0].ttft_ms.mean')")" "$(calc 4 "$(value 'apps[0].ttft_ms.p99')")" \
            "$(calc 4 "$(value 'apps[0].goodput_rps')")" \
            "$(calc 3 "$(value 'apps[0].nodes[0].busy_percent')")" \
            "$(calc 4 "$(value 'apps[0].fetched_bytes') / 1e9")" \
            "$(calc 4 "$(value 'apps[0].kv_bytes') / 1e9")" \
            "$(calc 3 "$(value 'apps[0].network_share')")"
        [ "$cache" = none ] || versus "share of prompts in a cache with $cache and $prefill prefill nodes" \
            "$(calc 4 "$(value 'apps[0].kv_hit_rate')")" "$known" "count of the trace"
    done
done
draw "prefill nodes" hit_rate ttft_ms goodput_rps
