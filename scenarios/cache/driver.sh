#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# driver - how long do urgent and background requests wait for the driver, and how much does the order help?
#
# This is a script, since the waits of Cobham's formula stand beside those of each run.
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
# Host 0 sends (asynchronous, in the background) and receives (urgent) at random times; all contexts
# are with the host.
echo "curve,x,mops,load,urgent_wait_ns,background_wait_ns,urgent_by_formula_ns,background_by_formula_ns" \
    >"$out/data.csv"
for interval in $(pick intervals "5000 2500" "10000 5000 3300 2500 2000 1700 1500"); do
    run=$out/$interval options=()
    for option in policy=lru tokens=4000 l1_entries=64 l2_bytes=0 pattern=uniform direction=both \
        transport=rc outstanding=4096 warm_up=2000 "operations=$(pick 4000 100000)" \
        "load.interval=${interval}ns" \
        load.arrivals=poisson cache.expand.asynchronous=true cache.directory=sram cache.record=false \
        detailed.pu.count=256; do
        options+=(--set "$(whole "$option")")
    done
    if ! "$program" run "$here/$scenario" -o "$run" --quiet "${options[@]}" "${more[@]}" \
            >"$run.log" 2>&1; then
        cat "$run.log" >&2
        exit 1
    fi
    file=$run/summary.json
    # Cobham's formula for two classes of equal services of 570 ns.
    awk -v x="$interval" -v mops="$(value_of "$file" "apps[0].mops")" \
        -v load="$(value_of "$file" "nics[0].cache.driver_utilisation")" \
        -v a="$(value_of "$file" "nics[0].cache.driver.urgent.requests")" \
        -v b="$(value_of "$file" "nics[0].cache.driver.background.requests")" \
        -v u="$(value_of "$file" "nics[0].cache.driver.urgent.wait_ns.mean")" \
        -v g="$(value_of "$file" "nics[0].cache.driver.background.wait_ns.mean")" '
        BEGIN {
            urgent = load * 570 / 2 / (1 - load * a / (a + b))
            printf "driver,%s,%s,%s,%s,%s,%.1f,%.1f\n", x, mops, load, u, g, urgent, urgent / (1 - load)
        }' >>"$out/data.csv"
    tail -n 1 "$out/data.csv"
done
draw "time between two operations of each side, ns" urgent_wait_ns background_wait_ns load
