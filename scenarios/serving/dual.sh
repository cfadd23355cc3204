#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dual - what does it gain to read stored KV data through decode nodes, too (DualPath)?
#
# This is a script, since gains are relative to the direct path.
# Agents have conversations of many turns, whose KV data lies in storage nodes. Each node has four NICs for
# computing and one for storage, all of the same rate. `direct`: only prefill nodes read; `alternate`: every
# second prompt comes by its decode node; `dual`: by the node that has less to fetch. seconds is the time
# until all agents have ended, gain that of direct divided by it. imbalance is the busiest NIC for storage
# divided by the mean of them, read_imbalance that of reads alone: the paper's agents write hardly anything.
# Published for 1:1, 1:2 and 2:1 (DualPath, sections 7.3 and 7.5, figure 13): a mean gain of 1.64 and at most
# 2.46, 1.78 for a model of 27 billion parameters on 1:1, and 1.53 and 1.18 for the busiest NIC.
set -eu
. "$(dirname "$0")/serving_lib.sh"
begin_study "$1" "${STUDY_QUICK:-0}" \
    path,ratio,nr,seconds,gain,fetch_ms,ttft_ms,ttft_p99_ms,kv_hit_rate,imbalance,read_imbalance

# read_imbalance: prints the maximum that a NIC for storage of the last run has read, divided by the
# mean
read_imbalance() {
    awk '/"use": "storage"/ { on = 1 }
        on && /"received_bytes"/ {
            bytes = $2 + 0; sum += bytes; count++; on = 0
            if (bytes > most) most = bytes
        }
        END { if (sum > 0) printf "%.3g", most * count / sum; else print "-" }' "$summary"
}
declare -A direct
gains=0 gain_sum=0 gain_most=0
for path in $(pick paths "direct dual" "direct alternate dual"); do
    nr=0
    for ratio in $(pick ratios "1:1 2:1" "1:1 1:2 2:1"); do
        simulate_file serving.yaml "prefill=${ratio%:*}" "decode=${ratio#*:}" storage=4 cache=store \
            storage_nics=1 "storage_path=$path" rails=5 tp=4 link=20Gbps fabric=star prompt=429 \
            "output=$(pick outputs 20 80)" "clients=$(pick clients 8 16)" "requests=$(pick requests 32 128)" \
            "traffic[0].serving.turns=$(pick turns 4 8)" 'traffic[0].serving.cache-memory=0' \
            'traffic[0].serving.block-tokens=64' nic.ack-interval=16
        seconds=$(value 'apps[0].seconds')
        [ "$path" != direct ] || direct[$ratio]=$seconds
        nr=$((nr + 1))
        gain=$(calc 3 "${direct[$ratio]:-$seconds} / $seconds")
        reads=$(read_imbalance)
        put "$path" "$ratio" $nr "$(calc 4 "$seconds")" "$gain" \
            "$(calc 4 "$(value 'apps[0].stages.fetch_ms')")" "$(calc 4 "$(value 'apps[0].ttft_ms.mean')")" \
            "$(calc 4 "$(value 'apps[0].ttft_ms.p99')")" "$(calc 3 "$(value 'apps[0].kv_hit_rate')")" \
            "$(calc 3 "$(value 'apps[0].storage_nic_imbalance')")" "$reads"
        case $path/$ratio in
        alternate/1:1) ;;
        alternate/*) versus "busiest NIC in turns on $ratio" "$reads" 1.53 "DualPath 7.5" ;;
        dual/1:1) versus "gain of 1:1" "$gain" 1.78 "DualPath 7.3" ;;
        dual/*) versus "busiest NIC by load on $ratio" "$reads" 1.18 "DualPath 7.5" ;;
        esac
        if [ "$path" = dual ]; then
            gains=$((gains + 1))
            gain_sum=$(calc 6 "$gain_sum + $gain")
            gain_most=$(calc 3 "($gain > $gain_most ? $gain : $gain_most)")
        fi
    done
done
if [ $gains = 3 ]; then
    versus "mean gain" "$(calc 3 "$gain_sum / 3")" 1.64 "DualPath 7.3"
    versus "largest gain" "$gain_most" 2.46 "DualPath 7.3"
fi
labels=1 axis=3 draw "prefill:decode" gain read_imbalance ttft_ms
