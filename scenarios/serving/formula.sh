#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# formula - how far is bytes / bandwidth from the latency of KV caches, by prefill workers and control?
#
# This is a script, since it averages factors over the patterns of a run.
# Simulators of serving take bytes / bandwidth of a NIC for the time of a transfer. `formula_ms` is this
# time for a sender of a pattern; `factor` is the latency in the workload divided by it, mean and maximum of
# all patterns. `workers` prefill workers of 8 GPUs share one decode worker of 8 GPUs, each GPU with a NIC
# of 400 Gbps, so several caches arrive at a decode node at one time, and ECMP lets flows share links.
set -eu
. "$(dirname "$0")/serving_lib.sh"
begin_study "$1" "${STUDY_QUICK:-0}" control,workers,formula_ms,latency_ms,factor_mean,factor_max
for control in $(pick controls "dcqcn" "none dcqcn hpcc timely"); do
    for workers in $(pick workers "1 2" "1 2 4"); do
        simulate_file kv-matrix.yaml "cc=$control" "prefill=$workers" decode=1 \
            "requests=$(pick requests 4 16)" "tokens=$(pick tokens 500 4000)"
        awk -v control="$control" -v workers="$workers" '
            /"size_gbytes"/ { size = $2 + 0 }
            /"latency_ms"/ { latency = $2 + 0 }
            /"num_senders"/ {
                formula = size / $2 * 8 / 400 * 1000
                factor = latency / formula
                formulas += formula; latencies += latency; sum += factor; count++
                most = factor > most ? factor : most
            }
            END { if (count > 0) printf "%s,%s,%.4g,%.4g,%.4g,%.4g\n", control, workers, formulas / count,
                      latencies / count, sum / count, most }' "$summary" | tee -a "$out/data.csv"
        row=$(tail -n 1 "$out/data.csv")
        IFS=, read -r _ _ formula latency _ <<<"$row"
        versus "latency of a pattern in ms with $workers prefill workers and $control" "$latency" "$formula" \
            "bytes / bandwidth"
    done
done
draw "prefill workers per decode worker" factor_mean factor_max
