# SPDX-License-Identifier: Apache-2.0
# simulate.sh - runs `rocesim hpcc` on a folder of inputs. Sourced after tests/script.sh.

# simulate INPUT-FOLDER RESULT-FOLDER [OPTIONS]: inputs name their files relative to where they lie.
simulate() {
    local from=$1 to=$2
    shift 2
    (cd "$from" && "$ROCESIM" hpcc config.txt -o "$to" --quiet "$@") >"$work/out" 2>&1 || {
        fail "$from: exit status $?"
        tail -n 3 "$work/out"
    }
}
