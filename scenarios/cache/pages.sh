#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pages - how do page size, place of page tables and number of memory regions change the rate?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
# pages CURVE PAGE BYTES: runs pages of size PAGE with BYTES of page tables in L2
pages() {
    local regions
    for regions in $(pick regions "16 4096" "16 128 1024 4096 12288"); do
        # shellcheck disable=SC2086
        row "$1" "$regions" $busy $length tokens=64 policy=lru "load.regions=$regions" \
            load.region-bytes=2MiB "detailed.translation.page=$2" "cache.l2.page-table=$3" \
            cache.l1.other-entries=1024
    done
}
for page in $(pick pages "4KiB" "4KiB 2MiB 1GiB"); do
    pages "$page" "$page" 0
done
for bytes in $(pick region-sizes "64MiB" "1MiB 64MiB"); do
    pages "4KiB with $bytes of tables in L2" 4KiB "$bytes"
done
draw "memory regions" mops latency_us_p99 dma_bytes log
