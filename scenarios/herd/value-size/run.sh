#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# value-size - the rate by the size of values, with 5 % PUTs (figure 10, Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
for system in herd pilaf farm farm-var; do
    case $system in
    herd) sizes="4 32 56 60 116 120 256 512 1024" ;;
    farm) sizes="4 16 32 64 128 256 512 1024" ;;
    *) sizes="32 64 128 256 512 1024" ;;
    esac
    for size in $sizes; do
        herd "$system-$size" "system=$system" "value=$size"
        measure "$system $size B" "$(mops "$system-$size")"
    done
done
expect "HERD: the rate falls beyond 56 B" "$(mops herd-60)" "<" "$(mops herd-56)"
expect "HERD: the rate falls beyond 116 B" "$(mops herd-120)" "<" "$(mops herd-116)"
report
