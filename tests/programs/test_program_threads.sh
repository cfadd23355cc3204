#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_program_threads.sh - programs with threads on simulated hosts.
#
# Goal: threads wait for each other by all that POSIX, C11, Linux and memory offer, in simulated time; what
# can never end is named; equal runs have equal digests and output, whatever else the machine does. Method:
# the functions of threads/waits.c, each several times, half of them beside a process that takes a processor.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
[ -e "$library" ] && ${CC:-cc} -O1 tests/programs/threads/waits.c -o "$work/waits" -pthread 2>/dev/null || {
    echo "skipped: a compiler or the library of programs is not there"
    exit 77
}

# run NAME COMMAND [ARGUMENT...]: runs a program on host0 into $work/NAME; the status is rocesim's.
run() {
    local name=$1
    printf 'topology:\n  star: {hosts: 2}\ntraffic:\n  - programs:\n      - {host: host0, command: "%s"}\n' \
        "$2" >"$work/$name.yaml"
    shift 2
    within 60 "$ROCESIM" run "$work/$name.yaml" --programs -o "$work/$name" "$@" >"$work/$name.log" 2>&1
}

digest() { sed -n 's/^ *digest *//p' "$work/$1.log"; }

# equal NAME: the function runs well, and ten runs are equal.
equal() {
    for again in 1 2 3 4 5 6 7 8 9 10; do
        run "$1$again" "$work/waits $1" || {
            cat "$work/$1$again.log" "$work/$1$again"/programs/*
            fail "waits $1 ended with another status than 0"
            return 0
        }
        [ "$(digest "$1$again")" = "$(digest "${1}1")" ] || fail "waits $1: equal runs have different digests"
        cmp "$work/$1$again/programs/host0-0.out" "$work/${1}1/programs/host0-0.out" ||
            fail "waits $1: equal runs print different texts"
        if [ "$again" = 5 ]; then
            (while :; do :; done) &
            load=$!
        fi
    done
    kill "$load"
}

for function in queue all spins ends futexes descriptors; do
    equal "$function"
done

# refused TEXT NAME COMMAND [ARGUMENT...]: the run ends with status 1 and says the text.
refused() {
    local status=0
    run "${@:2}" || status=$?
    [ "$status" = 1 ] || fail "$2: status $status, expected 1"
    grep -q -- "$1" "$work/$2.log" || {
        cat "$work/$2.log"
        fail "$2: no message '$1'"
    }
}
refused 'thread 0 for a mutex that thread 1 holds, thread 1 for a mutex that thread 0 holds' deadlock \
    "$work/waits deadlock"
run too_many "$work/waits too_many" --set programs.cores=8 || fail "a ninth thread is not refused"
grep -q 'programs.cores' "$work/too_many/programs/host0-0.err" || fail "a ninth thread is refused silently"

exit $((failures > 0))
