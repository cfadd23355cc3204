#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_real_programs.sh - unmodified programs on simulated hosts (docs/models/programs.md).
#
# Goal: perftest's programs and the pingpongs of ibverbs-utils end with status 0 and measure what the closed
# form says; equal runs have equal digests and output; faults of programs give one message and leave nothing
# behind. Method: two hosts at a switch. Not pinned: programs with threads.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
command -v ib_write_bw >/dev/null && command -v ibv_rc_pingpong >/dev/null && [ -e "$library" ] || {
    echo "skipped: perftest, ibverbs-utils or the library of programs is not there"
    exit 77
}

# scenario SERVER CLIENT [LINE...]: two programs; the client starts 1 ms later.
scenario() {
    printf 'topology:\n  star: {hosts: 2}\n'
    printf 'traffic:\n  - programs:\n'
    printf '      - {host: host0, command: "%s"}\n' "$1"
    printf '      - {host: host1, command: "%s", start: 1ms}\n' "$2"
}

# run NAME SERVER CLIENT [ARGUMENT...]: runs them into $work/NAME; the status is rocesim's.
run() {
    local name=$1
    scenario "$2" "$3" >"$work/$name.yaml"
    shift 3
    within 120 "$ROCESIM" run "$work/$name.yaml" --programs -o "$work/$name" "$@" >"$work/$name.log" 2>&1
}

# pair NAME TOOL [OPTION...]: the tool as server and client.
pair() {
    local name=$1
    shift
    run "$name" "$*" "$* host0" || {
        cat "$work/$name.log" "$work/$name"/programs/* || true
        fail "$name: $* ended with another status than 0"
    }
}

# field NAME COLUMN: a column of the client's row of results.
field() {
    awk -v column="$2" '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ && NF > 3 { value = $column }
        END { print value }' "$work/$1/programs/host1-0.out"
}

# near NAME COLUMN EXPECTED PERCENT
near() {
    awk -v is="$(field "$1" "$2")" -v expected="$3" -v percent="$4" 'BEGIN {
        exit is == "" || is < expected * (1 - percent / 100) || is > expected * (1 + percent / 100) }' ||
        fail "$1: $(field "$1" "$2"), expected $3 within $4 %"
}

# A message of 65,536 bytes is 16 frames of 4096 + 82 bytes on the wire (the first has a RETH of 16 more).
pair write_bw ib_write_bw -d rocesim0 -F --report_gbits
near write_bw 4 98.01 0.5
pair read_bw ib_read_bw -d rocesim0 -F --report_gbits
near read_bw 4 98.0 0.5
pair send_bw ib_send_bw -d rocesim0 -F --report_gbits
near send_bw 4 98.0 0.5
pair uc ib_write_bw -d rocesim0 -F --report_gbits -c UC -n 500
near uc 4 98.0 0.5
pair both ib_send_bw -d rocesim0 -F --report_gbits -b
near both 4 192 1
# Two links of 1 us, and a frame on each of them.
pair write_lat ib_write_lat -d rocesim0 -F
near write_lat 5 2.02 1
pair send_lat ib_send_lat -d rocesim0 -F
near send_lat 5 2.02 1
pair datagram ib_send_lat -d rocesim0 -F -c UD
near datagram 5 2.01 1
pair read_lat ib_read_lat -d rocesim0 -F
near read_lat 5 4.03 1
pair atomic ib_atomic_lat -d rocesim0 -F
near atomic 5 4.03 1
pair events ib_send_lat -d rocesim0 -F -e
# More completions wait than a poll takes when the queue is armed again.
pair many_events ib_atomic_bw -d rocesim0 -F -e -q 16 -t 256 -n 300
for kind in rc uc ud srq; do
    pair "$kind" "ibv_${kind}_pingpong" -d rocesim0 -g 0 -n 200
done
run info "ibv_devinfo -v" "ibv_devices" || fail "ibv_devinfo or ibv_devices failed"
grep -q 'rocesim0' "$work/info/programs/host0-0.out" || fail "ibv_devinfo names no device"
grep -q 'PORT_ACTIVE' "$work/info/programs/host0-0.out" || fail "the port is not active"

# The example, and the bytes that it writes in a capture.
if ${CC:-cc} -o "$work/verbs_hello" examples/verbs_hello.c -libverbs; then
    run hello "$work/verbs_hello" "$work/verbs_hello host0" || fail "verbs_hello failed"
    grep -q '^hello over RDMA, immediate 7$' "$work/hello/programs/host0-0.out" || fail "verbs_hello: no text"
fi

# Equal runs.
digest() { sed -n 's/^ *digest *//p' "$work/$1.log"; }
for again in 1 2; do
    pair "again$again" ib_write_lat -d rocesim0 -F
    [ "$(digest "again$again")" = "$(digest write_lat)" ] || fail "equal runs have different digests"
    cmp "$work/again$again/programs/host1-0.out" "$work/write_lat/programs/host1-0.out" ||
        fail "equal runs print different texts"
done
scenario "ib_write_lat -d rocesim0 -F" "ib_write_lat -d rocesim0 -F host0" >"$work/threads.yaml"
"$ROCESIM" run "$work/threads.yaml" --programs --threads 2 >"$work/threads.log" 2>&1 ||
    fail "the run on two threads failed"
[ "$(digest threads)" = "$(digest write_lat)" ] || fail "two threads change the digest"

# refused STATUS TEXT NAME SERVER CLIENT [ARGUMENT...]: the run ends with the status and says the text.
refused() {
    local status=0
    run "${@:3}" || status=$?
    [ "$status" = "$1" ] || fail "$3: status $status, expected $1"
    grep -q -- "$2" "$work/$3.log" || {
        cat "$work/$3.log"
        fail "$3: no message '$2'"
    }
}

refused 1 'cannot be started' missing "no-such-program" true
refused 1 'status 3' status "sh -c 'exit 3'" true
refused 1 'signal 6' crash "sh -c 'kill -ABRT \$\$'" true
refused 1 'ended because the run ended' alone "ib_write_bw -d rocesim0 -F" true
refused 1 'for a write into its memory' endless "sh -c 'while :; do :; done'" true
refused 1 'patience' busy "awk 'BEGIN { while (1) i++ }'" true --set programs.patience=1s
scenario "touch $work/touched" true >"$work/unasked.yaml"
status=0
"$ROCESIM" run "$work/unasked.yaml" >"$work/unasked.log" 2>&1 || status=$?
[ "$status" = 2 ] || fail "without --programs: status $status, expected 2"
grep -q "touch $work/touched" "$work/unasked.log" || fail "the refusal does not show the command"
"$ROCESIM" check "$work/unasked.yaml" >"$work/check.log" 2>&1 || fail "check refuses programs"
grep -q "touch $work/touched" "$work/check.log" || fail "check does not show the command"
[ ! -e "$work/touched" ] || fail "a program ran that was not asked for"

exit $((failures > 0))
