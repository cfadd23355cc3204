#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hosts - what does it cost to spread a node over two hosts: tensor or pipeline parallelism?
#
# One prefill and one decode node serve Llama 3 70B on hosts with eight GPUs and eight NICs. `one` has one
# host for each node, `tp` shares the heads of each layer among the 16 GPUs of two hosts, and `pp` has two
# stages of eight GPUs. The x axis is the rate of each NIC. tp_share and pp_share are the parts of all
# requests' time in all-reduces between hosts and between stages; bubble is the idle share of the decode
# node's stages.
set -eu
. "$(dirname "$0")/serving_lib.sh"
open_study "$1" "${STUDY_QUICK:-0}" \
    shape,gbps,ttft_ms,ttft_p99_ms,tpot_ms,tp_share,pp_share,bubble,goodput_rps
for shape in $(pick shapes "tp pp" "one tp pp"); do
    for gbps in $(pick rates "100 400" "50 100 200 400 800"); do
        case $shape in
        one) nodes=(tp=8) ;;
        tp) nodes=(tp=16 tp_hosts=2) ;;
        *) nodes=(tp=8 pp=2) ;;
        esac
        simulate_file serving.yaml model=llama3-70b fabric=rail-optimised rails=8 "link=${gbps}Gbps" \
            prefill=1 decode=1 "${nodes[@]}" rate=8 "requests=$(pick requests 4 40)" "output=lognormal 16 1" \
            'traffic[0].serving.layer-groups=20'
        put "$shape" "$gbps" "$(calc 4 "$(value 'apps[0].ttft_ms.mean')")" \
            "$(calc 4 "$(value 'apps[0].ttft_ms.p99')")" "$(calc 4 "$(value 'apps[0].tpot_ms.mean')")" \
            "$(calc 3 "$(value 'apps[0].network_shares.tp')")" \
            "$(calc 3 "$(value 'apps[0].network_shares.pp')")" \
            "$(calc 3 "$(value 'apps[0].nodes[1].bubble_percent') / 100")" \
            "$(calc 4 "$(value 'apps[0].goodput_rps')")"
    done
done
draw "Gbit/s of each NIC" ttft_ms tpot_ms
