#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_spawn.sh - children of posix_spawn() and popen() are part of the simulation.
#
# Goal: spawn.c prints what its children do, on two hosts, and a sleep of a child takes simulated time. Pipes
# between commands of a shell do so, too: standard streams wait, also for more than a pipe holds.
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] &&
    cc -D_GNU_SOURCE -O1 tests/programs/spawn.c -o "$work/spawn" 2>/dev/null || {
    echo "skipped: a compiler or the library of programs is not there"
    exit 77
}
cat >"$work/spawn.yaml" <<END
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/spawn"}
      - {host: host1, command: "$work/spawn"}
END
within 60 "$ROCESIM" run "$work/spawn.yaml" --programs -o "$work/out" >"$work/log" 2>&1 || {
    cat "$work/log" "$work"/out/programs/*
    fail "spawn.c ended with another status than 0"
}
for host in 0 1; do
    cat >"$work/expected" <<END
spawn: error 0, child 1, "spawned", status 3
answer to line 0
answer to line 1
answer to line 2
three lines took 3 ms
error 0, input 0, output 1, again 1
timer of two processes: 10 reads, 10 expirations
missing: 2
popen: "host$host", status 4, after 1 ms
written to cat
END
    diff "$work/expected" "$work/out/programs/host$host-0.out" || fail "host$host: other output than expected"
done
cat >"$work/pipes.yaml" <<END
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "sh -c '(sleep 1; echo late) | cat;
         seq 100000 | sort -n | sed s/1/x/ | tail -n 1'"}
      - {host: host1, command: "sh -c '(sleep 1; echo a; sleep 1; echo b) |
         while read x; do echo got \$x; done'"}
END
within 60 "$ROCESIM" run "$work/pipes.yaml" --programs -o "$work/pipes" >"$work/log" 2>&1 || {
    cat "$work/log"
    fail "a pipe between commands ended with another status than 0"
}
printf 'late\nx00000\ngot a\ngot b\n' | diff - <(cat "$work"/pipes/programs/host?-0.out) ||
    fail "pipes between commands carry something else"
exit $((failures > 0))
