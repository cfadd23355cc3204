#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waiting - is it better to wait for a token that moves, or to read its old copy?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
# Tokens that were idle for 20 us leave L1, and come back with their second use: moves are common.
moves="tokens=512 policy=hybrid pattern=uniform outstanding=32 cache.promote.l1=2 cache.promote.l2=1
    cache.l1.staging=0 cache.demote.l1-idle=20us cache.maintenance.interval=5us cache.maintenance.tokens=256"
for waiting in wait optimistic; do
    for work in $(pick times "0 10" "0 1 3 10 30 100"); do
        # shellcheck disable=SC2086
        row "$waiting between L1 and L2" "$work" $busy $length $moves l1_entries=512 l2_bytes=1MiB \
            "waiting=$waiting" "cache.move.work=${work}us"
        # shellcheck disable=SC2086
        row "$waiting with a small L2" "$work" $busy $length $moves l1_entries=128 l2_bytes=8KiB \
            "waiting=$waiting" "cache.move.work=${work}us"
    done
done
draw "time of a move besides its transfers, us" mops met_ns met_ns_p99
