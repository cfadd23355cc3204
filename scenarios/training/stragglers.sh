#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stragglers - what do a slow GPU, jitter and a flapping link cost a whole job?
#
# slow: one GPU computes 20 % slower. jitter: the time of each computation varies by 5 %. flapping:
# a link between a server and its leaf is down for 200 us of each 2 ms, six times.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" case,nr,iteration_ms,compute_ms,tp_ms,pp_ms,dp_ms,ep_ms,resent
nr=0
for case in $(pick cases "even slow flapping" "even slow jitter flapping"); do
    nr=$((nr + 1))
    settings=()
    case $case in
    slow) settings=("slow_ranks=[3]" "traffic[0].training.slow-factor=1.2") ;;
    jitter) settings=(jitter=0.05) ;;
    flapping)
        settings=("faults[0]={part: host0--leaf0, at: 400us, until: 600us, every: 2ms, times: 6}")
        ;;
    esac
    # shellcheck disable=SC2046
    simulate $(small) topology=leaf-spine per_leaf=1 "${settings[@]}"
    put "$case" $nr "$(times)" "$(value retransmitted_packets)"
done
labels=1 draw case iteration_ms dp_ms
