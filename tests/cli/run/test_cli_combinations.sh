#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_combinations.sh - settings that are known to be bad together cause a warning.
#
# Goal: each rule of world/inspect/combinations.c warns where its settings meet, `check`, `run` and
# summary.json say the same, and a neighbour of these settings that is harmless causes no warning.
# Method: a small leaf-spine with one setting more per case; the kinds of the warnings are compared.
# Not pinned: the words and the measured figures.
set -u
. tests/script.sh
start_forks

cat >"$work/base.yaml" <<'END'
until: 50us
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2}}
traffic: [permutation: {hosts: host*, bytes: 10KB}]
END
cat >"$work/tree.yaml" <<'END'
until: 50us
topology: {fat-tree: {k: 4}}
traffic: [permutation: {hosts: host*, bytes: 10KB}]
END
cat >"$work/star.yaml" <<'END'
until: 50us
topology: {star: {hosts: 3}}
traffic: [incast: {senders: 2, bytes: 10KB, to: host0}]
END
cat >"$work/pauses.yaml" <<'END'
topology: {star: {hosts: 9}}
nic: {transport: irn, congestion-control: none}
switch: {buffer: 1MB}
traffic: [incast: {senders: 8, bytes: 1MB, to: host0}]
END
cat >"$work/planes.yaml" <<'END'
until: 50us
topology: {multi-plane: {planes: 2, leaves: 2, spines: 2, hosts-per-leaf: 2}}
traffic: [permutation: {hosts: host*, bytes: 10KB}]
END

# expect KINDS FILE PATH=VALUE...: a run warns of these kinds and no others, and check warns alike.
expect() {
    local kinds=$1 file=$work/$2.yaml
    shift 2
    local sets=()
    for value in "$@"; do sets+=(--set "$value"); done
    rm -rf "$work/r"
    rocesim run "$file" "${sets[@]}" -o "$work/r" --quiet >/dev/null 2>"$work/err" ||
        fail "$* ends with $?: $(cat "$work/err")"
    local found
    found=$(sed -n '/^  "warnings": \[/,/^  \]/s/^ *"kind": "\(.*\)",$/\1/p' "$work/r/summary.json" |
        paste -sd' ')
    [ "$found" = "$kinds" ] || fail "$*: warnings of kinds '$found', expected '$kinds'"
    rocesim check "$file" "${sets[@]}" 2>&1 | grep '^warning: ' | grep -v 'can deadlock' |
        diff -q - <(grep '^warning: ' "$work/err") >/dev/null ||
        fail "$*: check and run differ"
}

expect "" base
for balancer in random round-robin drill adaptive ugal; do
    expect "reordering" base network.load-balancer=$balancer
done
for balancer in letflow conga conweave wecmp valiant; do
    expect "" base network.load-balancer=$balancer
done
expect "reordering" base network.load-balancer=letflow switch.letflow.gap=1us
expect "" base network.load-balancer=random nic.ooo=place
expect "" base network.load-balancer=random nic.transport=sdr
expect "class-not-trimmed reordering" base network.load-balancer=random nic.transport=uec-rod
expect "class-not-trimmed" base nic.transport=uec-rud nic.priority=1 nic.ack-priority=6
expect "" base nic.transport=uec-rud nic.priority=1 nic.ack-priority=6 switch.mmu=trimming
expect "class-lossy" base nic.priority=1
expect "" star network.load-balancer=random
expect "reordering-reps" base nic.repath=reps
expect "" base nic.repath=plb
expect "" base nic.repath=reps nic.ooo=place
expect "reordering-planes" planes nic.planes=round-robin
expect "" planes
expect "lossy-go-back-n" base switch.pfc.enabled=false switch.buffer=200KB
expect "" base switch.pfc.enabled=false
expect "no-timeout" base nic.timeout=0 switch.pfc.enabled=false
expect "" base nic.timeout=0
# Of IRN with PFC a run warns where a pause was sent.
expect "" base nic.transport=irn
for enabled in true false; do
    rm -rf "$work/r"
    rocesim run "$work/pauses.yaml" --set switch.pfc.enabled=$enabled -o "$work/r" --quiet >/dev/null
    [ "$(grep -c '"irn-with-pfc"' "$work/r/summary.json")" = "$([ $enabled = true ] && echo 1 || echo 0)" ] ||
        fail "irn with PFC $enabled: $(grep '"kind"' "$work/r/summary.json")"
done
expect "lossy-place" base nic.ooo=place link.loss-rate=0.2
expect "lossy-place" base nic.ooo=place switch.pfc.enabled=false switch.buffer=200KB
for control in hpcc hpcc-pint; do
    expect "no-telemetry" base nic.congestion-control=$control switch.telemetry=false
    expect "" base nic.congestion-control=$control
done
for control in dcqcn dctcp; do
    expect "no-marks" base nic.congestion-control=$control switch.ecn.enabled=false
    expect "no-marks" base nic.congestion-control=$control nic.ecn=false
    expect "no-marks" base nic.congestion-control=$control 'switch.ecn.priorities=[1]'
done
expect "" base nic.congestion-control=none switch.ecn.enabled=false
expect "" base nic.congestion-control=swift nic.ecn=false
expect "same-hash" tree switch.ecmp-seed=1
expect "" tree
expect "" base switch.ecmp-seed=1
exit $((failures > 0))
