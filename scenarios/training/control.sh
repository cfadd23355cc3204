#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# control - which congestion control suits training on a fabric with collisions?
#
# Leaf-spine with a server a leaf, the rings of 8 rails meet on the spines by ECMP. `none` leaves all
# to PFC.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" cc,seed,iteration_ms,compute_ms,tp_ms,pp_ms,dp_ms,ep_ms,pauses
for cc in $(pick controls "none dcqcn" "none dcqcn dctcp hpcc timely"); do
    for seed in $(pick seeds "1" "1 2"); do
        # shellcheck disable=SC2046
        simulate $(small) overlap=none per_leaf=1 topology=leaf-spine "cc=$cc" "seed=$seed"
        put "$cc" "$seed" "$(times)" "$(value pfc.pause_frames)"
    done
done
draw seed iteration_ms dp_ms
