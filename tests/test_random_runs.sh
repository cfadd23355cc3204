#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/test_random_runs.sh - what nobody thought of: scenarios drawn at random keep the rules.
#
# Goal: whatever tests/random-scenario and tests/random-program draw, a run ends by itself with exit status 0,
# or 1 where a program failed as a whole (so packets were conserved: a run that loses count of them fails);
# no flow beats its ideal time, and two threads, two ranks and the resolved scenario that the run left behind
# give the same digest and files.
# Method: 24 scenarios of each (RANDOM_FIRST, RANDOM_COUNT), 200 in the long form; a third and a fifth of them
# under sanitizers, whose runs take several times as long; three runs each; diff of the folders but for values
# named wall_ and the places that warnings name.
# Not pinned: results; scenarios whose traffic is more than some ten thousand packets.
# labels: slow clang long
set -u
. tests/script.sh
start_forks
case $BUILD_DIRECTORY${TEST_LONG:+ long} in
*asan) count=8 ;;
*asan\ long) count=40 ;;
*long) count=200 ;;
*) count=24 ;;
esac
first=${RANDOM_FIRST:-1}
count=${RANDOM_COUNT:-$count}

lost='none of its requests succeeded|transport retry limit exceeded'
remarks="^(warning|note): |^rocesim: traffic\\[[0-9]+\\] \\([a-z-]+\\) failed: ($lost)\$"

# run NAME SCENARIO [OPTION]...: into the folder NAME.
run() {
    local out=$work/$1 status=0
    shift
    rm -rf "$out"
    within 240 rocesim run "$@" -o "$out" --quiet >"$work/out" 2>"$work/err" || status=$?
    # A program of which nothing succeeded is a result of what was drawn.
    [ $status -eq 1 ] && [ -z "$(grep -vE "$remarks" "$work/err")" ] && status=0
    if [ $status -ne 0 ]; then
        fail "$drawn $number: rocesim run $*: status $status: $(head -n 2 "$work/err")"
        return 1
    fi
}

# same NAME: as the folder `one`; a warning may name another file, and another line of it.
same() {
    diff -r -q -I '"wall_' -I '"text": "[^ ]*\.yaml:[0-9]' "$work/one" "$work/$1" >"$work/diff" ||
        fail "$drawn $number: $1 differs: $(head -n 3 "$work/diff")"
}

# Every eighth scenario in two ranks, where there is MPI; all of them in the long form. Ranks refuse some.
every=8
[ -z "${TEST_LONG:-}" ] || every=1
case $BUILD_DIRECTORY in
*asan* | *tsan*) every=0 ;; # the libraries of MPI leak
esac
"$ROCESIM" --version | grep -q 'with Open MPI' && command -v mpirun >/dev/null || every=0
in_ranks() {
    local status=0
    rm -rf "$work/ranks"
    within 60 "$ROCESIM" run "$1" -o "$work/ranks" --quiet --ranks 2 >"$work/out" 2>"$work/err" || status=$?
    if [ $status -eq 2 ] && grep -qE 'or one rank|ties: insertion' "$work/err" && [ ! -e "$work/ranks" ]; then
        return
    fi
    [ $status -eq 1 ] && [ -z "$(grep -vE "$remarks" "$work/err")" ] && status=0
    [ $status -eq 0 ] || fail "$drawn $number: --ranks 2: status $status: $(head -n 2 "$work/err")"
    same ranks
}

# A datagram that a link repeats may stand for one that is still under way.
repeats_datagrams() {
    grep -q 'duplicate-rate' "$work/scenario.yaml" && grep -q 'service: ud' "$work/scenario.yaml"
}

# A short packet that takes another path overtakes a long one: reps chooses paths by packet.
chooses_paths() {
    grep -q 'repath: reps' "$work/scenario.yaml"
}

for drawn in random-scenario random-program; do
    for ((number = first; number < first + count; ++number)); do
        before=$failures
        tests/$drawn $number >"$work/scenario.yaml"
        if run one "$work/scenario.yaml"; then
            run threads "$work/scenario.yaml" --threads 2 && same threads
            run resolved "$work/one/scenario.yaml" && same resolved
            [ $every -eq 0 ] || [ $((number % every)) -ne 0 ] || in_ranks "$work/scenario.yaml"
            beats=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "slowdown") column = i; next }
                $column != "" && $column < 1 { print; exit }' "$work/one/flows.csv")
            [ -z "$beats" ] || repeats_datagrams || chooses_paths ||
                fail "$drawn $number: a flow faster than ideal: $beats"
        fi
        [ $failures -eq $before ] ||
            echo "rerun: tests/$drawn $number >s.yaml; rocesim run s.yaml -o out/s"
    done
done
[ $failures -eq 0 ]
