#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# endpoints - how much do thousands of queue pairs slow a NIC whose cache holds fewer?
#
# One host writes blocks of 512 bytes to 16 others over a detailed NIC, with a growing number of
# queue pairs per endpoint. A slice may use any of them, so the NIC needs each of their contexts
# from time to time.
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve queue_pairs gbytes_per_s context_misses
for profile in connectx-3 connectx-5; do
    rate=$([ $profile = connectx-3 ] && echo 56 || echo 100)
    for qps in $(pick qps "2 64" "2 8 32 128 256"); do
        go "$profile-$qps" bench.yaml nics=1 nic_rate=${rate}Gbps "qps_per_endpoint=$qps" block_bytes=512 \
            slice_bytes=512 $bench.engine.cpu.post=50ns batch=256 threads=16 topology.star.hosts=18 \
            "$bench.to='host[1-16]'" $bench.metadata.host=host17 \
            operation=write "$bench.duration=$(pick 1ms 3ms)" \
            "nic={model: detailed, profile: $profile, mtu: 4096, congestion-control: none}"
        row $profile $((qps * 16)) "$(gbytes)" "$(value 'nics[0].context_misses')"
    done
done
figure "queue pairs" gbytes_per_s log
exit "$status"
