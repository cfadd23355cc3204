#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/simbricks/test_simbricks.sh - processes of SimBricks at hosts (traffic.simbricks).
#
# Goal: frames of all kinds cross the fabric with their contents, and with the marks and TTL that switches
# give them; PFC acts on their class; captures have them; a second run is equal; whatever a process does
# wrong ends the run with one message and status 1 or 2, and leaves no socket; ranks, sessions, the shell and
# runs without --programs are refused.
# Method: peer.c, written from SimBricks' protocol, in the place of its simulators.
# Does not pin: SimBricks' own simulators (examples/adapters/simbricks).
# labels: plain
set -u
. tests/script.sh
${CC:-cc} -O1 -o "$work/peer" tests/apps/simbricks/peer.c || { echo "skip: no compiler"; exit 77; }

cat >"$work/star.yaml" <<END
topology: {star: {hosts: 3, rate: 100Gbps, delay: 1us}}
switch: {pfc: {priorities: [3]}, buffer: 1MB, ecn: {kmin: 50KB, kmax: 200KB}}
until: 500us
captures: [{file: all.pcapng, ports: ["*->*"]}]
programs: {patience: 20s}
traffic:
  - simbricks: {host: host0, listen: $work/a.sock, queue: 16MB}
  - simbricks: {host: host1, connect: $work/b.sock, queue: 16MB}
  - simbricks: {host: host2, listen: $work/c.sock}
END

# together A B C [ARGUMENT...]: runs the scenario with three processes, whose arguments are words of strings.
together() {
    local one=$1 two=$2 three=$3 processes=()
    shift 3
    # shellcheck disable=SC2086
    "$work/peer" connect="$work/a.sock" mac=1 to=3 until=400000000 $one >"$work/a" 2>&1 & processes+=($!)
    # shellcheck disable=SC2086
    "$work/peer" listen="$work/b.sock" mac=2 to=3 until=400000000 $two >"$work/b" 2>&1 & processes+=($!)
    # shellcheck disable=SC2086
    "$work/peer" connect="$work/c.sock" mac=3 to=1 until=400000000 $three >"$work/c" 2>&1 & processes+=($!)
    within 40 "$ROCESIM" run "$work/star.yaml" --programs "$@" >"$work/out.txt" 2>"$work/err"
    status=$?
    kill "${processes[@]}" 2>/dev/null
    wait "${processes[@]}" 2>/dev/null
    [ -z "$(find "$work" -name '[ac].sock')" ] || fail "$one $two $three: a socket is left"
    rm -f "$work/b.sock"
}
value() { # value FILE WORD: the number behind a word
    sed "s/.*$2 \([0-9]*\).*/\1/" "$1"
}

# Two senders fill one link: its switch marks their frames and pauses them, and loses none.
for round in 1 2; do
    together "frames=1500 gap=90000" "frames=1500 gap=90000" "frames=1 start=30000000" -o "$work/o$round"
    [ $status -eq 0 ] || fail "status $status: $(cat "$work/err")"
    grep -q 'digest' "$work/out.txt" && grep digest "$work/out.txt" >"$work/digest$round"
done
cmp -s "$work/digest1" "$work/digest2" || fail "two runs differ"
[ "$(value "$work/c" took)" -eq 3000 ] || fail "not all frames came: $(cat "$work/c")"
[ "$(value "$work/a" took)" -eq 1 ] || fail "the answer did not come: $(cat "$work/a")"
[ "$(value "$work/c" marked)" -gt 100 ] || fail "too few marks: $(cat "$work/c")"
[ "$(value "$work/c" aged)" -eq 3000 ] || fail "routers do not change the TTL: $(cat "$work/c")"
# 30 us, both latencies of 0.5 us, twice 1 us of delay and 1036 bytes (with preamble and FCS) at 100 Gbps
[ "$(value "$work/a" first)" -eq 33165760 ] || fail "the answer came at another time: $(cat "$work/a")"
grep -q '"roce_in": 1500' "$work/o1/summary.json" || fail "frames are not known as RoCE"
grep -q '"cnps_in": 15,' "$work/o1/summary.json" || fail "CNPs are not counted"
[ "$(sed -n 's/.*PFC *\([0-9]*\) pause frames.*/\1/p' "$work/out.txt")" -gt 0 ] || fail "PFC did not act"
cmp -s <(sed 's/"[a-z_]*time[a-z_]*":.*//;s/"wall.*//' "$work/o1/summary.json" | grep flooded) \
    <(grep flooded "$work/o2/summary.json") || fail "reports of two runs differ"
if command -v tshark >/dev/null; then
    count=$(tshark -r "$work/o1/captures/all.pcapng" -Y infiniband.bth 2>/dev/null | wc -l)
    [ "$count" -ge 6000 ] || fail "the capture has $count frames of RoCE"
fi

for kind in ipv4 ipv6 vlan other; do
    for bytes in 20 64 1500; do
        [ $bytes -gt 20 ] || [ $kind = other ] || continue
        [ $bytes -gt 64 ] || [ $kind = other ] || bytes=100
        all="kind=$kind bytes=$bytes"
        together "frames=20 $all" "frames=20 $all to=255" "frames=20 $all"
        [ $status -eq 0 ] || fail "$all: status $status: $(cat "$work/err" "$work"/[abc])"
        [ "$(value "$work/a" took) $(value "$work/b" took) $(value "$work/c" took)" = "40 0 40" ] ||
            fail "$all: $(cat "$work"/[abc])"
    done
done

# wrong STATUS TEXT A B C: one message with that text.
wrong() {
    local expected=$1 text=$2
    shift 2
    together "$@"
    [ $status -eq "$expected" ] || fail "$*: status $status"
    [ "$(grep -vc '^note: ' "$work/err")" -eq 1 ] && grep -q "$text" "$work/err" ||
        fail "$*: $(cat "$work/err")"
}
wrong 1 "host0 .*ended without a message" "fault=die" "" ""
wrong 1 "host1 .*ended without a message" "frames=9" "fault=die frames=100" ""
wrong 1 "version 2 .*expected 1" "fault=version" "" ""
wrong 1 "host1 .*version 2 .*expected 1" "" "fault=version" ""
wrong 1 "protocol 2 .*expected 1" "" "" "fault=protocol"
wrong 1 "does not synchronise" "fault=nosync" "" ""
wrong 1 "a frame of 60000 bytes, expected 14 to 4096" "fault=length" "" ""
wrong 1 "a frame of 0 bytes, expected 14" "" "fault=empty" ""
wrong 1 "went back" "" "" "fault=back"
wrong 1 "unknown type 0x23" "" "fault=type" ""
wrong 1 "before its introduction was whole" "fault=short" "" ""
wrong 1 "do not lie in its" "" "fault=outside" ""
wrong 1 "without shared memory" "" "fault=nomemory" ""
for fault in shrink trim; do
    wrong 1 "host0 .*made its shared memory of [0-9]* bytes smaller" "fault=$fault frames=400" "" ""
    wrong 1 "host1 .*made its shared memory of [0-9]* bytes smaller" "frames=400" "fault=$fault" ""
done
sed -i 's/patience: 20s/patience: 1s/' "$work/star.yaml"
wrong 1 "sent no message for 1 s of real time" "" "fault=mute" ""
within 20 "$ROCESIM" run "$work/star.yaml" --programs >/dev/null 2>"$work/err"
[ $? -eq 1 ] && [ "$(grep -vc '^note: ' "$work/err")" -eq 1 ] &&
    grep -q "did not connect for 1 s" "$work/err" ||
    fail "nobody connects: $(cat "$work/err")"
"$ROCESIM" run "$work/star.yaml" --programs --set programs.patience=100s >/dev/null 2>"$work/err" &
process=$!
sleep 1
kill -INT $process
wait $process
[ $? -eq 1 ] && grep -q "interrupted" "$work/err" && [ ! -e "$work/a.sock" ] ||
    fail "SIGINT: $(cat "$work/err")"

# refused STATUS-TEXT COMMAND...: status 2 and one line.
refused() {
    local text=$1
    shift
    within 20 "$ROCESIM" "$@" >/dev/null 2>"$work/err" </dev/null
    [ $? -eq 2 ] && grep -q "$text" "$work/err" || fail "$*: $(cat "$work/err")"
}
refused "needs .--programs. with .rocesim run" run "$work/star.yaml"
within 20 "$ROCESIM" serve "$work/star.yaml" >"$work/said" </dev/null
grep -q "a session cannot use it" "$work/said" || fail "serve: $(cat "$work/said")"
refused "cannot use it" shell "$work/star.yaml" --programs
refused "one rank" run "$work/star.yaml" --programs --ranks 2
refused "ties: hash" run "$work/star.yaml" --programs --set ties=insertion
refused "nic.model: ideal" check "$work/star.yaml" --set nic.model=detailed
refused "either listen or connect" check "$work/star.yaml" --set 'traffic[0].simbricks.connect=x'
refused "sync-interval" check "$work/star.yaml" --set 'traffic[0].simbricks.sync-interval=1us'
within 20 "$ROCESIM" check "$work/star.yaml" >"$work/said" 2>&1 && grep -q "listens on" "$work/said" ||
    fail "check: $(cat "$work/said")"

[ $failures -eq 0 ] || { echo "again: ctest --test-dir build/release -R test_simbricks"; exit 1; }
