#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# memory - how much memory of the NIC and of the host does a queue pair need for its window?
#
# This is a script, since a bitmap, which is computed, stands beside the runs.
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" scheme,window_packets,rtt,loss,nic_bytes_per_qp,host_bytes_max,nodes_max,percent
mtu=4096 frame=$(frame_of adamap)
for rtt in $(pick rtts "1ms" "100us 1ms 10ms 30ms 100ms"); do
    window=$(whole "100e9 * $(seconds "$rtt") / 8 / $frame")
    put bitmap "$window" "$rtt" - "$(whole "($window + 7) / 8")" 0 - -
    for scheme in irn adamap-1e-4 adamap-1e-3 adamap-1e-2; do
        loss=${scheme#*-}
        [ $scheme != irn ] || loss=1e-3
        packets=$(whole "max(50000, 6 * $window)")
        simulate goodput.yaml "transport=${scheme%%-*}" "rtt=$rtt" "loss=$loss" "bytes=$((packets * mtu))"
        put $scheme "$window" "$rtt" "$loss" "$(transport nic_bytes_per_qp host_bytes_max nodes_max)" \
            "$(calc "$(value "apps[0].goodput_gbps") / 100 * $frame / $mtu * 100")"
    done
done
lines window_packets nic_bytes_per_qp "set logscale xy"
