# SPDX-License-Identifier: Apache-2.0
# scenarios/training/training_lib.sh - functions of the studies of training, which source this file.
#
# A study calls begin OUT COLUMN,COLUMN..., then simulate NAME=VALUE... and put VALUE... for each
# simulation of gpt.yaml, and draws a figure at the end. Rows go to data.csv.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# begin OUT COLUMNS: creates the folder OUT and sets out, program, quick, here and more.
begin() {
    here=$(cd "$(dirname "$0")" && pwd)
    program=${ROCESIM:-$here/../../build/release/rocesim}
    out=$1
    quick=${TRAINING_QUICK:-0}
    if [ ! -x "$program" ]; then
        echo "the program $program does not exist: run make first" >&2
        exit 1
    fi
    take_settings
    mkdir -p "$out"
    echo "== $(sed -n 's/^# \([^ ]* - .*\)/\1/p' "$0" | head -n 1)"
    echo "$2" | tee "$out/data.csv"
}

# simulate NAME=VALUE...: runs gpt.yaml and sets summary to its summary.json
simulate() {
    local set=() option
    for option in "$@"; do
        set+=(--set "$option")
    done
    summary=$out/run/summary.json
    rm -rf "$out/run"
    if ! "$program" run "$here/gpt.yaml" -o "$out/run" --quiet --yes "${set[@]}" "${more[@]}" \
        >"$out/run.log" 2>&1; then
        cat "$out/run.log" >&2
        echo "a run failed: $program run $here/gpt.yaml ${set[*]}" >&2
        exit 1
    fi
}

# small: prints the settings of a job that simulates in seconds: 4 servers of 8 GPUs, some layers of
# a 22B model, data parallelism between the servers
small() {
    echo "gpus=32 tp=8 pp=1 microbatches=2 layers=$(pick 1 4) cc=none"
}

# value PATH: prints a number of the summary by its path (apps[0].iteration_ms), or -
value() {
    value_of "$summary" "$1"
}

# times: prints "iteration,compute,tp,pp,dp,ep" of the first job, in ms
times() {
    local kind list
    list=$(calc "$(value "apps[0].iteration_ms")"),$(calc "$(value "apps[0].compute_ms")")
    for kind in tp pp dp ep; do
        list+=,$(calc "$(value "apps[0].exposed_ms.$kind")")
    done
    echo "$list"
}

# put VALUE...: prints a row and appends it to data.csv
put() {
    local IFS=,
    echo "$*" | tee -a "$out/data.csv"
}

# calc EXPRESSION: prints a number
calc() {
    awk "BEGIN { printf \"%.6g\", ($1) }"
}

# against OURS THEIRS: prints "ours,theirs,difference in percent"; - where nothing is published
against() {
    if [ "$2" = - ]; then
        echo "$1,-,-"
    else
        echo "$1,$2,$(awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.1f", 100 * (a / b - 1) }')"
    fi
}
