# SPDX-License-Identifier: Apache-2.0
# scenarios/training/training_lib.sh - functions of the studies of training, which source this file.
#
# A study calls begin OUT COLUMN,COLUMN..., then simulate NAME=VALUE... and put VALUE... for each
# simulation of gpt.yaml, and draws a figure at the end. Rows go to data.csv.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# begin OUT COLUMNS: creates the folder OUT and sets out, program, quick, here and more.
begin() {
    open_study "$1" "${STUDY_QUICK:-0}" "$2"
}

# simulate NAME=VALUE...: runs gpt.yaml and sets summary to its summary.json
simulate() {
    simulate_file gpt.yaml "$@"
}

# attempt SCENARIO NAME=VALUE...: like simulate, of any scenario; the run may end stalled
attempt() {
    local scenario=$1 set=() option
    shift
    for option in "$@"; do
        set+=(--set "$option")
    done
    summary=$out/run/summary.json
    rm -rf "${out:?}/run"
    "$program" run "$here/$scenario" -o "$out/run" --quiet --yes "${set[@]}" "${more[@]}" \
        >"$out/run.log" 2>&1 || [ -f "$summary" ] || {
        cat "$out/run.log" >&2
        exit 1
    }
}

# collect NAME=VALUE...: runs collective.yaml and sets summary to its summary.json
collect() {
    simulate_file collective.yaml "$@"
}

# expected NAME=VALUE...: prints the time in us that NCCL expects of collective.yaml, or -
expected() {
    local set=() option found
    for option in "$@"; do
        set+=(--set "$option")
    done
    found=$("$program" check "$here/collective.yaml" "${set[@]}" "${more[@]}" 2>&1 |
        sed -n 's/.*[NR]CCL expects \([0-9.]*\) us.*/\1/p' | head -n 1)
    echo "${found:--}"
}

# first NAME: prints a number of the run's first collective
first() {
    value "apps[0].collectives[0].$1"
}

# bytes_of SIZE: prints a size such as 16KiB in bytes
bytes_of() {
    case $1 in
    *KiB) echo $((${1%KiB} * 1024)) ;;
    *MiB) echo $((${1%MiB} * 1048576)) ;;
    *GiB) echo $((${1%GiB} * 1073741824)) ;;
    *) echo "$1" ;;
    esac
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

# calc EXPRESSION: prints a number
calc() {
    awk "BEGIN { printf \"%.6g\", ($1) }"
}
