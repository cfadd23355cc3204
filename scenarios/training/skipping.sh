#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# skipping - how much faster is fast-forward, and where does it gain nothing?
#
# This is a script, since it compares two runs of each case.
# Each case runs in full and with fast_forward=exact, which must have the same outcome. Wormhole (NSDI
# 2026) states 227 to 745 times over ns-3 for GPT and 135 to 510 for MoE, tensor parallelism left out, at
# an error of 3 %. Exact periods and remembered collectives have no error, and gain only where the network
# repeats itself.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" case,packet_hops,simulated,skipped_percent,full_s,exact_s,faster,same_outcome
# compare CASE RUN NAME=VALUE...: RUN is simulate or collect
compare() {
    local case=$1 run=$2 outcome seconds
    shift 2
    "$run" "$@" fast_forward=rested
    outcome=$(value outcome_digest) seconds=$(value wall_s)
    "$run" "$@" fast_forward=exact
    put "$case" "$(value packet_hops)" "$(value fast_forward.packet_hops_simulated)" \
        "$(calc "100 * $(value fast_forward.packet_hops_skipped) / $(value packet_hops)")" \
        "$(calc "$seconds")" "$(calc "$(value wall_s)")" "$(calc "$seconds / $(value wall_s)")" \
        "$([ "$outcome" = "$(value outcome_digest)" ] && echo yes || echo no)"
}
servers=$(pick servers "2" "16")
compare gpt-13b simulate model=gpt-13b topology=rails gpus=$((8 * servers)) tp=8 pp=1 \
    microbatches=1 cc=none overlap=none bucket=0 protocol=plain channels=1 algorithm=ring \
    "layers=$(pick layers "2" "auto")"
ring=(kind=all-reduce per_node=1 algorithm=ring)
compare ring collect "${ring[@]}" topology=rails ranks=8 protocol=plain channels=1 cc=dcqcn \
    "bytes=$(pick bytes "16MiB" "400MiB")"
compare moe collect kind=all-to-all topology=leaf-spine "repeat=$(pick repeat "6" "32")" compute=1ms \
    calc_grid=1ms cc=hpcc
compare slices collect "${ring[@]}" topology=rails ranks=8 protocol=simple cc=none
compare collided collect "${ring[@]}" topology=leaf-spine ranks=16 per_leaf=4 spines=1 map=random \
    protocol=plain channels=1 cc=dcqcn rate=100Gbps "bytes=$(pick bytes "8MiB" "48MiB")"
draw case skipped_percent faster
