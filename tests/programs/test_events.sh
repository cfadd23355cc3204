#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_events.sh - events of programs, and their flows.
#
# Goal: events.c gets the asynchronous events and the events of completions that the standard names, and no
# other; ibv_asyncwatch sees a port go down and up; a program's transfer fails at the picosecond at which
# rocesim's own does; programs have rows in flows.csv, and `explain` names their incast. Method: the compiler
# builds the programs as a user would.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
[ -e "$library" ] || {
    echo "skipped: the library of programs is not there"
    exit 77
}
for program in events flap watchers; do
    ${CC:-cc} -O1 -I. "tests/programs/$program.c" -o "$work/$program.bin" -libverbs 2>/dev/null || {
        echo "skipped: libibverbs-dev or a compiler is not there"
        exit 77
    }
done

# run NAME [ARGUMENT...]: runs $work/NAME.yaml with its programs.
run() {
    local name=$1
    shift
    within 60 "$ROCESIM" run "$work/$name.yaml" --programs -o "$work/$name.run" "$@" \
        >"$work/$name.log" 2>&1 && return
    cat "$work/$name.log" "$work/$name.run"/programs/*
    fail "$name: a program ended with another status than 0"
}

# prints NAME HOST TEXT WHY: fails unless the program of a host printed a line that matches.
prints() {
    grep -q -- "$3" "$work/$1.run/programs/$2-0.out" || fail "$1: $4"
}

# flow NAME COLUMN: a value of the first flow.
flow() {
    awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at[column] }' \
        "$work/$1.run/flows.csv"
}

printf 'topology:\n  star: {hosts: 2}\ntraffic:\n  - programs:\n' >"$work/events.yaml"
cat >>"$work/events.yaml" <<END
      - {host: host0, command: "$work/events.bin"}
      - {host: host1, command: "$work/events.bin host0", start: 1ms}
END
run events
[ "$(tail -n 1 "$work/events.run/programs/host1-0.out")" = ok ] || fail "events.c printed no ok"

# Each process that has opened the device sees its port go down and come up, once.
cat >"$work/watchers.yaml" <<END
topology:
  star: {hosts: 2}
faults:
  - {part: host0, at: 2ms, until: 7ms}
traffic:
  - programs:
      - {host: host0, command: "$work/watchers.bin"}
END
run watchers
[ "$(sort "$work/watchers.run/programs/host0-0.out" | tr '\n' ' ')" = \
    "child: port active child: port error parent: port active parent: port error " ] || {
    cat "$work/watchers.run/programs/host0-0.out"
    fail "watchers: other events"
}

# A link that goes down and comes back too late.
network='topology:
  star: {hosts: 2}
faults:
  - {part: host0, at: 2ms, until: 7ms}
nic: {mtu: 1024, timeout: 8, retry-count: 2}
traffic:'
cat >"$work/flap.yaml" <<END
$network
  - programs:
      - {host: host0, command: "$work/flap.bin"}
      - {host: host1, command: "$work/flap.bin host0", start: 1ms}
END
run flap
prints flap host0 '^2000000 port error, port 1, down$' "no event of a port down"
prints flap host0 '^7000000 port active, port 1, active$' "no event of a port up"
prints flap host1 '^transport retry counter exceeded$' "the WRITE did not fail"
cat >"$work/own.yaml" <<END
$network
  - bulk: {from: host1, to: host0, bytes: 20000000, start: $(flow flap start_ns)ns}
END
rocesim run "$work/own.yaml" -o "$work/own.run" >"$work/own.log" 2>&1 || true
for column in failed_ns ideal_fct_ns retransmitted_packets bytes status; do
    [ "$(flow flap $column)" = "$(flow own $column)" ] ||
        fail "$column is $(flow flap $column), that of rocesim's own transfer is $(flow own $column)"
done

command -v ib_write_bw >/dev/null && command -v ibv_asyncwatch >/dev/null || exit $((failures > 0))
cat >"$work/watch.yaml" <<END
$network
  - programs:
      - {host: host0, command: ibv_asyncwatch}
END
# It never ends by itself: the run's end ends it, and the run fails.
"$ROCESIM" run "$work/watch.yaml" --programs -o "$work/watch.run" >"$work/watch.log" 2>&1 || true
prints watch host0 PORT_ERR "ibv_asyncwatch did not see the port go down"
prints watch host0 PORT_ACTIVE "ibv_asyncwatch did not see the port come up"

# An incast of eight programs. Each is one flow; all have equal shares, within what DCQCN does.
printf 'topology:\n  star: {hosts: 9}\ntraffic:\n  - programs:\n' >"$work/incast.yaml"
for i in 1 2 3 4 5 6 7 8; do
    command="ib_write_bw -d rocesim0 -F -p 900$i -n 300"
    printf '      - {host: host0, command: "%s"}\n' "$command" >>"$work/incast.yaml"
    printf '      - {host: host%s, command: "%s host0", start: 1ms}\n' "$i" "$command" >>"$work/incast.yaml"
done
run incast
[ "$(grep -c ',programs,' "$work/incast.run/flows.csv")" = 8 ] ||
    fail "eight programs have other than eight flows"
awk -F, 'NR > 1 && ($10 < 7.5 || $10 > 9) { exit 1 }' "$work/incast.run/flows.csv" ||
    fail "the shares are not fair"
rocesim explain "$work/incast.run" >"$work/explain.log" || fail "explain failed"
grep -q '^main cause: incast: 8 hosts send to host0' "$work/explain.log" ||
    fail "explain does not name the incast"
run incast --set programs.flows-max=0
grep -q 'flows.csv has the first 0 of 1 flows of the program host8-0' "$work/incast.log" ||
    fail "nothing says that flows were left out"
exit $((failures > 0))
