#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_segments.sh - memory that programs of a host share, and LIDs.
#
# Goal: what HERD's public code needs, and locks between processes. Method: two programs of a host share a
# segment by its key, into which a third one writes; the same with a mapped file and the locks in it; the
# pingpongs of ibverbs-utils and ib_send_bw -c UD find each other by LIDs.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
[ -e "$library" ] || {
    echo "skipped: the library of programs is not there"
    exit 77
}
${CC:-cc} -O2 -I. tests/programs/segments.c -o "$work/segments" -libverbs 2>/dev/null || {
    echo "skipped: libibverbs-dev or a compiler is not there"
    exit 77
}

# run NAME: runs the scenario NAME.yaml.
run() {
    within 60 "$ROCESIM" run "$work/$1.yaml" --programs -o "$work/$1.run" >"$work/$1.log" 2>&1 && return
    cat "$work/$1.log" "$work/$1.run"/programs/*
    fail "$1: a program ended with another status than 0"
}

cat >"$work/shared.yaml" <<YAML
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/segments master"}
      - {host: host0, command: "$work/segments worker", start: 1ms}
      - {host: host1, command: "$work/segments peer host0", start: 2ms}
YAML
run shared
first=$(sed -n 's/^  digest *//p' "$work/shared.log")
cp "$work/shared.yaml" "$work/again.yaml"
run again
[ "$first" = "$(sed -n 's/^  digest *//p' "$work/again.log")" ] || fail "two runs have different digests"

sed 's/segments \(master\|worker\)/segments file-\1/' "$work/shared.yaml" >"$work/file.yaml"
run file

# Libraries that replace the C library's functions to follow mappings see all calls.
cat >"$work/hooked.yaml" <<YAML
topology:
  star: {hosts: 1}
traffic:
  - programs: [{host: host0, command: "$work/segments hooked"}]
YAML
run hooked

cat >"$work/refused.yaml" <<YAML
topology:
  star: {hosts: 1}
programs: {huge-pages: off}
traffic:
  - programs:
      - {host: host0, command: "$work/segments refused"}
YAML
run refused
sed '/^programs:/d; s/refused/huge/' "$work/refused.yaml" >"$work/huge.yaml"
run huge

# Locks and semaphores with names between two programs of a host, and between processes of one program.
${CC:-cc} -O1 tests/programs/meet.c -o "$work/meet" -pthread
cat >"$work/meet.yaml" <<YAML
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/meet first"}
      - {host: host0, command: "$work/meet second"}
      - {host: host1, command: "$work/meet fork"}
YAML
run meet
[ "$(cat "$work"/meet.run/programs/*.out | sed 's/.*sum //; s/ at.*//' | sort -u | wc -l)" = 1 ] ||
    fail "meet: the programs did not take turns"

command -v ibv_ud_pingpong >/dev/null && command -v ib_send_bw >/dev/null || {
    echo "the second part needs ibverbs-utils and perftest"
    exit $((failures > 0))
}
cat >"$work/lids.yaml" <<YAML
topology:
  star: {hosts: 3}
programs: {infiniband: on}
traffic:
  - programs:
      - {host: host1, command: "ibv_rc_pingpong -p 1000 -n 20"}
      - {host: host2, command: "ibv_rc_pingpong -p 1000 -n 20 host1", start: 1ms}
      - {host: host1, command: "ibv_ud_pingpong -p 2000 -n 20"}
      - {host: host2, command: "ibv_ud_pingpong -p 2000 -n 20 host1", start: 1ms}
      - {host: host1, command: "ib_send_bw -c UD -n 100"}
      - {host: host0, command: "ib_send_bw -c UD -n 100 host1", start: 1ms}
      - {host: host2, command: "ibv_devinfo -v"}
YAML
run lids
grep -q "local address:  LID 0x0002, QPN" "$work/lids.run/programs/host1-0.out" ||
    fail "host1 has not the LID 2"
grep -q "link_layer:.*InfiniBand" "$work/lids.run/programs/host2-2.out" ||
    fail "the port is not of InfiniBand"
exit $((failures > 0))
