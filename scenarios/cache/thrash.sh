#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# thrash - how many pauses does a thrashing NIC cause, and how much do they slow another flow?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
scenario=thrash.yaml
echo "curve,x,mops,l1_hit_rate,pauses,victim_us" >"$out/data.csv"
for policy in flat two-tier three-tier; do
    for qps in $(pick qps "64 4096" "64 512 2048 8192 16384"); do
        case $policy in
        flat) set -- policy=flat detailed.context.entries=988 ;;
        two-tier) set -- policy=lru l1_entries=8192 l2_bytes=0 ;;
        *) set -- policy=lru l1_entries=8192 l2_bytes=16MiB ;;
        esac
        run=$out/$policy-$qps options=()
        for option in "$@" "tokens=$qps" "operations=$(pick 4000 40000)"; do
            options+=(--set "$(whole "$option")")
        done
        if ! "$program" run "$here/$scenario" -o "$run" --quiet "${options[@]}" "${more[@]}" \
            >"$run.log" 2>&1; then
            cat "$run.log" >&2
            exit 1
        fi
        file=$run/summary.json
        line=$policy,$qps
        for field in apps[0].mops nics[0].cache.l1_hit_rate pfc.pause_frames flows.fct_us.p99; do
            line="$line,$(value_of "$file" "$field")"
        done
        echo "$line" >>"$out/data.csv"
        tail -n 1 "$out/data.csv"
    done
done
draw "queue pairs" mops pauses victim_us log
