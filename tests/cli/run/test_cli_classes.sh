#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_classes.sh - a NIC whose class, DSCP and the switches' PFC disagree is told so.
#
# Goal: check lists the classes in use, at each kind of hop of the paths that transfers take, and warns
# before; the run warns, counts what is dropped and ends well.
# Method: an incast into a small buffer, with classes that agree, that PFC does not protect, and that
# switches take for another one, by DSCP or by tag.
# Not pinned: how many packets are dropped.
set -u
. tests/script.sh
start_forks

# try NIC-VALUES SWITCH-VALUES: check and run, into check.txt and run.txt
try() {
    cat >"$work/x.yaml" <<END
topology: {star: {hosts: 9, rate: 100Gbps}}
network: {tagged: true}
switch: {buffer: 1MB, $2}
nic: {congestion-control: none, timeout: 8, $1}
traffic: [incast: {to: host0, bytes: 1MB}]
END
    rocesim check "$work/x.yaml" >"$work/check.txt" 2>&1 || fail "$1: check fails"
    rocesim run "$work/x.yaml" --quiet >"$work/run.txt" 2>&1 || fail "$1: $(tail -n 1 "$work/run.txt")"
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
says check "warning: host0 sends data in class 2 with DSCP 24, which 1 switch takes for class 3"
says run "headroom-full"

# By the tag it is class 2 that counts.
try "priority: 2, dscp: 24" "trust: pcp"
says check "data of host0 is in class 2, which is lossy"

# Ultra Ethernet sends late packets again, so a class without loss is not for it.
try "transport: uec-rud" "trust: dscp"
says check "warning: data of host0 is in class 3, which is lossless by PFC: its transport takes"
try "transport: uec-rud, priority: 1, ack-priority: 6" "trust: dscp, mmu: trimming"
grep warning "$work/check.txt" | grep -qv "nic.timeout is set" && fail "a warning with trimming switches"
# Each hop of the paths in use, put together: six rows a class in a fat-tree, whatever its size.
hops() { # TOPOLOGY NIC-VALUES TRAFFIC
    cat >"$work/hops.yaml" <<END
topology: $1
nic: {congestion-control: none$2}
traffic: [$3]
END
    rocesim check "$work/hops.yaml" >"$work/check.txt" 2>&1 || fail "$1: check fails"
}
for k in 4 8; do
    last=host$((k * k * k / 4 - 1))
    hops "{fat-tree: {k: $k}}" "" "flows: {list: [host0 $last 1MB 0us, $last host0 1MB 0us], verb: read}"
    for link in 'host*->edge*' 'edge*->agg*' 'agg*->core*' 'core*->agg*' 'agg*->edge*' 'edge*->host*'; do
        [ "$(grep -cF " $link " "$work/check.txt")" -eq 2 ] || fail "k=$k: not data and CNPs at $link"
    done
    says check "DSCP 24, of 2 transfers:"
done
hops "{leaf-spine: {}}" "" "flows: {list: [host0 host1 1MB 0us], priority: 5}"
says check "priority (PCP) 5, DSCP 40, of 1 transfer"
says check "leaf*->host*         2 ports: class 5, lossy: PFC is for 3, marked by ECN"
says check "warning: data of transfers (1) is in class 5, which is lossy"
says check "does not name it; set it to [3, 5], or their priority to 3"
grep -q 'spine' <(grep -F -- '->' "$work/check.txt") && fail "a hop that no path has"
rocesim run "$work/hops.yaml" --quiet 2>&1 | grep -q 'warning: data of transfers (1) is in class 5' ||
    fail "the run does not warn"

# Lossless on a part of the way.
cat >"$work/part.yaml" <<END
topology: {fat-tree: {k: 4}}
nodes: {"core*": {switch: {pfc: {enabled: false}}}}
traffic: [flows: {list: [host0 host15 1MB 0us]}]
END
rocesim check "$work/part.yaml" >"$work/check.txt" 2>&1 || fail "part: check fails"
says check "core*->agg*          2 ports: class 3, lossy: no PFC"
says check "lossless at 8 of the switch ports on its paths and lossy at 2, such as core"

# By the tag after a switch that goes by the DSCP: that one writes its class into the tag.
cat >"$work/tag.yaml" <<END
topology: {leaf-spine: {}}
network: {tagged: true}
nodes: {"spine*": {switch: {trust: pcp}}}
traffic: [flows: {list: [host0 host127 1MB 0us], priority: 3, dscp: 0}]
END
rocesim check "$work/tag.yaml" >"$work/check.txt" 2>&1 || fail "tag: check fails"
says check "spine*->leaf*        2 ports: class 0, lossy: PFC is for 3"
says check "sent in class 3 with DSCP 0, which leaf"
exit $((failures > 0))
