#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_misfortune.sh - programs that meet bad luck.
#
# Goal: each kind of misfortune ends the run with one clear message and status 1, and leaves no process; kills
# of rocesim and of its programs at random times leave nothing either, and the peer of a program that was
# killed gets an error. Method: misfortune.c meets what its argument names. Not pinned: processes that a
# program makes by system calls of its own, in a session of their own.
# Usage: SEED=N tests/programs/test_programs_misfortune.sh repeats the random kills (tests/random-kills).
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
name=misfortune$$ # of the program; processes that stay are found by it
program=$work/$name
[ -e "$library" ] && ${CC:-cc} -O1 -w tests/programs/misfortune.c -o "$program" 2>/dev/null || {
    echo "skipped: a compiler or the library of programs is not there"
    exit 77
}
SEED=${SEED:-$RANDOM}
echo "SEED=$SEED"

# gone WHAT: no process of the test is left, soon. Zombies belong to init.
gone() {
    for _ in $(seq 50); do
        pgrep -r D,R,S,T -f "^$program" >/dev/null || return 0
        sleep 0.1
    done
    fail "$1: a process is left: $(pgrep -a -f "^$program")"
    pkill -KILL -f "^$program" || true
}

# two COMMAND COMMAND: prints a scenario with a program on each of two hosts.
two() {
    printf 'topology:\n  star: {hosts: 2}\n'
    printf 'programs: {patience: %s, memory-max: 300MB, output-max: 1MB, environment: "%s"}\n' \
        "${patience:-20s}" "${environment:-}"
    printf 'traffic:\n  - programs:\n'
    printf '      - {host: host0, command: "%s"}\n' "$1"
    printf '      - {host: host1, command: "%s", start: 1ms}\n' "$2"
}

# meets CASE TEXT: the case ends with the text, once, and the other program ends well.
meets() {
    local status=0
    two "${command:-$program $1}" true >"$work/case.yaml"
    within 30 "$ROCESIM" run "$work/case.yaml" --programs -o "$work/case" >"$work/case.log" 2>&1 || status=$?
    [ "$status" = 1 ] || fail "$1: status $status, expected 1"
    [ "$(grep -c "traffic\[[01]\] (programs) failed: .*$2" "$work/case.log")" = 1 ] &&
        [ "$(grep -c '(programs) failed' "$work/case.log")" = 1 ] || {
        cut -c-300 "$work/case.log"
        fail "$1: not one message '$2'"
    }
    gone "$1"
    [ -z "${exits:-}" ] || grep -q "^0,programs,,,exit_status,$exits," "$work/case/apps.csv" ||
        fail "$1: the exit status is not $exits"
    [ -e "$work/case/programs/host1-0.out" ] || fail "$1: the output of the other program is not there"
    rm -rf "$work/case"
}

meets exit 'ended with status 3'
meets killed 'killed by signal 9 (Killed)'
meets crash 'killed by signal 11 (Segmentation fault)'
meets segv 'killed by signal 11'
meets raise 'killed by signal 11'
meets ill 'killed by signal 4'
meets recurse 'killed by signal 11'
meets close-raw 'closed the descriptors of the library'
meets print 'programs.output-max'
meets allocate 'ended with status 6'
patience=3s meets endless 'no call for 3 s of real time'
mkdir "$work/none" && : >"$work/none/libcapstone.so.4"
environment=LD_LIBRARY_PATH=$work/none patience=3s \
    meets endless 'programs.patience); without libcapstone.so.4, loops that count are not known'
patience=3s meets fork-endless 'no call for 3 s of real time'
patience=3s meets ignore-end 'no call for 3 s of real time'
exits=127 command="$work/no-such-program" meets none 'cannot be started: No such file'
exits=127 command=no-such-program meets nowhere 'cannot be started: No such file'
exits=127 command="$work" meets folder 'cannot be started: Permission denied'
echo text >"$work/text"
chmod +x "$work/text"
exits=127 command="$work/text" meets text 'cannot be started: Exec format error'
# Children end with their parent, also one of a system call of its own.
two "$program fork-raw" "$program fork-sleeping" >"$work/fork.yaml"
within 30 "$ROCESIM" run "$work/fork.yaml" --programs >/dev/null 2>&1 || fail "fork: a program failed"
gone fork
# A child that takes long to begin, or that is killed while it forks, ends nothing else.
patience=20s two "$program fork-late" "$program fork-lost" >"$work/begin.yaml"
within 30 "$ROCESIM" run "$work/begin.yaml" --programs >"$work/begin.log" 2>&1 ||
    fail "begin: $(cat "$work/begin.log")"
gone begin
# A handler of fork() waits for another thread, which runs meanwhile.
patience=5s two "$program fork-locked" "$program fork-locked" >"$work/locked.yaml"
within 30 "$ROCESIM" run "$work/locked.yaml" --programs >"$work/locked.log" 2>&1 ||
    fail "fork-locked: $(cat "$work/locked.log")"
# Programs that wait in vain stall the run, also if timers go on or they try again and again.
${CC:-cc} -O1 -w tests/programs/vain.c -o "$work/vain"
two "$work/vain timer" "$work/vain connect host0" >"$work/vain.yaml"
status=0
within 60 "$ROCESIM" run "$work/vain.yaml" --programs >"$work/vain.log" 2>&1 || status=$?
[ "$status" = 1 ] && grep -q '^stalled: 2 pieces of work' "$work/vain.log" &&
    grep -q 'traffic\[0\].* waiting for bytes or a connection of a socket' "$work/vain.log" ||
    fail "vain: status $status, $(tail -n 4 "$work/vain.log")"
# The library's descriptors cannot be closed by close(); signals that are ignored do not help.
two "$program close" "$program ignore-signals" >"$work/ignore.yaml"
status=0
within 30 "$ROCESIM" run "$work/ignore.yaml" --programs --until 2s >"$work/ignore.log" 2>&1 || status=$?
[ "$status" = 1 ] && grep -q 'traffic\[1\].*the run ended while the program was waiting' "$work/ignore.log" &&
    ! grep -q 'traffic\[0\]' "$work/ignore.log" || fail "ignore-signals: $(cat "$work/ignore.log")"
gone ignore-signals

# rocesim is ended while it waits for a program: at once, with results; by SIGKILL without.
patience=100s two "$program endless" "$program sleep" >"$work/wait.yaml"
for signal in INT TERM KILL; do
    rm -rf "$work/wait"
    "$ROCESIM" run "$work/wait.yaml" --programs -o "$work/wait" >"$work/wait.log" 2>&1 &
    pid=$!
    for _ in $(seq 100); do
        ! pgrep -f "^$program endless" >/dev/null || break
        sleep 0.05
    done
    sleep 0.2
    kill -"$signal" $pid
    begin=$SECONDS
    status=0
    wait $pid 2>/dev/null || status=$?
    [ $((SECONDS - begin)) -le 3 ] || fail "SIG$signal: rocesim took $((SECONDS - begin)) s to end"
    gone "SIG$signal"
    [ $signal != KILL ] || continue
    [ $status = 1 ] || fail "SIG$signal: status $status, expected 1"
    grep -q 'because the run was interrupted' "$work/wait.log" || fail "SIG$signal: $(cat "$work/wait.log")"
    [ -e "$work/wait/summary.json" ] && [ -e "$work/wait/programs/host0-0.out" ] ||
        fail "SIG$signal: no results"
done

# Kills at random times, of rocesim, of programs and of their children.
command -v ib_write_bw >/dev/null || exit $((failures > 0))
cp "$(command -v ib_write_bw)" "$work/$name-bw"
bw=$work/$name-bw
echo "again: tests/random-kills $ROCESIM $SEED"
within 200 tests/random-kills "$ROCESIM" "$SEED" "$(few 6 3)" || fail "a run that was killed did not end well"

# The next run takes the folder of one that was killed, with the output of programs before it.
mkdir -p "$work/left/.unfinished" "$work/left/programs"
two true true >"$work/left.yaml"
"$ROCESIM" run "$work/left.yaml" --programs -o "$work/left" >"$work/left.log" 2>&1 || true
[ -e "$work/left/summary.json" ] ||
    fail "the folder of a run that was killed is refused: $(cat "$work/left.log")"

# The peer of a program that is killed sees what it would see on a network.
printf '%s\n' "host0 $bw -F &" 'run 1ms' "host1 $bw -F host0 &" 'run 100us' 'kill host0-0 KILL' |
    within 30 "$ROCESIM" shell --topology star:2 >"$work/reset.log" 2>&1 || true
grep -q 'host1-0: the program ended with status 1' "$work/reset.log" || fail "the peer's socket did not end"
command -v ibv_rc_pingpong >/dev/null || exit $((failures > 0))
pingpong="ibv_rc_pingpong -d rocesim0 -g 0 -n 100000"
printf '%s\n' "host0 $pingpong &" 'run 1ms' "host1 $pingpong host0 &" 'run 2ms' 'kill host0-0 KILL' |
    within 30 "$ROCESIM" shell --topology star:2 >"$work/peer.log" 2>&1 || true
grep -q 'host1-0 | .*(12)' "$work/peer.log" || fail "the peer saw no RETRY_EXC_ERR"
exit $((failures > 0))
