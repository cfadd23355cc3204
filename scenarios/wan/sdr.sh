#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sdr - how long do messages of 128 MiB to 8 GiB take over 3750 km, compared with SDR-RDMA's formula?
#
# This is a script, since SDR-RDMA's formula stands beside each time.
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" case,bytes,loss,ms,bound_ms,over_bound,ideal_ms,slowdown
rate=400 rtt=25ms
for rto in 3 1; do
    for size in $(pick sizes "128MiB" "128MiB 1GiB 8GiB"); do
        bytes=$(whole "${size%?iB} * (\"${size#"${size%?iB}"}\" == \"GiB\" ? 1073741824 : 1048576)")
        for loss in $(pick losses "0.001" "0.000001 0.00001 0.0001 0.001 0.01"); do
            messages=$(pick 2 "$(whole "max(2, min(64, 8589934592 / $bytes))")")
            depth=1
            # A work request has at most 1 GiB: all work requests of a longer message are posted at
            # once.
            [ "$size" != 8GiB ] || messages=1 depth=16
            simulate goodput.yaml transport=sdr "rate=${rate}Gbps" "rtt=$rtt" "loss=$loss" "bytes=$bytes" \
                "nic.sdr.rto=$rto" "traffic[0].bulk.messages=$messages" "traffic[0].bulk.depth=$depth"
            ms=$(calc "$(value "apps[0].flows.fct_us.mean") / 1000 / $messages")
            # E[max(t(i) + O (Y_i - 1))] + RTT, exponents rounded up.
            bound=$(awk -v m=$((bytes / 4096)) -v p="$loss" -v rtt="$(seconds $rtt)" -v rto=$rto \
                -v t="$(calc "$(frame_of sdr) * 8 / ${rate}e9")" '
                function ceil(x) { return x == int(x) ? x : int(x) + 1 }
                function sure(x,   k, high, low, sum) {
                    high = m
                    for (k = 0; high > 0 && k < 12; k++) {
                        low = ceil((x - (k + 1) * o) / t - 1e-9)
                        if (low < 0) low = 0
                        if (high > low) { sum += (high - low) * log(1 - p ^ (k + 1)); high = low }
                    }
                    return exp(sum) }
                BEGIN { o = rto * rtt + t; steps = 20000; step = 8 * o / steps; x = m * t
                    for (i = 0; i < steps; i++) rest += (1 - sure(x + (i + 0.5) * step)) * step
                    printf "%.6g", (x + rest + rtt) * 1000 }')
            ideal=$(calc "($bytes / 4096 * $(frame_of sdr) * 8 / ${rate}e9 + $(seconds $rtt)) * 1000")
            put "$size rto=$rto" "$bytes" "$loss" "$ms" "$bound" "$(calc "$ms / $bound")" "$ideal" \
                "$(calc "$ms / $ideal")"
        done
    done
done
lines loss slowdown "set logscale x"
