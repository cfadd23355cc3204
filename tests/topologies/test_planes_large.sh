#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_planes_large.sh - a network of 131,072 NICs with eight ports each, in eight planes.
#
# Goal: building and checking it takes seconds and about 2 GB, so nothing that grows with the square of a
# network, or with ports that nobody uses, comes into the builders, the routes or the linter.
# Method: `check` with 2.4 GB of memory and 30 s of processor time; docs/models/planes.md has the times of
# an idle machine.
set -u
. tests/script.sh
cat >"$work/large.yaml" <<'EOF'
topology: {multi-plane: {planes: 8, leaves: 512, spines: 256, hosts-per-leaf: 256}}
switch: {pfc: {enabled: false}}
traffic: [incast: {bytes: 1KB, to: host0, from: "host[100000-100007]"}]
EOF
[ -x /usr/bin/time ] || { echo "skip: no /usr/bin/time" && exit 77; }
within 30 /usr/bin/time -f "%M" -o "$work/kilobytes" "$ROCESIM" check "$work/large.yaml" >"$work/out" 2>&1 ||
    fail "$(cat "$work/out")"
grep -q "131072 hosts with 131072 interfaces, 6144 switches, 2097152 links" "$work/out" ||
    fail "$(cat "$work/out")"
[ "$(tail -n 1 "$work/kilobytes")" -lt 2400000 ] || fail "$(cat "$work/kilobytes") KB"
[ "$failures" -eq 0 ]
