#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# policy - how does the choice of NICs change bandwidth and the 99th percentile of batch times?
#
# This is a script, since it computes shares of NICs from the lists of a run.
# One set-up has eight NICs of 400 Gbps, the other four of 200, one of which is slow (50 Gbps). If
# NICs are chosen at random, slices collide at both ends: some NICs are idle while others queue. The
# effect is larger the fewer slices are outstanding.
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve threads gbytes_per_s batch_p50_ms batch_p99_ms busiest_nic least_nic
# share most|least: prints the largest or the smallest share of a NIC, in per cent of the mean
share() {
    awk -v which="$1" '/"nics": \[/ { inside = 1 } /"parts": \[/ { inside = 0 }
        inside && /"bytes":/ {
            b = $2 + 0; sum += b; n++
            if (b > most) most = b
            if (n == 1 || b < least) least = b
        }
        END { printf "%.0f", 100 * (which == "most" ? most : least) * n / sum }' "$run/summary.json"
}
one() { # NAME THREADS SETTING...
    local name=$1 threads=$2
    shift 2
    go "$name-$threads" bench.yaml "threads=$threads" "$@"
    row "$name" "$threads" "$(gbytes)" "$(rounded 4 "$(value 'apps[0].transfer_ms.p50')")" \
        "$(rounded 4 "$(value 'apps[0].transfer_ms.p99')")" "$(share most)" "$(share least)"
}
for selection in random round-robin least-loaded affinity; do
    for threads in $(pick 12 "3 6 12 24 48"); do
        one "$selection" "$threads" "selection=$selection" nics=8 nic_rate=400Gbps \
            "$bench.duration=$(pick 1ms 5ms)"
    done
done
for selection in random round-robin least-loaded affinity; do
    one "slow-$selection" 12 "selection=$selection" "$bench.warm-up=$(pick 1ms 6ms)" \
        "$bench.duration=$(pick 2ms 12ms)" 'links={host0--switch0#2: {rate: 50Gbps}}'
done
figure threads gbytes_per_s batch_p99_ms log
exit "$status"
