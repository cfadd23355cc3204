#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# algorithms - which all-reduce is fastest at which size, and does NCCL's tuning choose it?
#
# This is a script, since NCCL's expectation stands beside each time.
# 32 GPUs in servers of 8 on a rail-optimised fabric, with the latencies of NCCL's tuning. `auto` is
# NCCL's choice. theirs_us is the time that NCCL expects, by which it chooses.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" algorithm,bytes,chosen,protocol,busbw_gbytes_per_s,ours_us,theirs_us,difference_percent
for algorithm in $(pick algorithms "ring tree auto" \
    "ring tree halving-doubling hierarchical nvls nvls-tree auto"); do
    for bytes in $(pick sizes "16KiB 4MiB" "16KiB 256KiB 1MiB 4MiB 16MiB 64MiB 256MiB"); do
        set -- ranks="$(pick 16 32)" algorithm="$algorithm" bytes="$bytes" tuning_latency=true pxn=true
        collect "$@"
        put "$algorithm" "$(bytes_of "$bytes")" "$(first algorithm)" "$(first protocol)" \
            "$(calc "$(first busbw_gbytes_per_s)")" \
            "$(against "$(calc "$(first mean_us)")" "$(expected "$@")")"
    done
done
draw bytes ours_us busbw_gbytes_per_s log
