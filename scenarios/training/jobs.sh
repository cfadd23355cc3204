#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jobs - how much do two jobs on one fabric slow each other down, packed and interleaved?
#
# This is a script, since both jobs of a run are rows.
# Each job has two servers of 8 GPUs. Packed, a job's servers share a leaf switch; interleaved, each
# leaf has a server of both jobs, and both exchange gradients over the spines. alone: the
# interleaved placement without the other job.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" case,nr,job,iteration_ms,dp_ms
nr=0
for case in $(pick cases "alone interleaved" "alone packed interleaved"); do
    nr=$((nr + 1))
    first=(0 2) second=(1 3)
    [ "$case" != packed ] || { first=(0 1) second=(2 3); }
    job="sequence-parallel: true, model: gpt-22b, layers: $(pick 1 4), tp: 8, microbatches: 2, overlap: none"
    settings=("traffic[0]={training: {$job, hosts: \"host[${first[0]},${first[1]}]\", dp: 2}}")
    [ "$case" = alone ] ||
        settings+=("traffic[1]={training: {$job, hosts: \"host[${second[0]},${second[1]}]\", dp: 2}}")
    simulate gpus=32 per_leaf=2 spines=4 topology=leaf-spine cc=dcqcn "${settings[@]}"
    for i in 0 1; do
        [ "$(value "apps[$i].iteration_ms")" = - ] ||
            put "$case" $nr "$i" "$(calc "$(value "apps[$i].iteration_ms")")" \
                "$(calc "$(value "apps[$i].exposed_ms.dp")")"
    done
done
labels=1 draw case iteration_ms dp_ms
