# SPDX-License-Identifier: Apache-2.0
# scenarios/fabrics/fabrics_lib.sh - functions of the studies of fabrics, which source this file.
#
# A study calls begin OUT COLUMN,COLUMN..., then simulate NAME=VALUE... and put VALUE... for each
# simulation of fabric.yaml, and draws a figure at the end. Rows go to data.csv.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# begin OUT COLUMNS: creates the folder OUT and sets out, program, quick, here and more.
begin() {
    open_study "$1" "${STUDY_QUICK:-0}" "$2"
}

# simulate NAME=VALUE...: runs fabric.yaml and sets summary to its summary.json
simulate() {
    simulate_file fabric.yaml "$@"
}

# value PATH: prints a number of the summary by its path (apps[0].goodput_gbps), or -
value() {
    value_of "$summary" "$1"
}

# calc EXPRESSION: prints a number
calc() {
    awk "BEGIN { printf \"%.4g\", ($1) }"
}
