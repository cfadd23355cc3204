#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_failover.sh - a program meets the faults that the scenario says, at their times.
#
# Goal: examples/failover.c loses no record when a cable is pulled, a port flaps, a switch dies, a path loses
# packets or PFC stands still, moves its queue pair when it has to and stays when it need not; and it says so
# when its peer is killed. Equal runs have equal digests. Not pinned: the times of its moves.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
[ -e "$library" ] && cc -O1 examples/failover.c -o "$work/failover" -libverbs 2>/dev/null || {
    echo "skipped: libibverbs-dev, a compiler or the library of programs is not there"
    exit 77
}

# meet NAME FAULTS [KILL]: runs both programs while the faults happen; KILL is part of the server's entry.
meet() {
    cat >"$work/$1.yaml" <<END
topology:
  leaf-spine: {leaves: 2, hosts-per-leaf: 2, spines: 2, nics-per-host: 2, rails: on}
traffic:
  - programs:
      - {host: host0, command: "$work/failover"${3:-}}
      - {host: host1, command: "$work/failover host0 4000", start: 1ms}
faults: [$2]
END
    within 60 "$ROCESIM" run "$work/$1.yaml" --programs -o "$work/$1" >"$work/$1.log" 2>&1 &&
        status=0 || status=$?
    client=$work/$1/programs/host1-0.out
    server=$work/$1/programs/host0-0.out
}

# survives NAME MOVES FAULTS: all records arrive, after at least MOVES moves; 0: none.
survives() {
    meet "$1" "$3"
    local moves
    moves=$(grep -c "on device" "$client")
    [ "$status" = 0 ] && [ "$(cat "$server")" = "4000 records arrived" ] || {
        cat "$work/$1.log" "$work/$1"/programs/*
        fail "$1: records are missing, or a program failed"
    }
    if [ "$2" = 0 ]; then
        [ "$moves" = 1 ] || fail "$1: $moves paths were used, expected one"
    else
        [ "$moves" -gt "$2" ] || fail "$1: $moves paths were used, expected more than $2"
    fi
}

survives none 0 ""
survives cable 1 "{part: host0/nic0, at: 1.2ms}"
survives flap 1 "{part: host0/nic0, at: 1.2ms, until: 1.7ms, every: 1ms, times: 3}"
survives both 1 "{part: host0, at: 1.2ms, until: 4ms}"
survives switch 1 "{part: leaf0, at: 1.2ms}"
survives loss 0 "{part: host0/nic0, kind: bit-errors, loss-rate: 0.0001}"
survives storm 1 "{part: host0/nic0, kind: pause-storm, at: 1.2ms}"
grep -q "drops .* link-loss" "$work/loss.log" || { cat "$work/loss.log"; fail "loss: no packet was lost"; }

meet killed "" ", kill: 1.2ms"
[ "$status" != 0 ] || fail "killed: the client does not notice that its server is killed"
grep -q "transport retry counter exceeded" "$client" ||
    fail "killed: no work request ended with RETRY_EXC_ERR"
grep -q "host0-0.*killed at the time" "$work/killed.log" ||
    fail "killed: the end of the server is not explained"
grep -q "traffic\[0\]" "$work/killed.log" && fail "killed: the program that was to be killed counts as failed"

cp "$work/cable/programs/host1-0.out" "$work/before.out"
digest() { grep -o '"digest": "[^"]*"' "$work/cable/summary.json" "$work/cable/manifest.json" | sort -u; }
before=$(digest)
meet cable "{part: host0/nic0, at: 1.2ms}"
cmp "$work/before.out" "$client" && [ "$(digest)" = "$before" ] || fail "two equal runs differ"
exit $((failures > 0))
