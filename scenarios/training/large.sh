#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# large - how long does an iteration of GPT-175B or Mixtral 8x22B on 1024 GPUs take to simulate?
#
# This is a script, since it prints the time and the memory of the simulation, which no sweep compares.
# wall_s and memory_mb are those of the simulation on one thread; docs/models/training.md has
# measured values.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" model,gpus,iteration_ms,compute_ms,tp_ms,pp_ms,dp_ms,ep_ms,packet_hops,wall_s,memory_mb
for model in $(pick models "gpt-175b" "gpt-175b mixtral-8x22b"); do
    gpus=$(pick 64 1024)
    settings=(model="$model" gpus="$gpus" pp=8 microbatches=16 layers=auto cc=none mtu=9000)
    [ "$model" = gpt-175b ] ||
        settings=(model="$model" gpus="$gpus" tp=4 pp=4 ep=8 microbatches=1 layers=auto cc=none sequence=4096
            mtu=9000)
    [ "$quick" = 0 ] || settings+=(layers=8 microbatches=1 sequence=512)
    simulate "${settings[@]}"
    put "$model" "$gpus" "$(times)" "$(value packet_hops)" "$(value wall_s)" \
        "$(calc "$(value wall_memory_bytes) / 1e6")"
done
labels=1 draw model iteration_ms wall_s
