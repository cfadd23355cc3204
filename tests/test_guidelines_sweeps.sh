#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# Goal: rates of READs between eleven machines, and of READs of many sizes between six, are near those
# measured on ConnectX-3 and Connect-IB.
# Method: scenarios/guidelines/all-to-all-reads.yaml for each row of the measurements, by the short
# names of its columns: mean difference within 10 %, each within 25 %.
# Does not pin: single rows. The measurements lie beside the checkout; without them it is skipped.
set -eu
data=../shared/data/rnic
[ -d "$data" ] || { echo "skip: no $data" && exit 77; }
program=${ROCESIM:-build/release/rocesim}
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# sweep PROFILE FILE
sweep() {
    local machines threads emulated qps window bytes measured rest ours
    : >"$found"
    while IFS=, read -r machines threads emulated qps window bytes measured rest; do
        ours=$("$program" run scenarios/guidelines/all-to-all-reads.yaml --quiet --json \
            --set nic.profile="$1" --set machines="$machines" \
            --set threads_per_machine="$threads" --set qps_per_machine="$qps" \
            --set window_per_thread="$window" --set read_bytes="$bytes" |
            sed -n 's/^ *"mops_per_machine": \([0-9.]*\).*/\1/p')
        [ -n "$ours" ] || { echo "$1 $emulated $rest: no rate" && exit 1; }
        echo "$qps $window $measured $ours" >>"$found"
    done < <(tail -n +2 "$data/$2")
    awk -v profile="$1" '
        { difference = 100 * ($4 / $3 - 1); size = difference < 0 ? -difference : difference
          sum += size; if (size > worst) { worst = size; row = $0 } }
        END { printf "%s: %d rows, mean %.1f %%, worst %.1f %% (%s)\n", profile, NR, sum / NR, worst, row
              exit !(NR > 0 && sum / NR <= 10 && worst <= 25) }' "$found" ||
        { echo "rerun: ctest --test-dir build/release -R test_guidelines_sweeps" && exit 1; }
}

sweep connect-ib read_rate_connectib_11_machines.csv
sweep connectx-3 read_rate_connectx3_11_machines.csv
sweep connect-ib read_rate_connectib_6_machines_by_size.csv
sweep connectx-3 read_rate_connectx3_6_machines_by_size.csv
