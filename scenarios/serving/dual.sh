#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dual - what does it gain to read stored KV data through decode nodes, too (DualPath)?
#
# Agents have conversations of many turns, whose KV data lies in storage nodes. Each node has four NICs for
# computing and one for storage, all of the same rate. `direct`: only prefill nodes read; `dual`: decode nodes
# read, too, and hand on. seconds is the time until all agents have ended, gain that of direct divided by it.
# Published for 1:1, 1:2 and 2:1 (DualPath, section 7.3 and figure 13): a mean gain of 1.64 and at most 2.46,
# and the busiest NIC for storage at 1.18 times the mean.
set -eu
. "$(dirname "$0")/serving_lib.sh"
open_study "$1" "${STUDY_QUICK:-0}" \
    path,ratio,nr,seconds,gain,fetch_ms,ttft_ms,ttft_p99_ms,kv_hit_rate,imbalance
declare -A direct
for path in $(pick paths "direct dual" "direct dual"); do
    nr=0
    for ratio in $(pick ratios "1:1 2:1" "1:1 1:2 2:1"); do
        simulate_file serving.yaml "prefill=${ratio%:*}" "decode=${ratio#*:}" storage=4 cache=store \
            storage_nics=1 "storage_path=$path" rails=5 tp=4 link=20Gbps fabric=star prompt=429 output=20 \
            "clients=$(pick clients 8 16)" "requests=$(pick requests 32 128)" \
            "traffic[0].serving.turns=$(pick turns 4 8)" 'traffic[0].serving.cache-memory=0' \
            'traffic[0].serving.block-tokens=64'
        seconds=$(value 'apps[0].seconds')
        [ "$path" != direct ] || direct[$ratio]=$seconds
        nr=$((nr + 1))
        put "$path" "$ratio" $nr "$(calc 4 "$seconds")" "$(calc 3 "${direct[$ratio]:-$seconds} / $seconds")" \
            "$(calc 4 "$(value 'apps[0].stages.fetch_ms')")" "$(calc 4 "$(value 'apps[0].ttft_ms.mean')")" \
            "$(calc 4 "$(value 'apps[0].ttft_ms.p99')")" "$(calc 3 "$(value 'apps[0].kv_hit_rate')")" \
            "$(calc 3 "$(value 'apps[0].storage_nic_imbalance')")"
    done
done
labels=1 axis=3 draw "prefill:decode" gain imbalance ttft_ms
