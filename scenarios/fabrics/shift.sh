#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shift - how long does a shift take on a fat-tree of 128 hosts, with each load balancer?
#
# This is a script, since published figures stand beside its runs.
# The published times are those of the simulator of the Ultra Ethernet Consortium (htsim, NSCC as
# congestion control): 2 MB from each host to the host 64 further on, k=8, 100 Gbps. Assumed here:
# links of 1 us, no congestion control, MTU 4096, 32 MB in each switch. The transport is `sdr`, which
# takes packets in any order, as theirs does; IRN sends again what was only overtaken. `ecmp` is
# its one path, `random` its 256 paths, `adaptive` and `flowlets` its adaptive routing by packet and
# by flowlet with a gap of 10 us and loads in grades, as there.
set -eu
. "$(dirname "$0")/fabrics_lib.sh"
begin "$1" \
    case,scheme,nr,mean_us,theirs_mean_us,difference_percent,max_us,theirs_max_us,max_percent,resent
published="ecmp:358:738 random:194:201 adaptive:179.3:179.8 flowlets:328:586 round-robin:-:-"
nr=0
for scheme in $(pick schemes "ecmp random" "ecmp flowlets random round-robin adaptive"); do
    nr=$((nr + 1))
    rest=${published#*"$scheme":}
    theirs=${rest%% *}
    balance=$scheme
    options=(switch.adaptive.gap=0ps)
    if [ "$scheme" = flowlets ]; then
        balance=adaptive
        options=(switch.adaptive.gap=10us switch.adaptive.by=grades)
    fi
    simulate topology=fat-tree pattern=shift stride=64 bytes=2MB transport=sdr "balance=$balance" \
        "${options[@]}"
    put shift "$scheme" $nr "$(against "$(value "apps[0].flows.fct_us.mean")" "${theirs%:*}")" \
        "$(against "$(value "apps[0].flows.fct_us.max")" "${theirs#*:}")" \
        "$(value retransmitted_packets)"
done
labels=1 axis=3 draw scheme mean_us theirs_mean_us
