#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# Goal: the guidelines' table can be made, and says what the paper's conclusions rest on.
# Method: tools/guidelines; each row of table.csv is there, calibrated rows are near (a quarter; those
# of one core's several queue pairs known to be the worst), orders and crossings are the measured ones.
# Does not pin: how near predicted rows are; docs/models/rnic.md has the table.
set -eu
program=${ROCESIM:-build/release/rocesim}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "test_guidelines: $*; rerun: ctest --test-dir build/release -R '^test_guidelines\$'"
    cat "$folder/guidelines.csv"
    exit 1
}
tools/guidelines "$program" "$folder" >"$folder/table.txt"
csv=$folder/guidelines.csv
[ "$(head -1 "$csv")" = "experiment,cluster,ours,theirs,difference_percent,kind" ] || fail "header"
[ "$(wc -l <"$csv")" = "$(wc -l <scenarios/guidelines/table.csv)" ] || fail "rows are missing"
[ "$(wc -l <"$folder/table.txt")" = "$(wc -l <"$csv")" ] || fail "the text has other rows"
awk -F, 'NR > 1 && (NF != 6 || ($6 != "calibrated" && $6 != "predicted") || $3 + 0 == 0)' "$csv" |
    grep -q . && fail "a row is not of the format"
awk -F, '$6 == "calibrated" && ($5 > 25 || $5 < -25)' "$csv" | grep -q . && fail "calibration"

# ours EXPERIMENT CLUSTER
ours() {
    local value
    value=$(awk -F, -v e="$1" -v c="$2" '$1 == e && $2 == c { print $3 }' "$csv")
    [ -n "$value" ] || fail "no row '$1' of $2"
    echo "$value"
}
# holds EXPRESSION of awk
holds() {
    awk "BEGIN { exit !($1) }" || fail "not so: $1"
}
plain=$(ours "sequencer HERD RPC plain 1 core (M/s)" CIB)
batched=$(ours "sequencer HERD RPC batched 1 core (M/s)" CIB)
multi=$(ours "sequencer HERD RPC batched multi-queue 1 core (M/s)" CIB)
six=$(ours "sequencer HERD RPC 6 cores (M/s)" CIB)
ten=$(ours "sequencer HERD RPC 10 cores (M/s)" CIB)
six_batch=$(ours "sequencer HERD RPC 6 cores responses per batch" CIB)
ten_batch=$(ours "sequencer HERD RPC 10 cores responses per batch" CIB)
spec=$(ours "Spec-S0 10 cores (M/s)" CIB)
atomics=$(ours "sequencer fetch-and-add (M/s)" CIB)
holds "$plain * 2 < $batched && $batched * 1.5 < $multi"
holds "$six > $ten * 1.03 && $six_batch > 1.5 * $ten_batch"
holds "$spec > $six && $spec > 45 * $atomics"
holds "$(ours "HERD KV 14 cores plain (M/s)" CIB) < $(ours "HERD KV 12 cores batched (M/s)" CIB)"
holds "$(ours "DrTM-KV 10 % PUT against GET only (%)" CX3) < $(ours \
    "DrTM-KV 10 % PUT against GET only (%)" CIB)"
