#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pairs - do more queue pairs for each connection even out the luck of ECMP?
#
# An all-reduce by rings of 32 GPUs on leaf-spine (a server a leaf): the paths of a connection are
# those of its queue pairs' UDP source ports. `0` stands for a queue pair for each message.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" seed,queue_pairs,us,busbw_gbytes_per_s,hottest_util_percent
for seed in $(pick seeds "1" "1 2 3 4 5"); do
    for pairs in $(pick pairs "1 8" "1 2 4 8 16 0"); do
        settings=(connection_pairs="$pairs")
        [ "$pairs" != 0 ] || settings=(queue_pairs=per-message)
        collect ranks="$(pick 16 32)" algorithm=ring topology=leaf-spine per_leaf=1 cc=none \
            bytes="$(pick 4MiB 64MiB)" seed="$seed" "${settings[@]}"
        put "$seed" "$pairs" "$(calc "$(first mean_us)")" "$(calc "$(first busbw_gbytes_per_s)")" \
            "$(calc "$(value "hottest_ports[0].utilisation") * 100")"
    done
done
draw "queue pairs of a connection" us busbw_gbytes_per_s
