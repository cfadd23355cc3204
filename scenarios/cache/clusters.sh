#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clusters - how much should move at a time, who should decide, and how full may the directory be?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
length="warm_up=0 operations=60000"
[ "$quick" = 0 ] || length="warm_up=0 operations=4000"
load="tokens=8192 l1_entries=1024 l2_bytes=1MiB pattern=zipf"
# The x axis is the size of a cluster in KiB; 0: each token alone.
for size in $(pick sizes "0 64" "0 1 4 16 64 256"); do
    # shellcheck disable=SC2086
    row "thresholds of the NIC" "$size" $busy $length $load policy=hybrid cache.promote.l2=2 \
        "cache.cluster=${size}KiB"
    # shellcheck disable=SC2086
    row "rule of the driver" "$size" $busy $length $load policy=lru cache.driver.prestage=4 \
        "cache.cluster=${size}KiB"
    # shellcheck disable=SC2086
    row "rule of the driver with 32 requests" "$size" $busy $length $load policy=lru \
        cache.driver.prestage=32 "cache.cluster=${size}KiB"
done
# Urgent requests wait while the driver works on a cluster: compression takes longer here.
for size in $(pick "" "1 4 16 64 256"); do
    # shellcheck disable=SC2086
    row "rule of the driver with slow compression" "$size" $busy $length $load policy=lru \
        cache.driver.prestage=4 "cache.cluster=${size}KiB" cache.expand.decompress=200ns
done
# 7300 tokens fill 8192 places of the directory to 0.89, or more places less.
for load_of in $(pick shares "1" "0.25 0.5 0.75 0.9 1"); do
    # shellcheck disable=SC2086
    row "directory filled to $load_of" 64 $busy $length $load tokens=7300 policy=lru cache.driver.prestage=4 \
        "cache.directory-load=$load_of"
done
draw "KiB of a cluster" mops access_ns access_ns_p99
