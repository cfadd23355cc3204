#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# mtu - what do frames of 9000 bytes save, and what do queue pairs for each message cost?
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" queue_pairs,mtu,iteration_ms,compute_ms,tp_ms,pp_ms,dp_ms,ep_ms
for pairs in $(pick pairs "permanent" "permanent per-message"); do
    for mtu in $(pick mtus "4096 9000" "1024 4096 9000"); do
        # shellcheck disable=SC2046
        simulate $(small) overlap=none topology=leaf-spine per_leaf=1 "mtu=$mtu" "queue_pairs=$pairs"
        put "$pairs" "$mtu" "$(times)"
    done
done
draw mtu iteration_ms dp_ms
