#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# server-cores - the rate by the cores of the server, and the effect of prefetching (figures 13 and 7, Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
for cores in 1 2 3 4 5 6; do
    herd "herd-$cores" "workers=$cores"
    measure "HERD $cores" "$(mops "herd-$cores")"
    for system in pilaf farm; do
        herd "$system-$cores" "workers=$cores" "system=$system" update_percentage=100
        measure "$system PUT $cores" "$(mops "$system-$cores")"
    done
done
for accesses in 2 8; do
    for cores in 1 2 4 5; do
        for prefetch in off on; do
            run="echo-$accesses-$cores-$prefetch"
            herd "$run" system=echo "workers=$cores" "extra_accesses=$accesses" "prefetch=$prefetch" \
                "pipeline=$([ $prefetch = on ] && echo 1 || echo 0)"
            measure "$accesses accesses $cores prefetch $prefetch" "$(mops "$run")"
        done
    done
done
report
