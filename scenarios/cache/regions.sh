#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# regions - which policy should hold the keys of memory regions, as a KV cache's host has many of them?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
for policy in $(pick policies "lru hybrid" "lru fifo random sieve lfu hybrid"); do
    for regions in $(pick regions "512 2048" "512 1024 1536 2048 4096"); do
        options="cache.other.policy=$policy"
        [ "$policy" != hybrid ] || options="$options adaptive=true cache.adaptive.rule=shadow"
        # shellcheck disable=SC2086
        row "$policy" "$regions" $busy $length tokens=64 policy=lru "load.regions=$regions" \
            load.region-bytes=2MiB cache.l1.other-entries=1024 detailed.translation.page=1GiB $options
    done
done
for path in $(pick paths "batch" "direct batch"); do
    for regions in $(pick regions "2048" "512 1024 1536 2048 4096"); do
        # shellcheck disable=SC2086
        row "lru and slow L2 $path" "$regions" $busy $length tokens=64 policy=lru "load.regions=$regions" \
            load.region-bytes=2MiB cache.l1.other-entries=1024 detailed.translation.page=1GiB \
            cache.l2.rate=4Gbps "cache.other.path=$path" cache.batch.threshold=8
    done
done
draw "memory regions" mops latency_us_p99 dma_bytes log
