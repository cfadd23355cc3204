#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# topology - how much do rails save against leaf-spine and fat-tree, and how much does ECMP's luck cost?
#
# Four servers of 8 GPUs exchange the gradients of a 22B model's layers. On rails each ring has a
# switch of its own. On leaf-spine (a server a leaf) and on a fat-tree, rings meet on links by
# ECMP; the seed decides where.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" topology,seed,iteration_ms,compute_ms,tp_ms,pp_ms,dp_ms,ep_ms,hottest_util_percent
for topology in $(pick topologies "rails leaf-spine" "rails leaf-spine fat-tree"); do
    for seed in $(pick seeds "1" "1 2 3"); do
        # shellcheck disable=SC2046
        simulate $(small) overlap=none per_leaf=1 "topology=$topology" "seed=$seed"
        put "$topology" "$seed" "$(times)" \
            "$(calc "$(value "hottest_ports[0].utilisation") * 100")"
    done
done
draw seed iteration_ms dp_ms
