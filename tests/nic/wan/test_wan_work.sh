#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain long
# test_wan_work.sh - what a repair costs does not depend on window and loss.
#
# Goal: with adamap the steps of the NIC's control path, and the reads and writes of the knitting
# buffer, for each repaired packet are no more with 100 times the window and 100 times the loss;
# nor are the program's own instructions for each data packet with 30 times the window, within
# 15 %, and where one packet in a hundred is lost instead of one in ten thousand.
# Method: scenarios/wan/goodput.yaml, 100 us to 12 ms; callgrind counts runs that differ in size only,
# so that what is built once cancels out. The links have 25 Gbit/s there, 100 in the long form, which looks at
# every selective transport.
# Not pinned: what a packet costs (test_instructions, docs/performance.md).
. tests/script.sh

# run TRANSPORT RTT LOSS PACKETS [PROGRAM OF valgrind]...
run() {
    "${@:5}" "$ROCESIM" run scenarios/wan/goodput.yaml --quiet -o "$work/out" --set "transport=$1" \
        --set "rtt=$2" --set "loss=$3" --set "rate=$rate" --set "bytes=$(($4 * 4096))" > "$work/log" 2>&1 ||
        fail "the run: $(tail -n 3 "$work/log")"
}
rate=100Gbps
value() {
    sed -n "s/^ *\"$1\": \([0-9.]*\).*/\1/p" "$work/out/summary.json" | head -n 1
}

for rtt in 100us 10ms; do
    for loss in 0.0001 0.01; do
        run adamap $rtt $loss 200000
        awk -v steps="$(value work_per_repair)" -v repaired="$(value repaired)" \
            -v accesses="$(($(value dma_reads) + $(value dma_writes)))" -v at="$rtt, $loss" 'BEGIN {
            printf "%s: %.3f steps, %.3f accesses of the host for each of %d repairs\n", at, steps,
                accesses / repaired, repaired
            exit !(repaired > 10 && steps > 0.5 && steps <= 2.05 && accesses <= 3.05 * repaired) }' ||
            fail "$rtt, $loss: more than two steps, or three accesses, for each repair"
    done
done

if ! command -v valgrind > /dev/null ||
    ! grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$BUILD_DIRECTORY/CMakeCache.txt"; then
    echo "no valgrind, or not a release build: instructions are not counted"
    exit $((failures > 0))
fi
# each TRANSPORT RTT LOSS: instructions for each data packet
each() {
    local packets count=()
    for packets in $size $((2 * size)); do
        run "$1" "$2" "$3" "$packets" valgrind --tool=callgrind --callgrind-out-file=/dev/null
        count+=("$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$work/log")")
    done
    echo $(((count[1] - count[0]) / size))
}
transports=adamap
rate=25Gbps
size=10000
if [[ -n ${TEST_LONG:-} ]]; then
    transports="adamap irn sdr"
    rate=100Gbps
    size=40000
fi
for transport in $transports; do
    near=$(each $transport 400us 0.0001)
    far=$(each $transport 12ms 0.0001)
    lossy=$(each $transport 12ms 0.01)
    echo "$transport: $near instructions for each packet, $far with 30 times the window," \
        "$lossy with 100 times the loss"
    [[ $near -gt 500 && $((far * 10)) -le $((near * 23 / 2)) && $((lossy * 10)) -le $((near * 23 / 2)) ]] ||
        fail "$transport: the cost of a packet grows with window or loss"
done
((failures == 0))
