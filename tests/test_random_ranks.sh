#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/test_random_ranks.sh - random scenarios give one digest and the same files in any number of processes.
#
# Goal: for ranks x threads in {1, 2, 3, 4} x {1, 2}, a scenario that one of tests/random-* draws has the
# files of one process, byte for byte but for values named wall_ (the digest is among them), and a run that
# fails fails alike.
# Method: RANKS_COUNT scenarios of each from RANKS_FIRST on (40 from 1001 on in the long form, 1 in the short
# one, in two of the ways); diff of folders. Ranks refuse ties: insertion, so each of the other ties takes its
# place in turn; the refusal itself is test_cli_ranks.sh's.
# Not pinned: results.
# labels: slow ranks long
set -u
. tests/script.sh
if ! "$ROCESIM" --version | grep -q 'with Open MPI' || ! command -v mpirun >/dev/null; then
    echo "skip: this build has no MPI, or mpirun is not installed"
    exit 77
fi
count=1
ways="2:1 3:1" # more threads than cores make a busy machine crawl
if [ -n "${TEST_LONG:-}" ]; then
    count=40
    ways="1:2 2:1 2:2 3:1 3:2 4:1 4:2"
fi
first=${RANKS_FIRST:-1001}
count=${RANKS_COUNT:-$count}
ways=${RANKS_WAYS:-$ways}

# into NAME [OPTION]...: a run of the scenario into the folder NAME; prints its status.
into() {
    local status=0
    rm -rf "${work:?}/$1"
    timeout 1200 "$ROCESIM" run "$work/scenario.yaml" -o "$work/$1" --quiet "${@:2}" \
        >"$work/out" 2>"$work/err" || status=$?
    echo $status
}

ran=0
for drawn in tests/random-*; do
    case $drawn in *-perftest | *-kills) continue ;; esac # they run scenarios of their own
    for ((number = first; number < first + count; ++number)); do
        ties=$([ $((number % 2)) -eq 0 ] && echo hash || echo rotor)
        "$drawn" $number | sed "s/^ties: insertion/ties: $ties/" >"$work/scenario.yaml"
        alone=$(into one)
        [ "$alone" -eq 2 ] || ran=$((ran + 1))
        for way in $ways; do
            before=$failures
            status=$(into many --ranks "${way%:*}" --threads "${way#*:}")
            [ "$status" -eq "$alone" ] ||
                fail "$drawn $number, $way: status $status, alone $alone: $(head -n 2 "$work/err")"
            [ -e "$work/one" ] || [ -e "$work/many" ] || continue # not a scenario that runs
            diff -r -q -I '"wall_' -I '"threads"' -I '^threads:' "$work/one" "$work/many" >"$work/diff" ||
                fail "$drawn $number, $way: $(head -n 3 "$work/diff")"
            [ $failures -eq $before ] ||
                echo "rerun: $drawn $number | sed 's/^ties: insertion/ties: $ties/' >s.yaml;" \
                    "rocesim run s.yaml -o out/s --ranks ${way%:*} --threads ${way#*:}"
        done
    done
done
echo "$ran scenarios ran"
[ $ran -gt 0 ] || fail "none ran"
[ $failures -eq 0 ]
