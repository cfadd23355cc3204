#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_small_programs.sh - small programs in the style of public examples.
#
# Goal: what a device refuses, regions with addresses of their own, services over UD, locks by atomics, times
# of completions, a NIC that is connected to itself, forks with registered memory, regions that are
# deregistered in the middle of messages, streams whose reader is slow or goes away, and wide characters on
# pipes, on the ideal NIC and the ConnectX-5 profile. Method: the compiler builds the programs as a user
# would.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
[ -e "$library" ] || {
    echo "skipped: the library of programs is not there"
    exit 77
}

# pair NAME SERVER CLIENT [NIC]: runs both programs, on the ideal NIC or another one; the client starts 1 ms
# later.
pair() {
    cat >"$work/$1.yaml" <<YAML
topology:
  star: {hosts: 2}
nic: {${4:-}}
traffic:
  - programs:
      - {host: host0, command: "$2"}
      - {host: host1, command: "$3", start: 1ms}
YAML
    within 60 "$ROCESIM" run "$work/$1.yaml" --programs -o "$work/$1.run" >"$work/$1.log" 2>&1 && return
    cat "$work/$1.log" "$work/$1.run"/programs/*
    fail "$1: a program ended with another status than 0"
}

for program in refused datagrams alone edges streams; do
    ${CC:-cc} -O1 -I. "tests/programs/$program.c" -o "$work/$program.bin" -libverbs 2>/dev/null || {
        echo "skipped: libibverbs-dev or a compiler is not there"
        exit 77
    }
    pair "$program" "$work/$program.bin" "$work/$program.bin host0"
done
[ "$(cat "$work"/refused.run/programs/*.err | grep -c 'infiniband: on')" = 2 ] ||
    fail "a program that names peers by LIDs is not told, once, that ports can have some"
${CC:-cc} -O2 -D_FORTIFY_SOURCE=2 tests/programs/streams/wide.c -o "$work/wide.bin"
printf 'l\303\251ine\n\342\202\254' >"$work/wide.in"
pair wide true "sh -c 'cat $work/wide.in | $work/wide.bin | cat'"
"$work/wide.bin" <"$work/wide.in" >"$work/wide.expected"
cmp "$work/wide.expected" "$work/wide.run/programs/host1-0.out" || fail "wide characters on pipes are others"
pair detailed "$work/edges.bin" "$work/edges.bin host0" "model: detailed, profile: connectx-5"
exit $((failures > 0))
