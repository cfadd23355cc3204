# SPDX-License-Identifier: Apache-2.0
# scenarios/herd/herd_lib.sh - functions of the studies of scenarios/herd; their run.sh source it.
# The published numbers were read from the figures of A. Kalia, M. Kaminsky, D. G. Andersen, SIGCOMM
# 2014.
. "$(dirname "$0")/../../papers/papers_lib.sh"

# herd_begin OUT: calls begin of papers_lib.sh, whose table these studies use
herd_begin() {
    begin "$1"
    papers=$here/../../papers
    program=${ROCESIM:-$here/../../../build/release/rocesim}
}

# herd RUN SETTING...: runs ../herd.yaml with these settings
herd() {
    local run=$1 setting
    local -a settings=()
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    simulate "$run" ../herd.yaml "${settings[@]}" >/dev/null
}
# mops RUN prints the rate of a run; latency RUN PERCENTILE prints a percentile of its latency.
mops() { field "$1" mops; }
latency() {
    sed -n '/"latency_us"/,/}/p' "$out/$1/summary.json" |
        sed -n 's/^ *"'"$2"'": \([^,]*\),*$/\1/p' | head -n 1
}
