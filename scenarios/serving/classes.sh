#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# classes - how do priority classes and congestion controls share a fabric between KV data and training?
#
# This is a script, since each case counts the times of one application alone.
# classes: `one` class for all, `two` with equal shares, or `kv-first`: KV data has 7/8 of a port where both
# wait. `serving` and `training` are the runs of one alone. ttft and kv are those of serving, iteration_ms is
# the mean iteration of the training, whose gradients keep the fabric busy.
set -eu
. "$(dirname "$0")/serving_lib.sh"
begin_study "$1" "${STUDY_QUICK:-0}" \
    control,classes,nr,ttft_ms,ttft_p99_ms,kv_ms,kv_p99_ms,iteration_ms,paused_ms
requests=$(pick requests 16 60)
iterations=$(pick iterations 1 4)
# case_of CONTROL NAME SERVES TRAINS SETTING...: runs a case; SERVES and TRAINS: whether its times count
case_of() {
    local control=$1 name=$2 serves=$3 trains=$4 ttft=- ttft_p99=- kv=- kv_p99=- iteration=-
    shift 4
    simulate_file beside.yaml "cc=$control" "$@"
    if [ "$serves" = 1 ]; then
        ttft=$(calc 4 "$(value 'apps[0].ttft_ms.mean')")
        ttft_p99=$(calc 4 "$(value 'apps[0].ttft_ms.p99')")
        kv=$(calc 4 "$(value 'apps[0].kv_ms.mean')")
        kv_p99=$(calc 4 "$(value 'apps[0].kv_ms.p99')")
    fi
    [ "$trains" = 0 ] || iteration=$(calc 4 "$(value 'apps[1].iteration_ms')")
    nr=$((nr + 1))
    put "$control" "$name" $nr "$ttft" "$ttft_p99" "$kv" "$kv_p99" "$iteration" \
        "$(calc 4 "$(value 'pfc.paused_ps') / 1e9")"
}
for control in $(pick controls dcqcn "dcqcn hpcc timely none"); do
    nr=0
    case_of "$control" serving 1 0 "requests=$requests" iterations=1 'traffic[1].training.start=5s'
    case_of "$control" training 0 1 requests=1 "iterations=$iterations"
    for classes in $(pick classes "one kv-first" "one two kv-first"); do
        case_of "$control" "$classes" 1 1 "classes=$classes" "requests=$requests" "iterations=$iterations"
    done
done
labels=1 axis=3 draw "classes" ttft_p99_ms kv_p99_ms iteration_ms
