#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# batch - how many misses should be read at once, and how large may a cluster be?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
base="tokens=4096 l1_entries=256 l2_bytes=1MiB policy=lru pattern=uniform detailed.pu.count=256"
for access in load dma; do
    for depth in $(pick depths "512" "64 512"); do
        options="$base cache.l2.access=$access outstanding=$depth"
        for size in $(pick sizes "8 32" "1 8 32 64 128"); do
            # shellcheck disable=SC2086
            row "$access $depth" "$size" $busy $length $options cache.l2.path=batch \
                "cache.batch.threshold=$size"
        done
        # shellcheck disable=SC2086
        row "$access $depth one by one" 1 $busy $length $options
    done
done
for cluster in $(pick "" "0 232 4KiB"); do
    for size in 32 128; do
        # shellcheck disable=SC2086
        row "dma 512 cluster $cluster" "$size" $busy $length $base cache.l2.access=dma outstanding=512 \
            cache.l2.path=batch "cache.batch.threshold=$size" "cache.cluster=$cluster"
    done
done
# With a slow L2, a batch pays only if its tokens are needed.
for pattern in $(pick "" "uniform scan"); do
    options="${base/pattern=uniform/pattern=$pattern} outstanding=512 load.shuffle=off cache.l2.rate=20Gbps"
    # shellcheck disable=SC2086
    row "$pattern slow one by one" 1 $busy $length $options
    for size in 32 128; do
        # shellcheck disable=SC2086
        row "$pattern slow" "$size" $busy $length $options cache.l2.path=batch "cache.batch.threshold=$size"
    done
done
draw "misses of a batch" mops access_ns access_ns_p99 log
