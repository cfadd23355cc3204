#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_shell.sh - `rocesim shell` with scripts, and at a terminal.
#
# Goal: equal scripts have equal digests, files and output; the scenario.yaml of a shell repeats in `rocesim
# run` everything that its lines did, faults among it; wrong lines end a script with status 2 and a message.
# Method: scripts on the standard input; python's pty for Ctrl-C, Ctrl-D and completion. Not pinned: what the
# programs print.
# Rerun: ctest --test-dir build/release -R '^test_programs_shell$' --output-on-failure
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
command -v ibv_rc_pingpong >/dev/null && command -v ib_write_bw >/dev/null && [ -e "$library" ] || {
    echo "skipped: perftest, ibverbs-utils or the library of programs is not there"
    exit 77
}
pingpong='ibv_rc_pingpong -d rocesim0 -g 0 -n 100'

# shell NAME [ARGUMENT...]: runs the script of the standard input; the status is rocesim's.
shell() {
    within 40 "$ROCESIM" shell "${@:2}" >"$work/$1.out" 2>"$work/$1.err"
}
digest() { sed -n 's/^ *digest *//p' "$work/$1.out"; }

cat >"$work/traffic.yaml" <<'END'
topology:
  leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4}
network: {convergence: 20us}
traffic:
  - permutation: {bytes: 4MB}
captures:
  - {file: host0.pcap, ports: "host0->*"}
END
cat >"$work/script" <<END
# comments and empty lines are allowed

host0 $pingpong &
run 3us
fault link leaf0--spine1 down
host7 $pingpong host0
fault leaf0--spine1 up
run 50us
fault host3 degraded for 30us rate=10Gbps
run 100us
fault leaf1--spine0 bit-errors for 50us loss-rate=1%
fault leaf0--host2 down for 20us
time
jobs
wait
END

# Equal scripts, and the run that repeats one.
for name in first second; do
    shell $name "$work/traffic.yaml" -o "$work/$name" <"$work/script" ||
        fail "$name: status $?: $(cat "$work/$name.err")"
done
diff <(grep -v '^  ran\|files' "$work/first.out") <(grep -v '^  ran\|files' "$work/second.out") ||
    fail "equal scripts print different texts"
"$ROCESIM" run --programs "$work/first/scenario.yaml" -o "$work/repeated" >"$work/repeated.out" 2>&1 ||
    fail "the scenario of a shell does not run: $(cat "$work/repeated.out")"
[ -n "$(digest first)" ] && [ "$(digest first)" = "$(digest second)" ] || fail "equal scripts, other digests"
[ "$(digest first)" = "$(digest repeated)" ] || fail "the scenario of a shell does not repeat it"
for file in flows.csv events.csv ports.csv apps.csv captures/host0.pcap programs/host7-0.out scenario.yaml; do
    cmp "$work/first/$file" "$work/second/$file" || fail "equal scripts differ in $file"
    cmp "$work/first/$file" "$work/repeated/$file" || fail "the repetition differs in $file"
done
grep -q 'link-down' "$work/first.out" || fail "no frame was lost on the link that went down"
grep -q '^host0-0 | .*bytes in' "$work/first.out" || fail "the output in the background is not shown"
grep -q '^[0-9.]* bytes in\|^800000 bytes' "$work/first.out" ||
    fail "the output in the foreground is not shown"

# Left before its end, it is repeated up to that moment.
(grep -v wait "$work/script"; echo exit) >"$work/left"
shell left "$work/traffic.yaml" -o "$work/left.d" <"$work/left" || fail "left: $(cat "$work/left.err")"
"$ROCESIM" run --programs "$work/left.d/scenario.yaml" >"$work/again.out" 2>&1 || true
[ "$(digest left)" = "$(digest again)" ] || fail "a shell that was left is not repeated"

# Without lines, a shell is a run.
printf 'topology:\n  star: {hosts: 2}\ntraffic:\n  - programs:\n' >"$work/own.yaml"
printf '      - {host: host%s, command: "%s", start: %sms}\n' 0 "$pingpong" 0 1 "$pingpong host0" 1 \
    >>"$work/own.yaml"
"$ROCESIM" run --programs "$work/own.yaml" >"$work/run.out" 2>&1 || fail "own.yaml fails"
shell own --programs "$work/own.yaml" </dev/null || fail "an empty script fails: $(cat "$work/own.err")"
[ "$(digest own)" = "$(digest run)" ] || fail "an empty script is no run"
status=0
shell asked "$work/own.yaml" </dev/null || status=$?
[ $status = 2 ] && grep -q -e '--programs' "$work/asked.err" || fail "a scenario starts programs by itself"

# A program of the foreground that cannot go on; the status; signals.
shell alone --topology star:2 <<<"host0 $pingpong" && fail "a program that waits for ever: status 0"
grep -q 'host0-0 waits.*nothing else happens' "$work/alone.err" || fail "alone: $(cat "$work/alone.err")"
printf '%s\n' "host0 $pingpong" "host1 $pingpong host0" wait | shell both --topology star:2 ||
    fail "a server in the foreground: $(cat "$work/both.err")"
shell status --topology star:2 <<<"host0 sh -c 'exit 7'" && fail "a program that fails: status 0"
grep -q 'host0-0: the program ended with status 7' "$work/status.err" ||
    fail "status: $(cat "$work/status.err")"
printf '%s\n' 'host0 sleep 100 &' 'run 1s' 'kill host0-0' jobs time |
    shell kill --topology star:2 && fail "kill: status 0"
grep -q 'host0-0: the program was killed by signal 15' "$work/kill.out" ||
    fail "kill: $(cat "$work/kill.out")"
grep -q '^1.000 s$' "$work/kill.out" || fail "a signal takes time"

# refused TEXT LINE...: the last line is refused before anything of it is done.
refused() {
    local status=0
    printf '%s\n' "${@:2}" time | shell refused --topology leaf-spine || status=$?
    [ $status = 2 ] || fail "'${*:2}': status $status, expected 2"
    [ "$(grep -c "^rocesim shell:$(($# - 1)):1: .*$1" "$work/refused.err")" = 1 ] ||
        fail "'${*:2}': no message '$1': $(head -c 300 "$work/refused.err")"
    ! grep -q '^0 ps$' "$work/refused.out" || fail "'${*:2}': the script went on"
}
refused "did you mean 'host0'" hots0
refused 'neither a command nor a host' '' '# comment' 'xyzzy &'
refused 'a command behind the host' host0
refused 'a command behind the host' 'host0 &'
refused 'quote is not closed' "host0 echo 'a"
refused 'no shell reads it' 'host0 ls / | wc'
refused 'no shell reads it' 'host0 true 2>err'
refused 'run: ' 'run soon'
refused 'nothing behind exit' 'exit now'
refused 'a program as .jobs. names it' 'kill host0-0'
refused 'INT, TERM' 'host0 true' 'kill host0-0 NOTHING'
refused 'a program that has not ended' 'host0 true' 'kill host0-0'
refused 'matches no link' 'fault leaf9 down'
refused "not one of down" 'fault leaf0 broken'
refused 'for: ' 'fault leaf0 down for ever'
refused 'a part and what happens' 'fault leaf0'
refused 'for TIME, or NAME=VALUE' 'fault leaf0 down soon'
refused 'down, or goes down' 'fault leaf0--spine0 down' 'fault leaf0 down'
refused 'nothing has taken' 'fault leaf0 up'
refused 'unknown key' 'fault leaf0 down nothing=1'
head -c 2000000 /dev/zero | shell long --topology star:2 && fail "a line without end: status 0"
grep -q '1 MiB' "$work/long.err" || fail "a line without end: $(head -c 300 "$work/long.err")"

# At a terminal.
command -v python3 >/dev/null || exit $((failures > 0))
timeout 60 python3 tests/programs/shell_at_terminal.py "$ROCESIM" || fail "at a terminal"
exit $((failures > 0))
