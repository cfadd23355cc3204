#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/test_cli_classes.sh - a NIC whose class, DSCP and the switches' PFC disagree is told so.
#
# Goal: check lists the classes in use and warns before, the run counts what is dropped and ends well.
# Method: an incast into a small buffer, with classes that agree, that PFC does not protect, and that
# switches take for another one, by DSCP or by tag.
# Not pinned: how many packets are dropped.
set -u
. tests/script.sh

# try NIC-VALUES SWITCH-VALUES: check and run, into check.txt and run.txt
try() {
    cat >"$work/x.yaml" <<END
topology: {star: {hosts: 9, rate: 100Gbps}}
network: {tagged: true}
switch: {buffer: 1MB, $2}
nic: {congestion-control: none, timeout: 8, $1}
traffic: [incast: {to: host0, bytes: 1MB}]
END
    "$ROCESIM" check "$work/x.yaml" >"$work/check.txt" 2>&1 || fail "$1: check fails"
    "$ROCESIM" run "$work/x.yaml" --quiet >"$work/run.txt" 2>&1 || fail "$1: $(tail -n 1 "$work/run.txt")"
    grep -q '8 of 8 completed' "$work/run.txt" || fail "$1: not all flows"
}

says() { # CHECK-OR-RUN TEXT
    grep -qF "$2" "$work/$1.txt" || fail "$1: no '$2'"
}

try "priority: 3" "trust: dscp"
says check "priority (PCP) 3, DSCP 24; lossless by PFC at all switches"
grep -q warning "$work/check.txt" && fail "a warning without cause"
says run "drops     0"

try "priority: 5" "trust: dscp"
says check "warning: data of host0 is in class 5, which is lossy"
says run "warning: data of host0 is in class 5, which is lossy"
says run "egress-full"

try "priority: 2, dscp: 24" "trust: dscp"
says check "warning: host0 sends data in class 2 with DSCP 24, which 1 switches take for class 3"
says run "headroom-full"

# By the tag it is class 2 that counts.
try "priority: 2, dscp: 24" "trust: pcp"
says check "data of host0 is in class 2, which is lossy"
exit $((failures > 0))
