#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/test_collectives.sh - how long collectives take.
#
# Goal: times on an idle network are those of closed forms, to the picosecond: rings, chains, trees,
# exchanges, all-to-all; sizes that do not divide; software latency; a published exchange of a model.
# Method: collective_times.py runs each algorithm on a star.
# labels: long plain
set -u
. tests/script.sh

python3 tests/apps/workload/collective_times.py || exit 1

cat >"$work/rails.yaml" <<'EOF'
topology: {rail-optimised: {servers: 2, gpus-per-server: 2, spines: 0}}
traffic:
  - collective: {algorithm: ring, bytes: 1MiB}
EOF
# Rings cross rails, which have no path here; with PXN, and with NCCL's choice, no message does.
"$ROCESIM" check "$work/rails.yaml" >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q 'hosts: there is no path between' "$work/said" || fail "$(cat "$work/said")"
"$ROCESIM" check "$work/rails.yaml" --set 'traffic[0].collective.pxn=on' >"$work/said" 2>&1 ||
    fail "$(cat "$work/said")"
grep -q '1 x all-reduce of 4 ranks on 2 nodes, 1048576 bytes: ring, ' "$work/said" ||
    fail "check does not say how the collective is done"
[ "${failures:-0}" = 0 ]
