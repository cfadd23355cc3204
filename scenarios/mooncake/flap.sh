#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# flap - how long does a NIC that goes down stop the engine, and why may it stay slow afterwards?
#
# This is a script, since its rows are moments of a run.
# The first of two NICs is down from 5 to 12 ms. Its slices fail after the NIC's own retries and go
# over the other NIC, and the rails of the first NIC pause. While its rails pause, a NIC that is up
# again carries nothing. As shipped, this pause is 30 s. A user reported a fifth of the rate: four
# of five NICs each flap once within those 30 s (flaps).
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve time_ms gbytes_per_s
moments() { # CURVE
    awk -v curve="$1" '/"bandwidth": \[/ { inside = 1 }
        inside && /"time_us":/ { t = $2 / 1000 }
        inside && /"gbytes_per_s":/ { printf "%s,%.2f,%.2f\n", curve, t, $2 + 0 }' \
        "$run/summary.json" >>"$out/data.csv"
}
for pause in $(pick 10ms "0s 1ms 10ms 30s"); do
    go "pause-$pause" flap.yaml "rail_pause=$pause" "duration=$(pick 15ms 30ms)"
    moments "pause-$pause"
    say "rail-pause $pause: $(gbytes) GB/s, longest gap $(rounded 2 "$(value 'apps[0].recovery_ms')") ms," \
        "retried $(value 'apps[0].retried'), failed $(value 'apps[0].failed')"
done
faults=
for nic in 0 1 2 3; do
    faults="$faults${faults:+, }{part: host0/nic$nic, at: $((4 + 4 * nic))ms, until: $((7 + 4 * nic))ms}"
done
for pause in $(pick 30s "1ms 30s"); do
    go "flaps-$pause" bench.yaml nics=5 selection=random operation=write threads=6 batch=32 interval=500us \
        "$bench.duration=24ms" "$bench.engine.ack-timeout=6" "$bench.engine.ack-retries=2" \
        "$bench.engine.rail-pause=$pause" "faults=[$faults]"
    moments "flaps-$pause"
    last=$(grep "^flaps-$pause," "$out/data.csv" | tail -n 3 | head -n 1 | cut -d, -f3)
    say "flaps of 3 ms on four of five NICs, rail-pause $pause: $(gbytes) GB/s over all," \
        "$last GB/s at the end, failed $(value 'apps[0].failed')"
done
figure "ms" gbytes_per_s
exit "$status"
