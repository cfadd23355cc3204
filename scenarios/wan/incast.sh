#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# incast - how do border buffers and PFC across sites change an incast from one site to another?
#
# This is a script, since the ideal time stands beside each run.
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" case,transport,senders,gbps,slowest_ms,ideal_ms,lost,retransmitted,timeouts,completed
bytes=$(pick 10MB 50MB)
for senders in $(pick senders "4" "4 16"); do
    for transport in adamap irn sdr go-back-n; do
        for case in "ample auto off off" "small 4MB off off" "pauses-stop 64MB on off" \
            "pauses-cross 4GB on on"; do
            # shellcheck disable=SC2086
            set -- $case
            # The bottleneck is the receiver's link.
            simulate across.yaml "transport=$transport" rtt=10ms rate=400Gbps "hosts=$senders" \
                "from=host[0-$((senders - 1))]" "to=host$senders" "bytes=$bytes" \
                "buffer=$2" "pfc=$3" "across=$4"
            slowest=$(value "apps[0].flows.fct_us.max")
            put "$1" $transport "$senders" "$(value "apps[0].whole_gbps")" "$(calc "$slowest / 1000")" \
                "$(calc "$senders * ${bytes%MB} * 8e6 / 100e9 * 1000 * $(frame_of $transport) / 4096 + 10")" \
                "$(lost)" "$(transport retransmitted timeouts)" "$(value "apps[0].completed")"
        done
    done
done
bars slowest_ms 3 "set logscale y" "set yrange [10:*]"
