#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# echo - do the chunks of an all-reduce take the round trips that Echo measured on H800?
#
# This is a script, since published figures stand beside its runs.
# Echo (arXiv 2412.12487), table 6: 32 H800, NCCL, a 400 Gbps NIC a GPU, NVLink of 200 GB/s. A round
# trip: 16 channels of two GPUs send a chunk each to the other one and back. Between servers, the
# 8 GPUs of both do so at once. Latencies are those of NCCL's tuning for Simple. The maker of the
# processors is not published; Intel's times are nearer.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" hop,chunk_bytes,tensor_mb,ours_us,theirs_us,difference_percent
while read -r tensor chunk inside between; do
    [ "$quick" = 0 ] || [ "$tensor" = 4 ] || continue
    for hop in inside between; do
        set -- ranks=2 per_node=2 topology=star servers=1
        [ $hop = inside ] || set -- ranks=2 per_node=1 topology=star
        collect "$@" kind=all-reduce algorithm=ring protocol=simple channels=16 nvlink=1600Gbps \
            chunk="$((chunk * 1000))" bytes="$((32 * chunk * 1000))" tuning_latency=true processor=intel
        put $hop $((chunk * 1000)) "$tensor" "$(against "$(calc "$(first mean_us)")" "${!hop}")"
    done
done <<'ROWS'
4 18 57.43 54.3
8 36 64.36 72.32
16 72 73.62 106.73
128 144 75.55 174.2
256 288 99.23 278.98
ROWS
draw "chunk (bytes)" ours_us theirs_us
