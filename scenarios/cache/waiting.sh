#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waiting - how long do accesses wait for tokens that move, and how much time does reading old copies save?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
for waiting in wait optimistic; do
    for latency in $(pick "1us" "250ns 500ns 1us 2us 4us"); do
        # shellcheck disable=SC2086
        row "$waiting" "$(echo "$latency" | sed "s/us/000/; s/ns//")" $busy $length tokens=2048 \
            l1_entries=256 l2_bytes=16KiB policy=hybrid \
            "waiting=$waiting" cache.promote.l1=16 cache.promote.l2=4 \
            cache.l1.staging=0 cache.demote.l1-idle=20us "cache.l2.latency=$latency"
    done
done
draw "latency of L2, ns" mops access_ns access_ns_p99
