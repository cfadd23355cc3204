#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_loopback.sh - programs of one host, connected to each other in its NIC.
#
# Goal: two programs of a host meet in the loopback of its NIC, by sockets and by rdma_cm, to the host's
# name and to 127.0.0.1, over RC, UC and UD, with and without a switch, and nothing is on the link, whose
# faults change nothing; an ideal NIC has the rate of its link, and a ConnectX-5 that of PCIe. Method:
# perftest, against rocesim's own and a card. Source: github.com/spdk/spdk/issues/2741 (2022-10-25):
# ib_send_bw -s 9000 -R on a ConnectX-5 to the card's own address, MTU 1024: 12538 MiB/s. Does not pin:
# refused NICs but those with another transport.
# Rerun: ctest --test-dir build/release -R '^test_programs_loopback$' --output-on-failure
set -eu
. tests/script.sh

command -v ib_write_bw >/dev/null && [ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] || {
    echo "skipped: perftest or the library of programs is not there"
    exit 77
}
# run TOPOLOGY NIC TOOL OPTIONS PEER [OPTION...]: two programs of host0, into $work/out. Returns the status.
run() {
    cat >"$work/own.yaml" <<END
topology: {$1}
nic: {$2}
traffic:
  - programs:
      - {host: host0, command: "$3 -d rocesim0 -F $4"}
      - {host: host0, command: "$3 -d rocesim0 -F $4 $5", start: 1ms}
END
    within 60 "$ROCESIM" run "$work/own.yaml" --programs -o "$work/out" "${@:6}" >"$work/log" 2>&1
}
# rate FILE: prints the average bandwidth of perftest's report.
rate() {
    awk '$1 ~ /^[0-9]+$/ && NF >= 5 { print $4 }' "$1" | tail -n 1
}
# between WHAT RATE LOW HIGH
between() {
    awk -v r="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(r != "" && r >= low && r <= high) }' ||
        fail "$1: \"$2\" is not in $3..$4"
}
# near WHAT SHARE A B: they differ by that share at most.
near() {
    awk -v s="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(b > 0 && a / b > 1 - s && a / b < 1 + s) }' ||
        fail "$1: $3 and $4"
}
star="star: {hosts: 2}"
pair="pair: {}"
x5="model: detailed, profile: connectx-5"

while IFS='|' read -r topology nic low high tool options peer; do
    what="$tool $options $peer, $topology, $nic"
    run "$topology" "$nic" "$tool" "-n 500 --report_gbits -m 4096 $options" "$peer" ||
        fail "$what: $(cat "$work/log")"
    between "$what" "$(rate "$work/out/programs/host0-1.out")" "$low" "$high"
    grep -q ": 0 packet-hops," "$work/log" || fail "$what: packets on a link: $(tail -n 3 "$work/log")"
done <<END
$star|model: ideal|93|99|ib_write_bw||127.0.0.1
$pair|model: ideal|93|99|ib_write_bw|-R|host0
$star|model: ideal|93|99|ib_write_bw|-R|127.0.0.1
$pair|model: ideal|93|99|ib_send_bw|-R -c UD|host0
$pair|model: ideal|93|99|ib_send_bw|-c UC -b|host0
star: {hosts: 2, nics-per-host: 2}|model: ideal|93|99|ib_write_bw|-R|host0
$pair|$x5|102|112|ib_read_bw|-R|host0
$star|$x5|102|112|ib_write_bw|-b -q 4|host0
END

# The rate differs by up to 1.5 % with the depth of the queue; perhaps reads and writes of PCIe go in step.
for nic in "model: ideal" "$x5"; do
    share=$([ "$nic" = "$x5" ] && echo 0.02 || echo 0.001)
    run "$pair" "$nic" ib_write_bw "-n 2000 --report_gbits -m 4096" host0 || fail "$nic: $(cat "$work/log")"
    cat >"$work/app.yaml" <<END
topology: {$pair}
nic: {$nic}
traffic: [{perftest: {test: ib_write_bw, from: host0, to: host0, iterations: 2000}}]
END
    within 60 "$ROCESIM" run "$work/app.yaml" -o "$work/app" >"$work/app.log" 2>&1 ||
        fail "$nic: $(cat "$work/app.log")"
    near "program and own perftest, $nic" "$share" \
        "$(rate "$work/out/programs/host0-1.out")" "$(rate "$work/app.log")"
done

run "$pair" "$x5" ib_send_bw "-n 3000 -s 9000 -R -m 1024" host0 || fail "$(cat "$work/log")"
between "a card of 12538 MiB/s" "$(rate "$work/out/programs/host0-1.out")" 12162 12914 # 3 %

for nic in "model: ideal, congestion-control: dcqcn" "$x5"; do
    digests=""
    for threads in 1 2; do
        run "$star" "$nic" ib_write_bw "-n 200 -q 8 -b" host0 --threads $threads || fail "$(cat "$work/log")"
        digests+=" $(sed -n 's/^ *digest *//p' "$work/log")"
    done
    [ "${digests#* }" != "" ] && [ "$(tr ' ' '\n' <<<"${digests# }" | uniq | wc -l)" = 1 ] ||
        fail "threads, $nic: $digests"
done

# The link goes down in the middle of the second run, and loses packets in the third. The counter of
# packets that loop has all of them.
losses="[{part: host0/nic0, kind: bit-errors, loss-rate: 0.5}]"
for nic in "model: ideal" "$x5"; do
    for faults in "" "[{part: host0/nic0, at: 2ms}]" "$losses"; do
        run "$star" "$nic" ib_send_bw "-n 500 -m 4096" host0 ${faults:+--set "faults=$faults"} ||
            fail "$nic, faults $faults: $(cat "$work/log")"
        [ -n "$faults" ] || cp "$work/out/programs/host0-1.out" "$work/whole.out"
        sed -n '/"nic_counters"/,/}/p' "$work/out/summary.json" >"$work/out/nics.txt"
        cmp "$work/whole.out" "$work/out/programs/host0-1.out" ||
            fail "$nic: other results with faults $faults"
        sent=$(sed -n 's/^ *"tx_packets": \([0-9]*\),/\1/p' "$work/out/nics.txt" | head -n 1)
        [ "$(grep -c "\"loopback_packets\": $sent," "$work/out/nics.txt")" = 1 ] && [ "$sent" -gt 500 ] ||
            fail "$nic: $sent packets were sent, and the counters are $(cat "$work/out/nics.txt")"
    done
done

for options in "" -R; do
    run "$pair" "model: ideal, transport: irn" ib_write_bw "-n 100 $options" host0 &&
        fail "irn $options: it ran"
    [ "$(grep -c "no switch sends its packets back: only NICs with one port, the transport gbn and" \
        "$work/out/programs/host0-1.err")" = 1 ] ||
        fail "irn $options: $(cat "$work/out/programs/host0-1.err")"
done
exit $((failures > 0))
