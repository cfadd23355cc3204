#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# qps - how much of the shared buffer do 1 to 10,000 queue pairs need, and what happens when it runs out?
#
# This is a script, since the bytes of a queue pair follow from their number.
set -eu
. "$(dirname "$0")/wan_lib.sh"
columns=blocks,qps,percent,completed,blocks_max,host_bytes_max,host_grown,host_refused,dropped,nodes_max
begin "$1" $columns,nic_bytes_all
total=$(pick 100000 1000000)
for blocks in 1048576 $(pick blocks "16" "256 64 16"); do
    # Packets that a full buffer refuses are retransmitted again and again.
    [ "$blocks" = 1048576 ] || total=$(pick 10000 40000)
    for qps in $(pick qps "1 100" "1 10 100 1000 10000"); do
        simulate goodput.yaml rtt=10ms loss=0.01 "qps=$qps" "bytes=$((total / qps * 4096))" \
            "nic.adamap.blocks=$blocks"
        put "$blocks" "$qps" "$(calc "$(value "apps[0].goodput_gbps") * 4194 / 4096")" \
            "$(value "apps[0].completed")" \
            "$(transport blocks_max host_bytes_max host_grown host_refused dropped nodes_max)" \
            "$(whole "$(transport nic_bytes_per_qp) * $qps")"
    done
done
lines qps percent "set logscale x" "set yrange [0:100]"
