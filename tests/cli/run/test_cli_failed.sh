#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_failed.sh - a program that failed as a whole makes the exit status 1.
#
# Goal: a program whose network is lost before its first answer is named, the status is 1, the results
# are written and do not say that everything is done; with the network, the status is 0.
# Method: every program on a star whose links go down, and on one whose links stay. Not pinned: words.
set -u
. tests/script.sh

# outcome STATUS DOWN PROGRAM: runs the program; DOWN: the links go down.
outcome() {
    local down=
    [ "$2" = down ] && down='links: {"*": {down: [{at: 2us, until: never}]}}'
    cat >"$work/s.yaml" <<END
until: 100s
topology: {star: {hosts: 4}}
nic: {timeout: 4, retry-count: 2, model: detailed}
$down
traffic: [$3]
END
    rm -rf "$work/r"
    "$ROCESIM" run "$work/s.yaml" -o "$work/r" >"$work/out" 2>"$work/err"
    local status=$?
    [ $status -eq "$1" ] || fail "$2 $3: status $status: $(cat "$work/err")"
    [ -s "$work/r/summary.json" ] || fail "$2 $3: no results"
    if [ "$1" -eq 1 ]; then
        grep -q "traffic\[0\] (${3%%:*}) failed: " "$work/err" || fail "$2 $3: $(cat "$work/err")"
        grep -q "everything is done" "$work/out" && fail "$2 $3: everything is done"
    fi
}

for program in "perftest: {iterations: 20}" "all-to-all-reads: {measure: 20us}" \
    "verbs-rate: {measure: 20us}" "drtm-kv: {clients: 4, measure: 20us}" \
    "sequencer: {clients: 4, measure: 20us}" "sequencer: {version: spec, clients: 4, measure: 20us}" \
    "herd: {clients: 4, keys: 1000, measure: 20us}" "contexts: {warm-up: 0, operations: 100}" \
    "mooncake-bench: {duration: 1ms}"; do
    outcome 1 down "$program"
    outcome 0 up "$program"
done
# A failed flow is a result, but not everything is done.
outcome 0 down "incast: {bytes: 1MB}"
grep -q "everything is done" "$work/out" && fail "failed flows: everything is done"
exit $((failures > 0))
