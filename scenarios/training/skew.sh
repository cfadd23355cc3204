#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# skew - what do hot experts cost?
#
# Two layers of Mixtral 8x7B on 16 GPUs in servers of 2, so that all-to-alls leave the servers.
# Tokens choose experts by Zipf's law with the given exponent.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" cc,skew,iteration_ms,compute_ms,tp_ms,pp_ms,dp_ms,ep_ms
for cc in $(pick controls "none" "none dcqcn"); do
    for skew in $(pick skews "0 1" "0 0.5 1 1.5"); do
        simulate model=mixtral-8x7b layers=2 gpus=16 per_node=2 tp=1 pp=1 ep=8 microbatches=1 \
            sequence=4096 topology=leaf-spine "cc=$cc" "skew=$skew"
        put "$cc" "$skew" "$(times)"
    done
done
draw skew iteration_ms ep_ms
