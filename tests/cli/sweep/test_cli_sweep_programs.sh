#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/cli/sweep/test_cli_sweep_programs.sh - programs in the runs of sweeps and of expectations.
#
# Goal: without --programs both start nothing. With it each run starts its programs with the values of its
# point and keeps their output; a program that fails is named, and fails its case unless the case is about
# that; a sweep that is killed leaves no program behind.
# Rerun: ctest --test-dir build/release -R '^test_cli_sweep_programs$' --output-on-failure
set -u
. tests/script.sh
[ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] || {
    echo "skipped: the library of programs was not built"
    exit 77
}
cat >"$work/s.yaml" <<END
parameters:
  end: {default: 0, help: exit status}
  wait: {default: 1, help: seconds}
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "sh -c 'sleep \$(wait); echo end \$(end); exit \$(end)'"}
END
runs() { "$ROCESIM" "$@" >"$work/out" 2>&1; }

# Nothing starts by itself.
for command in "sweep $work/s.yaml --set end=0,1 -o $work/none" "expect $work/refused.yaml"; do
    printf 'scenario: s.yaml\nexpect: [ended == done]\n' >"$work/refused.yaml"
    status=0
    # shellcheck disable=SC2086
    runs $command || status=$?
    [ $status = 2 ] && grep -q 'needs .--programs. with' "$work/out" ||
        fail "$command: status $status, $(cat "$work/out")"
done
[ ! -e "$work/none/runs" ] || fail "a refused sweep left runs"

# A sweep.
status=0
runs sweep --programs "$work/s.yaml" --set end=0,7 -o "$work/ends" || status=$?
[ $status = 1 ] && grep -q 'p2-s1: .*(programs) failed: the program ended with status 7' "$work/out" ||
    fail "a sweep: status $status, $(cat "$work/out")"
for point in 1:0 2:7; do
    [ "$(cat "$work/ends/runs/p${point%:*}-s1/programs/host0-0.out")" = "end ${point#*:}" ] ||
        fail "point ${point%:*}: $(ls "$work/ends/runs/p${point%:*}-s1/programs")"
done
runs sweep --print-jobs --programs "$work/s.yaml" --set end=0,7 -o "$work/jobs" &&
    [ "$(grep -c -- ' --programs ' "$work/out")" = 2 ] || fail "jobs: $(cat "$work/out")"

# Expectations.
cat >"$work/e.yaml" <<END
scenario: s.yaml
cases:
  - {name: well, expect: [sim_time_ps > 1e12]}
  - {name: badly, set: {end: 3}, expect: [sim_time_ps > 1e12]}
  - {name: as expected, set: {end: 3}, expect: ["apps[0].exit_status == 3"]}
END
status=0
runs expect --programs "$work/e.yaml" -o "$work/cases" --junit "$work/e.xml" || status=$?
[ $status = 1 ] || fail "expectations: status $status"
[ "$(grep -c FAIL "$work/out")" = 1 ] &&
    grep -q 'FAIL *traffic\[0\] (programs) failed: the program ended with status 3' "$work/out" ||
    fail "expectations: $(cat "$work/out")"
[ "$(cat "$work/cases/as expected/programs/host0-0.out")" = "end 3" ] || fail "the output is not kept"
grep -q 'errors="1"' "$work/e.xml" || fail "JUnit: $(cat "$work/e.xml")"

# A sweep that is killed while its program computes.
sed -i 's/sleep \$(wait)/echo $$ >begun; while :; do :; done/' "$work/s.yaml"
(cd "$work" && exec "$ROCESIM" sweep --programs s.yaml --set end=0,1 -o killed >/dev/null 2>&1) &
sweep=$!
for ((i = 0; i < 300; i++)); do
    [ -s "$work/begun" ] && break
    sleep 0.1
done
kill -KILL $sweep
wait $sweep 2>/dev/null
program=$(cat "$work/begun" 2>/dev/null)
for ((i = 0; i < 300; i++)); do
    [ -n "$program" ] && [ -e "/proc/$program" ] || break
    sleep 0.1
done
[ -n "$program" ] && [ ! -e "/proc/$program" ] || fail "program '$program' runs without its sweep"
[ $failures -eq 0 ]
