#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# applications - how much SRAM and CXL memory do the NICs of HERD, Mooncake, training and serving need?
#
# This is a script, since speeds are relative to a run with room for everything.
set -eu
. "$(dirname "$0")/../study_lib.sh"
open_study "$1" "${STUDY_QUICK:-0}" curve,x,speed,result,l1_hit_rate,l2_hit_rate,expands,dma_bytes

# Prints the result that users of application $1 see, from $summary.
result_of() {
    case $1 in
    herd) value_of "$summary" apps[0].mops ;;
    mooncake) value_of "$summary" apps[0].gbytes_per_s ;;
    training) value_of "$summary" apps[0].finish_us.mean ;;
    serving) value_of "$summary" apps[0].kv_ms.mean ;;
    esac
}

# row APP STORE L1 NAME=VALUE...: runs a simulation and prints its row. `speed` is relative to
# $best, the result with room for everything. x is the number of entries that the SRAM has.
row() {
    local app=$1 curve="$1 $2" x=$3 nic=0 result speed fields=() name
    shift 3
    [ "$app" != serving ] || nic=1 # host0 only sends requests to the nodes
    simulate_file applications.yaml "app=$app" "$@"
    result=$(result_of "$app")
    : "${best:=$result}"
    case $app in
    herd | mooncake) speed=$(awk -v a="$result" -v b="$best" 'BEGIN { printf "%.3f", a / b }') ;;
    *) speed=$(awk -v a="$result" -v b="$best" 'BEGIN { printf "%.3f", b / a }') ;;
    esac
    for name in l1_hit_rate l2_hit_rate expands.urgent dma_bytes; do
        fields+=("$(value_of "$summary" "nics[$nic].cache.$name" | sed 's/^null$/-/')")
    done
    put "$curve" "$x" "$speed" "$result" "${fields[@]}"
}

for app in $(pick apps "herd training" "herd mooncake training serving"); do
    best=
    row "$app" three-tier 8192 l1=8192 l2=16MiB
    for l1 in $(pick entries "8 128" "8 16 32 64 128 256 512"); do
        row "$app" two-tier "$l1" "l1=$l1" l2=0
        row "$app" three-tier "$l1" "l1=$l1" l2=16MiB
        # As many contexts of 232 bytes as the SRAM of l1 entries of 28 bytes has room for.
        row "$app" flat "$l1" policy=flat "contexts=$(((l1 * 28 + 231) / 232))"
    done
done
draw "entries of L1" speed l1_hit_rate log
