#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_loopback.sh - programs of one host, connected to each other over its NIC.
#
# Goal: with a switch perftest runs between two programs of a host, by sockets and by rdma_cm, to the host's
# name and to 127.0.0.1, over RC and UD, with both models of NICs and one or two NICs; without a switch one
# sentence says why not. Method: perftest; the bandwidth is that of two hosts.
set -eu
. tests/script.sh

command -v ib_write_bw >/dev/null && [ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] || {
    echo "skipped: perftest or the library of programs is not there"
    exit 77
}
# run TOPOLOGY NIC TOOL OPTIONS PEER: two programs of host0, into $work/out. Returns the run's status.
run() {
    cat >"$work/own.yaml" <<END
topology: {$1}
nic: {$2}
traffic:
  - programs:
      - {host: host0, command: "$3 -d rocesim0 -F -n 100 $4"}
      - {host: host0, command: "$3 -d rocesim0 -F -n 100 $4 $5", start: 1ms}
END
    within 60 "$ROCESIM" run "$work/own.yaml" --programs -o "$work/out" >"$work/log" 2>&1
}
# fast: the second program measured at least 93 Gbps of the link of 100 Gbps.
fast() {
    awk '$1 ~ /^[0-9]+$/ && $2 == 100 { found = 1; rate = $4 } END { exit !(found && rate > 93) }' \
        "$work/out/programs/host0-1.out" || fail "$*: $(tail -n 3 "$work/out/programs/host0-1.out")"
}
star="star: {hosts: 2}"
while read -r nic tool options peer; do
    what="$tool ${options//,/ } $peer, $nic"
    run "$star" "model: $nic" "$tool" "--report_gbits ${options//,/ }" "$peer" ||
        fail "$what: $(cat "$work/log")"
    fast "$what"
done <<END
ideal ib_write_bw -m,4096 127.0.0.1
ideal ib_write_bw -R,-m,4096 host0
ideal ib_write_bw -R,-m,4096 127.0.0.1
ideal ib_send_bw -R,-c,UD,-m,4096 host0
detailed ib_read_bw -R,-m,4096 host0
END
run "star: {hosts: 2, nics-per-host: 2}" "model: ideal" ib_write_bw "--report_gbits -R" host0 ||
    fail "two NICs: $(cat "$work/log")"
fast "two NICs"

for options in "" -R; do
    run "pair: {}" "model: ideal" ib_write_bw "$options" host0 && fail "pair $options: it ran"
    [ "$(grep -c "no switch sends its packets back: the loopback inside of NICs is not simulated" \
        "$work/out/programs/host0-1.err")" = 1 ] ||
        fail "pair $options: $(cat "$work/out/programs/host0-1.err")"
done
exit $((failures > 0))
