#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_perftest_kinds.sh - perftest's -b, -c UC, -c UD and ib_atomic_bw.
#
# Goal: both directions carry twice the bandwidth of one, in the report and on the link; UC and UD reach
# the rate of RC and send no ACKs; atomics read and add, one response each; what the tools refuse is
# refused; results do not depend on threads.
# Method: one link of 100 Gbps, closed forms of frames, counters of packets.
# Not pinned: RC's bandwidth, which test_app_perftest.c pins.
set -u
. tests/script.sh

cat >"$work/pt.yaml" <<'END'
topology: {star: {hosts: 2, rate: 100Gbps}}
nic: {congestion-control: none}
parameters: {test: "traffic[0].perftest.test", connection: "traffic[0].perftest.connection",
             both: "traffic[0].perftest.bidirectional", size: "traffic[0].perftest.size",
             qps: "traffic[0].perftest.qps", all: "traffic[0].perftest.all"}
traffic: [perftest: {iterations: 200}]
END
# run ARGUMENT...: into $work/r; the words of the row in the table go into $row.
run() {
    "$ROCESIM" run "$work/pt.yaml" -o "$work/r" --quiet "$@" >"$work/out" 2>"$work/err" ||
        fail "$*: $(cat "$work/err")"
    read -r -a row < <(grep -E '^ [0-9]+ ' "$work/out")
}
value() { sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*$/\1/p" "$work/r/summary.json" | head -n 1; }
# near WHAT GOT WANTED: within 2 %.
near() {
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0.98 * b && a < 1.02 * b) }' || fail "$1: $2, expected $3"
}

# -- both directions

run
one=$(value bw_average)
for test in ib_write_bw ib_read_bw ib_send_bw; do
    run --set test=$test --set both=on
    near "$test in both directions" "$(value bw_average)" "$(awk -v x="$one" 'BEGIN { print 1.97 * x }')"
    near "$test, bytes by host1" "$(value rx_data_bytes)" 26214400 # 2 x 200 x 64 KiB
    grep -q "(bidirectional)" "$work/out" || fail "$test: the table does not say so"
done
digest=$(value digest)
digest=$(sed -n 's/.*"digest": "\(.*\)",/\1/p' "$work/r/summary.json")
run --set test=ib_send_bw --set both=on --threads 2
grep -q "\"digest\": \"$digest\"" "$work/r/summary.json" || fail "another digest on two threads"
run --set test=ib_send_bw --set both=on --set qps=4 --set size=4KiB
grep -q "^ 4096 *800 " "$work/out" || fail "4 QPs in both directions: $(grep '^ 4096' "$work/out")"

# -- unreliable connections

for connection in uc ud; do
    run --set test=ib_send_bw --set connection=$connection --set size=4KiB
    near "$connection SEND" "$(value bw_average)" 98.1 # 4096 of 4174 bytes on the link
    near "$connection SEND, peak" "${row[2]}" 98.1
    [ "$(value created)" = 200 ] || fail "$connection: $(value created) packets, expected 200 and no ACK"
    run --set test=ib_send_lat --set connection=$connection
    near "$connection latency, of RC's" "$(value t_typical)" 2.01
done
run --set connection=uc
near "uc WRITE" "$(value bw_average)" 98.0
run --set test=ib_send_bw --set connection=ud --set all=on
[ "$(grep -cE '^ [0-9]+ ' "$work/out")" -eq 12 ] || fail "ud -a: sizes up to the MTU"

# -- atomics

run --set test=ib_atomic_bw
[ "${row[0]} ${row[1]}" = "8 200" ] || fail "ib_atomic_bw: ${row[*]}"
[ "$(value created)" = 400 ] ||
    fail "atomics: $(value created) packets, expected a request and a response each"
run --set test=ib_atomic_lat
read_us=$(value t_typical)
run --set test=ib_read_lat --set size=8
near "latency of an atomic, of a READ's" "$read_us" "$(value t_typical)"

# -- tests of several sizes tell their best in comparisons, too

run --set all=on
"$ROCESIM" compare "$work/r" | grep -qE "^0, perftest: bw_average_max, Gbps +98" ||
    fail "compare of -a: bandwidth"
run --set test=ib_write_lat --set all=on
"$ROCESIM" compare "$work/r" | grep -qE "^0, perftest: t_typical_min, us +[12]" ||
    fail "compare of -a: latency"

# -- beside other traffic

grep -q "^  beside " "$work/out" && fail "a test of its own shares the network"
for others in 1 6; do
    printf 'topology: {star: {hosts: 4}}\ntraffic:\n  - perftest: {}\n' >"$work/two.yaml"
    for i in $(seq $others); do
        echo '  - flows: {list: ["host2 host1 1MB 0s"]}' >>"$work/two.yaml"
    done
    "$ROCESIM" run "$work/two.yaml" >"$work/out" 2>&1 || fail "beside $others: $(cat "$work/out")"
    grep -q "^  beside    traffic 1 (flows).*, which ran in the same network$" "$work/out" ||
        fail "beside $others: $(tail "$work/out")"
done
grep -q "traffic 3 (flows) and 3 others, which" "$work/out" || fail "beside 6: $(grep beside "$work/out")"

# -- refused

# refused TEXT ARGUMENT...
refused() {
    local text=$1
    shift
    "$ROCESIM" run "$work/pt.yaml" "$@" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] && grep -q "$text" "$work/err" || fail "not refused with '$text': $(cat "$work/err")"
}
refused "ud has SEND only" --set connection=ud
refused "uc has WRITE and SEND only" --set connection=uc --set test=ib_read_bw
refused "uc has WRITE and SEND only" --set connection=uc --set test=ib_atomic_bw
refused "expected at most the MTU, 4096, with ud" --set connection=ud --set test=ib_send_bw --set size=8KiB
refused "a latency test has both directions" --set both=on --set test=ib_send_lat
refused "perftest does not wait for events with WRITE" --set traffic[0].perftest.events=on
refused "expected 8, the size of atomics" --set test=ib_atomic_bw --set size=16
exit $((failures > 0))
