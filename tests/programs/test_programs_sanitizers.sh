#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_sanitizers.sh - programs that were compiled with a sanitizer.
#
# Goal: AddressSanitizer and UndefinedBehaviorSanitizer of gcc and clang find in a simulated program what they
# find in any other one, and report nothing else; such a program's memory is limited; other sanitizers are
# refused with a sentence; memcheck runs, too. Method: a program of two hosts, programs with threads, and
# small ones with a fault each.
# Rerun: ctest --test-dir build/release -R test_programs_sanitizers --output-on-failure
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
[ -e "$library" ] && echo 'int main(void) { return 0; }' >"$work/empty.c" &&
    ${CC:-cc} -fsanitize=address "$work/empty.c" -o "$work/empty" -libverbs 2>/dev/null || {
    echo "skipped: a compiler with AddressSanitizer, libibverbs-dev or the library of programs is not there"
    exit 77
}

# scenario COMMAND...: one program on each host.
scenario() {
    printf 'topology:\n  star: {hosts: 8}\n'
    printf 'programs: {memory-max: 1GB, environment: "%s"}\n' "${environment:-}"
    printf 'traffic:\n  - programs:\n'
    local host=0
    for command in "$@"; do
        printf '      - {host: host%s, command: "%s"}\n' "$host" "$command"
        host=$((host + 1))
    done
}

# run STATUS NAME COMMAND...: the run ends with the status.
run() {
    local expected=$1 name=$2 status=0
    scenario "${@:3}" >"$work/$name.yaml"
    within 120 "$ROCESIM" run "$work/$name.yaml" --programs -o "$work/$name" >"$work/$name.log" 2>&1 ||
        status=$?
    [ "$status" = "$expected" ] || {
        cat "$work/$name.log"
        tail -n 5 "$work/$name"/programs/*
        fail "$name: status $status, expected $expected"
    }
}

digest() { sed -n 's/^ *digest *//p' "$work/$1.log"; }

# says FILE TEXT
says() {
    grep -q -- "$2" "$1" || {
        head -n 5 "$1"
        fail "${1#"$work"/} does not say '$2'"
    }
}

for compiler in gcc clang; do
    "$compiler" -fsanitize=address "$work/empty.c" -o "$work/empty" 2>/dev/null || continue
    build() { "$compiler" -g -O1 "$1" "$2" -o "$work/$3" -pthread -libverbs; }
    build -fsanitize=address,undefined examples/verbs_hello.c hello
    build -fsanitize=address tests/programs/threads/waits.c waits
    build -fsanitize=address tests/programs/threads/queue_pairs.c queue_pairs
    build -fsanitize=address tests/programs/sanitized.c faulty
    build -fsanitize=thread tests/programs/sanitized.c racy
    for again in 1 2; do
        environment="ASAN_OPTIONS=detect_leaks=0" run 0 "$compiler-good$again" "$work/waits all" \
            "$work/waits spins" "$work/waits forks" "$work/queue_pairs" "$work/queue_pairs host3"
    done
    run 0 "$compiler-hello" "$work/hello" "bash -c 'exec $work/hello host0'"
    cat "$work/$compiler-good1"/programs/*.err "$work/$compiler-hello"/programs/*.err >"$work/reports"
    [ ! -s "$work/reports" ] ||
        fail "$compiler: a report about programs without a fault: $(head -n 3 "$work/reports")"
    [ "$(digest "$compiler-good1")" = "$(digest "$compiler-good2")" ] ||
        fail "$compiler: digests of equal runs differ"
    run 1 "$compiler-overflow" "$work/faulty overflow"
    says "$work/$compiler-overflow/programs/host0-0.err" heap-buffer-overflow
    run 1 "$compiler-leak" "$work/faulty leak"
    says "$work/$compiler-leak/programs/host0-0.err" 'LeakSanitizer: detected memory leaks'
    run 1 "$compiler-memory" "$work/faulty memory"
    says "$work/$compiler-memory.log" 'the program uses more memory than programs.memory-max allows'
    run 1 "$compiler-racy" "$work/racy leak"
    says "$work/$compiler-racy.log" 'was compiled with ThreadSanitizer'
done

if command -v valgrind >/dev/null; then
    ${CC:-cc} -g examples/verbs_hello.c -o "$work/hello" -libverbs
    run 0 memcheck "valgrind $work/hello" "valgrind $work/hello host0"
    says "$work/memcheck/programs/host1-0.err" 'definitely lost: 0 bytes'
    # Time stamps are simulated time there as well, and values in registers survive them.
    ${CC:-cc} -O2 tests/programs/sanitized.c -o "$work/plain" -libverbs
    run 0 stamps "valgrind --sigill-diagnostics=no $work/plain stamps" "$work/plain stamps"
    for host in host0 host1; do
        says "$work/stamps/programs/$host-0.out" '2.00 ticks a nanosecond'
    done
fi
[ "$failures" = 0 ]
