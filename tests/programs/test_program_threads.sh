#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_program_threads.sh - programs with threads on simulated hosts.
#
# Goal: threads wait for each other by all that POSIX, C11, Linux and memory offer, in simulated time; what
# can never end is named; equal runs have equal digests and output, whatever else the machine does. Method:
# the functions of threads/waits.c, two programs with queue pairs, one with OpenMP, one that allocates, one
# that computes and one that unloads a library with a thread, ten times, half of them beside a process that
# takes a processor.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
for program in waits queue_pairs locks allocator unload zero_sleeps computes; do
    [ -e "$library" ] && ${CC:-cc} -O1 "tests/programs/threads/$program.c" -o "$work/$program" -pthread \
        -libverbs 2>/dev/null || {
        echo "skipped: a compiler, libibverbs-dev or the library of programs is not there"
        exit 77
    }
done
${CC:-cc} -O1 -shared -fPIC -DLIBRARY tests/programs/threads/unload.c -o "$work/unload.so"
openmp=true
if grep -q 'libcapstone' "$library" &&
    ${CC:-cc} -O2 -fopenmp tests/programs/threads/openmp.c -o "$work/openmp" 2>/dev/null; then
    openmp=$work/openmp
fi

# scenario COMMAND...: one program on each host.
scenario() {
    printf 'topology:\n  star: {hosts: 14}\ntraffic:\n  - programs:\n'
    local host=0
    for command in "$@"; do
        printf '      - {host: host%s, command: "%s"}\n' "$host" "$command"
        host=$((host + 1))
    done
}

# run NAME SCENARIO [ARGUMENT...]: runs it into $work/NAME; the status is rocesim's.
run() {
    local name=$1
    within 60 "$ROCESIM" run "$work/$2.yaml" --programs -o "$work/$name" "${@:3}" >"$work/$name.log" 2>&1
}

digest() { sed -n 's/^ *digest *//p' "$work/$1.log"; }

scenario "$work"/waits\ {queue,all,spins,ends,futexes,descriptors,forks} "$work/queue_pairs" \
    "$work/queue_pairs host7" "$openmp" "$work/allocator" \
    "$work/waits files" "$work/unload $work/unload.so" "$work/computes" >"$work/all.yaml"
load=
for again in 1 2 3 4 5 6 7 8 9 10; do
    run "$again" all || {
        cat "$work/$again.log"
        tail -n 3 "$work/$again"/programs/*
        fail "a program with threads ended with another status than 0"
        break
    }
    [ "$(digest "$again")" = "$(digest 1)" ] || fail "equal runs have different digests"
    diff -r "$work/1/programs" "$work/$again/programs" || fail "equal runs print different texts"
    if [ "$again" = 5 ]; then
        (while :; do :; done) &
        load=$!
    fi
done
[ -z "$load" ] || kill "$load"

# refused TEXT NAME COMMAND [ARGUMENT...]: the run ends with status 1 and says the text.
refused() {
    local status=0
    scenario "$3" >"$work/$2.yaml"
    run "$2" "$2" "${@:4}" || status=$?
    [ "$status" = 1 ] || fail "$2: status $status, expected 1"
    grep -q -- "$1" "$work/$2.log" || {
        cat "$work/$2.log"
        fail "$2: no message '$1'"
    }
}
refused 'thread 0 for a mutex that thread 1 holds, thread 1 for a mutex that thread 0 holds' deadlock \
    "$work/waits deadlock"
refused 'locks for 60 s of simulated time: thread 0 for a mutex that thread 2 holds, .*thread 2 for' \
    deadlock_beside "$work/waits deadlock_beside"
refused 'thread 0 for a spin lock that thread 2 holds, .*thread 2 for a read-write lock that thread 0 holds' \
    deadlock_locks "$work/waits deadlock_locks"
refused 'the system call flock()' lock_file "$work/waits lock_file"
scenario "$work/waits deadlock" "sleep 100" >"$work/beside.yaml"
run beside beside || true
grep -q 'locks for 60 s of simulated time: thread 0 for a mutex that thread 1 holds' "$work/beside.log" ||
    fail "a deadlock beside another program is not named"
scenario "$work/waits too_many" >"$work/too_many.yaml"
run too_many too_many --set programs.cores=8 || fail "1023 threads are not started, or one more is"
grep -q 'has 1024 threads' "$work/too_many/programs/host0-0.err" || fail "a thread is refused silently"

# Threads hand on a token without a call, in a loop that is too long to be computed, or one looks at flags in
# turn. Where in the loop the search meets the thread is another place in each run.
for function in hands_on looks_around; do
    scenario "$work/waits $function" >"$work/$function.yaml"
    for again in 1 2 3 4 5 6 7 8 9 10; do
        run "$again" "$function" || fail "$function: $(cat "$work/$again.log")"
        echo "$(digest "$again") $(cat "$work/$again/programs/host0-0.out")"
    done >"$work/results"
    [ "$(sort -u "$work/results" | wc -l)" = 1 ] || fail "$function: runs differ: $(cat "$work/results")"
done

# Two threads that look at memory behind one lock see each write of a peer at once, with few calls.
scenario "$work/locks" "$work/locks host0" >"$work/locks.yaml"
run looks locks || fail "threads behind a lock: $(cat "$work/looks.log")"
awk '/^latest/ { n += $2 < 2500 } END { exit n != 2 }' "$work/looks/programs/host0-0.out" ||
    fail "a thread behind a lock sees writes late: $(cat "$work/looks/programs/host0-0.out")"
awk '/"calls":/ { n = $2 + 0; exit !(n < 40000) }' "$work/looks/summary.json" ||
    fail "threads behind a lock that do nothing make too many calls"

# A poller that sleeps for no time in between lets simulated time pass.
scenario "$work/zero_sleeps" "$work/zero_sleeps host0" >"$work/zero.yaml"
run zero zero || fail "a poller that sleeps for no time: $(cat "$work/zero.log")"

exit $((failures > 0))
