#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# failure - what does the failure of a NIC of a prefill node cost, with WRITEs and with Mooncake's engine?
#
# This is a script, since users see the published time beside the run.
# Nodes have two GPUs and two NICs. The second NIC of a prefill node is down from 0.5 s on for `down` ms; 9999
# is longer than the run. WRITEs wait for their NIC and fail with its queue pair (7 retries of 67 ms).
# Mooncake's engine sends failed slices over the other NIC. `fast` has ack-timeout 8: 1 ms instead of 67 ms.
set -eu
. "$(dirname "$0")/serving_lib.sh"
begin_study "$1" "${STUDY_QUICK:-0}" \
    transport,down_ms,nr,served,failed,kv_ms,kv_p99_ms,ttft_p99_ms,goodput_rps
for transport in $(pick transports "write fast" "write mooncake fast"); do
    nr=0
    for down in $(pick downs "0 9999" "0 100 400 9999"); do
        case $transport in
        fast) engine=(transport=mooncake 'traffic[0].serving.engine.ack-timeout=8') ;;
        *) engine=("transport=$transport") ;;
        esac
        [ "$down" = 0 ] || engine+=("faults=[{part: host1/nic1, at: 500ms, until: $((500 + down))ms}]")
        simulate_file serving.yaml "${engine[@]}" tp=2 rails=2 link=50Gbps rate=40 ttft_goal=250ms \
            "requests=$(pick requests 50 120)" "output=lognormal 16 1"
        nr=$((nr + 1))
        put "$transport" "$down" $nr "$(value 'apps[0].requests')" "$(value 'apps[0].failed')" \
            "$(calc 4 "$(value 'apps[0].kv_ms.mean')")" "$(calc 4 "$(value 'apps[0].kv_ms.p99')")" \
            "$(calc 4 "$(value 'apps[0].ttft_ms.p99')")" "$(calc 4 "$(value 'apps[0].goodput_rps')")"
        [ "$transport/$down" != mooncake/9999 ] ||
            versus "KV time p99 in ms of the engine without the NIC" \
                "$(calc 4 "$(value 'apps[0].kv_ms.p99')")" 536.9 "8 timeouts of 67.1 ms"
    done
done
labels=1 axis=3 draw "ms without the NIC" failed kv_p99_ms goodput_rps
