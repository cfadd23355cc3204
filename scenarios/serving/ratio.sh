#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ratio - how far is bytes / bandwidth from the time of KV data, by load and prefill:decode ratio?
#
# This is a script, since the formula of shared bandwidth stands beside each time.
# Simulators of serving take bytes / bandwidth for the time of KV data (formula_ms), or divide the bandwidth
# by the transfers under way: with load r of a decode node's NIC that is formula_ms / (1 - r), shared_ms, if
# requests arrive as Poisson. kv_ms is what packets take on a leaf-spine fabric, from the computed prompt to
# its last KV byte; factor is kv_ms / formula_ms. `load` is r.
set -eu
. "$(dirname "$0")/serving_lib.sh"
begin_study "$1" "${STUDY_QUICK:-0}" \
    ratio,rate,load,formula_ms,shared_ms,kv_ms,kv_p99_ms,factor,ttft_p99_ms
for ratio in $(pick ratios "4:4 7:1" "4:4 6:2 7:1"); do
    for rate in $(pick rates "20 60" "10 20 40 60 80"); do
        simulate_file serving.yaml kv=whole "prefill=${ratio%:*}" "decode=${ratio#*:}" "rate=$rate" \
            "requests=$(pick requests 60 300)" "output=lognormal 16 1"
        formula=$(value 'apps[0].kv_formula_ms')
        load=$(calc 3 "$rate * $formula / 1e3 / ${ratio#*:}")
        put "$ratio" "$rate" "$load" "$(calc 4 "$formula")" \
            "$(calc 4 "$load < 1 ? $formula / (1 - $load) : -1")" \
            "$(calc 4 "$(value 'apps[0].kv_ms.mean')")" "$(calc 4 "$(value 'apps[0].kv_ms.p99')")" \
            "$(calc 3 "$(value 'apps[0].kv_ms.mean') / $formula")" \
            "$(calc 4 "$(value 'apps[0].ttft_ms.p99')")"
        versus "KV time in ms of $ratio nodes at $rate requests/s" \
            "$(calc 4 "$(value 'apps[0].kv_ms.mean')")" \
            "$(calc 4 "$formula / (1 - $load)")" "shared bandwidth"
    done
done
draw "requests per second" factor ttft_p99_ms
