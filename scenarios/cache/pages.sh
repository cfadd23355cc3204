#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pages - how do page size and number of memory regions share the caches?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
for page in $(pick "4KiB" "4KiB 2MiB 1GiB"); do
    for regions in $(pick "16 4096" "16 128 1024 4096 12288"); do
        # shellcheck disable=SC2086
        row "$page" "$regions" $busy $length tokens=64 policy=lru "load.regions=$regions" \
            load.region-bytes=2MiB "detailed.translation.page=$page" \
            cache.l1.other-entries=1024
    done
done
figure "memory regions" mops latency_us_p99 dma_bytes log
