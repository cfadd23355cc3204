#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# batch - how many misses should be read at once, and how large may a cluster be?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
batch="cache.l2.path=batch outstanding=512 cache.l2.access=dma
    detailed.pu.count=256"
for cluster in $(pick "64KiB" "232 4KiB 64KiB"); do
    for size in $(pick "8 32" "1 8 32 64 128"); do
        # shellcheck disable=SC2086
        row "cluster $cluster" "$size" $busy $length tokens=4096 l1_entries=256 l2_bytes=1MiB \
            policy=lru pattern=uniform \
            $batch "cache.batch.threshold=$size" "cache.cluster=$cluster"
    done
done
figure "misses of a batch" mops access_ns access_ns_p99 log
