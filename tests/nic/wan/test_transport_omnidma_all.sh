#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_transport_omnidma_all.sh - all runs of the OmniDMA authors' simulator.
#
# Goal: that of test_transport_omnidma, for runs of every size; prints the rows that are off most.
# Method: omnidma_runs.py. Not pinned: as there.
. tests/script.sh

data=../shared/data/wan
[[ -e $data/omnidma_runs.csv ]] || { echo "skip: no $data"; exit 77; }
command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
python3 tests/nic/wan/omnidma_runs.py "$ROCESIM" "$data" "$work" 1e15 "$work/rows.csv" ||
    fail "off the authors' simulator"
echo "compared rows that are off most: time, maps"
awk -F, 'NR > 1 && $10 == 1' "$work/rows.csv" | sort -t, -g -r -k14,14 | head -n 5
awk -F, 'NR > 1 && $10 == 1' "$work/rows.csv" | sort -t, -g -r -k19,19 | head -n 5
[[ $(wc -l < "$work/rows.csv") -gt 400 ]] || fail "rows are missing"
((failures == 0))
