#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dcqcn - how does DCQCN work with a round trip of 30 ms?
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" cc,rtt,gbps,fairness,lost,retransmitted,completed
for cc in none dcqcn; do
    for rtt in $(pick rtts "30ms" "20us 1ms 10ms 30ms"); do
        # The run has as many round trips as the time allows.
        bytes=$(pick 50MB 1GB)
        simulate across.yaml transport=adamap "cc=$cc" "rtt=$rtt" hosts=4 "from=host[0-3]" "to=host[4-7]" \
            "bytes=$bytes"
        put $cc "$rtt" "$(value "apps[0].goodput_gbps" "apps[0].flows.fairness")" "$(lost)" \
            "$(transport retransmitted)" "$(value "apps[0].completed")"
    done
done
bars gbps 2
