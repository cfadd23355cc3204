# SPDX-License-Identifier: Apache-2.0
# scenarios/herd/herd_lib.sh - what the studies of scenarios/herd share; sourced by their run.sh.
# Numbers of the paper: A. Kalia, M. Kaminsky, D. G. Andersen, SIGCOMM 2014, read from its figures.
. "$(dirname "$0")/../../papers/papers_lib.sh"

# herd_begin OUT: begin of papers_lib.sh, whose table this uses
herd_begin() {
    begin "$1"
    papers=$here/../../papers
    program=${ROCESIM:-$here/../../../build/release/rocesim}
}

# herd RUN SETTING...: runs ../herd.yaml
herd() {
    local run=$1 setting
    local -a settings=()
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    simulate "$run" ../herd.yaml "${settings[@]}" >/dev/null
}
# of RUN: its rate, or a percentile of its latency
mops() { field "$1" mops; }
latency() {
    sed -n '/"latency_us"/,/}/p' "$out/$1/summary.json" |
        sed -n 's/^ *"'"$2"'": \([^,]*\),*$/\1/p' | head -n 1
}
