# SPDX-License-Identifier: Apache-2.0
# scenarios/training/training_lib.sh - functions of the studies of training, which source this file.
#
# A study calls begin OUT COLUMN,COLUMN..., then simulate NAME=VALUE... and put VALUE... for each
# simulation of gpt.yaml, and draws a figure at the end. Rows go to data.csv.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# begin OUT COLUMNS: creates the folder OUT and sets out, program, quick, here and more.
begin() {
    open_study "$1" "${TRAINING_QUICK:-0}" "$2"
}

# simulate NAME=VALUE...: runs gpt.yaml and sets summary to its summary.json
simulate() {
    simulate_file gpt.yaml "$@"
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
