#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# goodput - which share of a 100 Gbps link does each transport use at a given loss and distance?
#
# This is a script, since the number of packets follows from loss and distance.
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" transport,rtt,loss,percent,closed_percent,nic_bytes_per_qp,rounds_max,timeouts
gbps=100 mtu=4096
for transport in go-back-n irn adamap sdr; do
    frame=$(frame_of $transport)
    for rtt in $(pick rtts "100us 10ms" "10us 100us 1ms 10ms 30ms 100ms"); do
        for loss in $(pick losses "0.01" "0.00001 0.0001 0.001 0.01"); do
            n=$(calc "1 + $gbps * 1e9 * ($(seconds "$rtt") + 2e-6) / 8 / $frame")
            # The bytes suffice for enough losses, and for time beyond the first and last round
            # trip.
            if [ $transport = go-back-n ]; then
                packets=$(whole "min(600000, max(2000, 25 / $loss))")
                closed=$(calc "100 * (1 - $loss) / (1 + $loss * ($n - 1))")
            else
                packets=$(whole "min(2000000, max(8 * $n, 200 / $loss))")
                closed=$(calc "100 * (1 - $loss)")
            fi
            [ "$quick" = 0 ] || packets=$(whole "$packets / 4")
            simulate goodput.yaml "transport=$transport" "rtt=$rtt" "loss=$loss" "bytes=$((packets * mtu))"
            put $transport "$rtt" "$loss" \
                "$(calc "$(value "apps[0].goodput_gbps") / $gbps * $frame / $mtu * 100")" "$closed" \
                "$(transport nic_bytes_per_qp rounds_max timeouts)"
        done
    done
done
heat rtt loss percent
