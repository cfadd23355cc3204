#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_small_programs.sh - small programs in the style of public examples.
#
# Goal: what a device refuses, regions with addresses of their own, services over UD, locks by atomics, times
# of completions, a NIC that is connected to itself, forks with registered memory, regions that are
# deregistered in the middle of messages, streams whose reader is slow or goes away, wide characters on
# pipes, pipes with names, terminals, routes, numbers of processes, on the ideal NIC and the ConnectX-5
# profile.
# Method: the compiler builds the programs as a user would.
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
for program in pipes processes terminals routes; do
    ${CC:-cc} -O1 "tests/programs/streams/$program.c" -o "$work/$program.bin" -pthread -lrt -lutil
done
pair terminals true "$work/terminals.bin"
printf '50 reads\nterminal 1, 0\n80 columns\n2 reads\n' | diff - "$work/terminals.run/programs/host1-0.out" ||
    fail "a terminal is read otherwise"
pair routes true "$work/routes.bin"
printf '%s\n' '127.0.0.1/32 interface 1 type 2' '127.0.0.0/8 interface 1 type 2' \
    '10.0.0.2/32 interface 2 type 2' '10.0.0.0/8 interface 2 type 1' done 'error -95' |
    diff - "$work/routes.run/programs/host1-0.out" ||
    fail "the routes of the host are others"
if command -v ip >/dev/null; then
    pair ip "ip -j addr show eth0" "ip -o -4 addr show"
    grep -q '"ifname":"eth0".*"address":"02:00:00:00:00:02".*"local":"10.0.0.1","prefixlen":8' \
        "$work/ip.run/programs/host0-0.out" || fail "ip: $(cat "$work/ip.run/programs/host0-0.out")"
    addresses=$(awk '{ print $2, $4 }' "$work/ip.run/programs/host1-0.out")
    [ "$addresses" = $'lo 127.0.0.1/8\neth0 10.0.0.2/8' ] ||
        fail "ip -4: $(cat "$work/ip.run/programs/host1-0.out")"
fi
pair pipes "$work/pipes.bin" "$work/pipes.bin 10.0.0.1"
cat >"$work/pipes.expected" <<'TEXT'
thread line 1 after 1 ms
thread line 2 after 2 ms
thread line 3 after 3 ms
pipe line 1 after 5 ms
pipe line 2 after 10 ms
pipe line 3 after 10 ms
1000000 of 1000000 bytes
TEXT
cat "$work"/pipes.run/programs/*.out | diff "$work/pipes.expected" - || fail "streams of pipes are others"
sed 's/host1/host0/' "$work/pipes.yaml" | sed "s, 10.0.0.1, request,; s,pipes.bin\",pipes.bin answer\"," \
    >"$work/named.yaml"
within 60 "$ROCESIM" run "$work/named.yaml" --programs -o "$work/named" >"$work/named.log" 2>&1 ||
    fail "named pipes between programs of a host: $(cat "$work/named.log")"
cat "$work"/named/programs/*.out | diff <(printf 'answered 4020\nlast answer re: 19\n') - ||
    fail "named pipes between programs of a host lose lines"

pair processes "$work/processes.bin" "cat /etc/hosts /etc/hostname /proc/loadavg"
cat >"$work/processes.expected" <<'TEXT'
0 101 0 0 processes.bin
5 0 0 0 sh
6 5 0 0 ps
0 
TEXT
sed '/^uptime 3600/d' "$work/processes.run/programs/host0-0.out" | diff "$work/processes.expected" - ||
    fail "numbers of processes are others"
[ "$(grep -c 'is not simulated; .* is$' "$work/processes.run/programs/host0-0.err")" = 4 ] ||
    fail "what hosts would share is not refused"
grep -q "^10.0.0.1	host0$" "$work/processes.run/programs/host1-0.out" || fail "/etc/hosts is another one"
${CC:-cc} -DGO tests/programs/streams/processes.c -o "$work/go.bin" -lrt
sed 's/processes.bin/go.bin/' "$work/processes.yaml" >"$work/go.yaml"
! within 60 "$ROCESIM" run "$work/go.yaml" --programs -o "$work/go" >"$work/go.log" 2>&1 ||
    fail "a program of Go's own compiler is not refused"
grep -q 'go build -compiler gccgo' "$work/go/programs/host0-0.err" || fail "gccgo is not named"
pair detailed "$work/edges.bin" "$work/edges.bin host0" "model: detailed, profile: connectx-5"
exit $((failures > 0))
