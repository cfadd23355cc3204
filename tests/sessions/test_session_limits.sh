#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/sessions/test_session_limits.sh - what clients of `rocesim serve` may use, and what they leave.
#
# Goal: a client that takes too much time or memory, or says nothing, or has no token gets a text and
# loses its session; the server and other clients go on. Clients that go in the middle of a call, and
# servers that end or are killed, leave no process. Signals at the end of a session do no harm.
# Method: one server for each case, with limits that a client passes at once.
set -u
. tests/script.sh
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
command -v ps >/dev/null || { echo "skip: no ps"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1

cat >"$work/fabric.yaml" <<'END'
seed: 3
topology:
  leaf-spine: {leaves: 4, spines: 2, hosts-per-leaf: 4, delay: 500ns}
nic: {congestion-control: dcqcn, mtu: 4096}
END
# A sanitizer multiplies the memory of every client.
cases="time idle clients token gone signals stopped answered"
grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$BUILD_DIRECTORY/CMakeCache.txt" && cases+=" memory"
for case in $cases; do
    within 60 python3 tests/sessions/limits.py "$ROCESIM" "$work/fabric.yaml" "$work" $case \
        >"$work/said" 2>&1 || fail "$case: $(tail -n 4 "$work/said")"
    rm -f "$work/socket"
done
for wrong in "--clients 0" "--clients many" "--client-memory 3XB" "--call-time fast" "--idle-time 0s" \
    "--token $work/none"; do
    # shellcheck disable=SC2086 # an option and its value
    "$ROCESIM" serve "$work/fabric.yaml" $wrong </dev/null >"$work/said" 2>&1
    status=$?
    { [ $status = 2 ] && grep -q -e "${wrong%% *}\\|cannot open" "$work/said"; } ||
        fail "$wrong: status $status: $(cat "$work/said")"
done
[ "$failures" = 0 ]
