#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: clang
# tests/test_hpcc_agreement.sh - rocesim hpcc computes what the HPCC project's simulator does.
#
# Goal: FCTs and pauses to the nanosecond and in its order, ties and random marks included.
# Method: (1) a flow alone over two switches, against the closed form of whole-nanosecond store and
# forward; (2) inputs of ours (marks by a step; pauses; HPCC over leaves and spines with pauses;
# TIMELY; DCTCP; random marks; PINT; losses), against answers that an independent program of these
# rules gave too, which guards what test_hpcc_runs.sh shows where the simulator's own runs lie beside
# the checkout.
# Not pinned: what keys no input here sets do.
set -u
. tests/script.sh
. tests/hpcc/simulate.sh

# -- 1: a flow alone

mkdir "$work/line"
sed -e 's/^BUFFER_SIZE .*/BUFFER_SIZE 16/' tests/hpcc/incast/config.txt >"$work/line/config.txt"
echo 0 >"$work/line/trace.txt"
printf '4 2 3\n2 3\n0 2 100Gbps 1000ns 0\n2 3 100Gbps 700ns 0\n3 1 100Gbps 1us 0\n' \
    >"$work/line/topology.txt"
# The last packet of each follows the full ones and is as long as 1000, 100 and 537 bytes need.
for bytes in 5000000 300100 1000 537 77537; do
    printf '1\n0 1 3 100 %d 2.0\n' "$bytes" >"$work/line/flow.txt"
    rm -rf "$work/result"
    simulate "$work/line" "$work/result"
    awk -v bytes="$bytes" '
        function tx(size) { return int(size * 8 / 100) }
        BEGIN {
            split("1000 700 1000", delay, " ")
            full = int((bytes - 1) / 1000)
            last = bytes - full * 1000 + 48
            for (h = 1; h <= 3; h++) {
                # When the full packets have left this hop, and when the last one can start.
                done = full > 0 ? first + full * tx(1048) : 0
                start = arrived > done ? arrived : done
                arrived = start + tx(last) + delay[h]
                first += tx(1048) + delay[h]
                back += tx(60) + delay[h]
            }
            print arrived + back
        }' >"$work/expected"
    awk '{ print $7 }' "$work/result/fct.txt" | cmp -s - "$work/expected" ||
        fail "$bytes bytes alone take $(awk '{ print $7 }' "$work/result/fct.txt") ns, \
expected $(cat "$work/expected")"
done

# -- 2: ours

for input in incast pauses telemetry timely dctcp marks pint losses link-down moved; do
    simulate "$PWD/tests/hpcc/$input" "$work/$input"
    for file in fct.txt pfc.txt; do
        diff "tests/hpcc/$input/expected-$file" "$work/$input/$file" >"$work/diff" || {
            fail "tests/hpcc/$input: $file, expected <, is >"
            head -n 10 "$work/diff"
        }
    done
done

exit $((failures > 0))
