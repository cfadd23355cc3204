#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# layers - what does it save to send KV data by layer instead of whole, by the rate of links?
#
# This is a script, since what is hidden is relative to the whole transfer.
# By layer, KV data leaves while later layers are computed, so that only the last layer's is left at the end
# of a prompt that is computed alone. hidden is the share of the whole's time that it hides.
set -eu
. "$(dirname "$0")/serving_lib.sh"
begin_study "$1" "${STUDY_QUICK:-0}" kv,link_gbps,kv_ms,kv_p99_ms,ttft_ms,ttft_p99_ms,goodput_rps,hidden
for kv in $(pick kv "whole layer" "whole chunk layer"); do
    for link in $(pick links "50 100" "25 50 100 200 400"); do
        simulate_file serving.yaml "kv=$kv" "link=${link}Gbps" rate=40 token_budget=512 ttft_goal=150ms \
            "requests=$(pick requests 60 300)" "output=lognormal 16 1"
        mean=$(value 'apps[0].kv_ms.mean')
        [ "$kv" != whole ] || whole[link]=$mean
        put "$kv" "$link" "$(calc 4 "$mean")" "$(calc 4 "$(value 'apps[0].kv_ms.p99')")" \
            "$(calc 4 "$(value 'apps[0].ttft_ms.mean')")" "$(calc 4 "$(value 'apps[0].ttft_ms.p99')")" \
            "$(calc 4 "$(value 'apps[0].goodput_rps')")" \
            "$(calc 3 "1 - $mean / ${whole[link]:-$mean}")"
        [ "$kv" != layer ] || versus "share of the KV time that is hidden at $link Gbit/s" \
            "$(calc 3 "1 - $mean / ${whole[link]:-$mean}")" 0.969 "31 of 32 layers"
    done
done
draw "link, Gbit/s" ttft_p99_ms kv_ms log
