#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# iommu - how do the size of registered memory and the IOMMU's pages change the rate of a plain NIC?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
# region BYTES USE PAGE: WRITEs of BYTES from one region of growing size, by a NIC with 8 lanes
region() {
    local size
    for size in $(pick sizes "128 16384" "64 128 256 512 1024 4096 16384 65536 262144 1048576"); do
        # shellcheck disable=SC2086
        row "$1 bytes $2 $3" "$size" $busy $length outstanding=256 tokens=64 pattern=uniform policy=flat \
            load.regions=1 "load.region-bytes=${size}KiB" "load.bytes=$1" topology.star.rate=400Gbps \
            detailed.translation.page=1GiB detailed.pcie.lanes=8 \
            "nodes.host0.nic.host.iommu.use=$2" "nodes.host0.nic.host.iommu.page=$3"
    done
}
for bytes in $(pick record-sizes "64" "64 256 512"); do
    region "$bytes" off 4KiB
    region "$bytes" all 4KiB
    region "$bytes" all 2MiB
done
draw "KiB of registered memory" mops latency_us_p99 l1_hit_rate log
