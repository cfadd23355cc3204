#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/test_determinism.sh - the results of a run are a function of scenario and seeds alone.
#
# Goal: every byte of every output file is the same when a run is repeated, on 1, 2, 3 and 4 threads,
# with other contents of fresh memory, in another time zone, and when the resolved
# scenario that a run left behind is run itself. Another seed draws other traffic. Another tie seed
# gives other orders of simultaneous events, hence another digest, for the very same offered traffic.
# Method: whole runs of the program, diff of the result folders. Values that may differ have names
# that start with wall_.
# Does not pin: other compilers and optimisation levels, which tools/compare-builds looks at.
# labels: threads clang
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
runs=0

# run SCENARIO NAME [OPTION]...: leaves the results in $scratch/NAME.
run() {
    local scenario=$1 out=$scratch/$2
    shift 2
    rm -rf "$out"
    "$ROCESIM" run "$scenario" -o "$out" --quiet "$@" >/dev/null
    find "$out" -name '*.json' -exec sed -i '/"wall_/d' {} +
    runs=$((runs + 1))
}

# same SCENARIO WHAT [OPTION]...: runs it again, which must change nothing.
same() {
    local scenario=$1 what=$2
    shift 2
    run "$scenario" again "$@"
    if ! diff -r -q "$scratch/first" "$scratch/again"; then
        echo "$scenario: other results with $what"
        exit 1
    fi
}

value() {
    sed -n "s/^ *\"$2\": \"\?\([0-9a-z]*\).*/\1/p" "$scratch/$1/summary.json" | head -n 1
}

# differs SCENARIO WHAT: the run in $scratch/again is not that in $scratch/first.
differs() {
    if [ "$(value first digest)" = "$(value again digest)" ]; then
        echo "$1: the same digest with another $2"
        exit 1
    fi
}

# Who sends how much to whom, and when it starts.
offered() {
    cut -d, -f "$(head -n 1 "$scratch/$1/flows.csv" | tr , '\n' |
        grep -nxE 'flow_id|app|label|src|dst|source|destination|priority|bytes|size_bytes|start_ns' |
        cut -d: -f1 | paste -sd,)" "$scratch/$1/flows.csv"
}

scenarios=(scenarios/quickstart.yaml tests/scenarios/same-*.yaml)
[ -z "${TEST_FEW:-}" ] || scenarios=("${scenarios[@]:0:2}") # see tests/script.sh
for scenario in "${scenarios[@]}"; do
    run "$scenario" first
    for file in summary.json flows.csv ports.csv events.csv series.csv; do
        if [ ! -s "$scratch/first/$file" ]; then
            echo "$scenario: no $file to compare" && exit 1
        fi
    done
    same "$scenario" "nothing changed"
    for threads in 2 3 4; do
        same "$scenario" "$threads threads" --threads $threads
    done
    export MALLOC_PERTURB_=165 TZ=Asia/Kathmandu
    same "$scenario" "other memory and time zone"
    unset MALLOC_PERTURB_ TZ
    cp "$scratch/first/scenario.yaml" "$scratch/resolved.yaml"
    same "$scratch/resolved.yaml" "its own resolved scenario"

    run "$scenario" again --seed 4242
    differs "$scenario" seed
    run "$scenario" again --tie-seed 4242
    differs "$scenario" "tie seed"
    if ! diff <(offered first) <(offered again); then
        echo "$scenario: a tie seed changes the traffic that is offered"
        exit 1
    fi
    if [ "$(offered first | head -n 1 | tr , '\n' | wc -l)" -lt 4 ]; then
        echo "flows.csv has other columns than this test looks at" && exit 1
    fi
done
echo "$runs runs"
