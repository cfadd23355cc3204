#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bursts - do losses in bursts cost more or less than independent ones at the same rate?
#
# This is a script, since the number of packets follows from the transport and the loss.
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" transport,loss,model,lost,events,percent,rounds_max,nodes_max,host_bytes_max,table_hits
for transport in $(pick transports "adamap go-back-n" "adamap irn sdr go-back-n"); do
    for loss in $(pick losses "0.001" "0.001 0.01"); do
        for model in independent bursts high-frequency amazon google microsoft gilbert-elliott; do
            packets=$(pick 40000 1000000)
            [ $transport != go-back-n ] || packets=$(whole "$(pick 20 200) / $loss")
            simulate goodput.yaml "transport=$transport" rtt=10ms "loss=$loss" "loss_model=$model" \
                "bytes=$((packets * 4096))"
            put $transport "$loss" $model "$(value "apps[0].lost" "apps[0].loss_events")" \
                "$(calc "$(value "apps[0].goodput_gbps") * $(frame_of $transport) / 4096")" \
                "$(transport rounds_max nodes_max host_bytes_max table_hits)"
        done
    done
done
bars percent 3
