#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/sessions/test_adapters.sh - adapters for other simulators (examples/adapters).
#
# Goal: transfers of random workloads through the network of the Python adapters, and through the adapter of
# BLIS in Go, end when the same transfers of a scenario end; fabric.yaml has the networks that it says, and
# the same times at any scale; apply.sh of BLIS refuses a source that it does not know.
# Method: a simulator with random events; a stand-in for the package of BLIS; runs of the same transfers.
# Does not pin: the simulators themselves, which need their sources (the pages of the adapters).
# TEST_LONG=1 (make test-slow) runs 100 workloads instead of 10.
# labels: slow plain long
set -u
. tests/script.sh
export PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }

cat >"$work/fabric.yaml" <<'END'
topology: {star: {hosts: 16, rate: 100Gbps, delay: 1us}}
switch: {pfc: {priorities: [3]}}
nic: {congestion-control: none, mtu: 4096}
END
for seed in $(seq "$([ -n "${TEST_LONG:-}" ] && echo 100 || few 10 2)"); do
    within 20 python3 tests/sessions/adapters.py "$ROCESIM" "$work/fabric.yaml" "$work" "$seed" \
        >"$work/said" 2>&1 || fail "seed $seed: $(tail -n 3 "$work/said")"
done

for fabric in star ecmp; do
    for transport in rc mrc; do
        within 20 "$ROCESIM" check examples/adapters/fabric.yaml --set "fabric=$fabric" \
            --set "transport=$transport" --set scale=1000 >"$work/said" 2>&1 ||
            fail "$fabric, $transport: $(cat "$work/said")"
    done
done
# 40 MB at 400 Gbps take 800 us, with headers 2 % more; a thousandth at a thousandth of the rate, too.
for scale in 1 1000; do
    took=$(printf '{"call":"estimate","src":0,"dst":5,"bytes":%d}\n' $((40000000 / scale)) |
        within 20 "$ROCESIM" serve examples/adapters/fabric.yaml --set scale=$scale |
        sed 's/.*"took_ps": *\([0-9]*\).*/\1/')
    [ "$took" -gt 810000000 ] && [ "$took" -lt $((822000000 + scale * 170000)) ] ||
        fail "scale $scale: $took ps"
done

if command -v go >/dev/null; then
    sim=$work/blis/sim
    mkdir -p "$sim/cluster"
    printf 'module github.com/inference-sim/inference-sim\n\ngo 1.19\n' >"$work/blis/go.mod"
    cp tests/sessions/blis/stand_in.go "$sim/cluster/pd_events.go"
    cp tests/sessions/blis/loop.go "$sim/cluster/cluster.go"
    cp tests/sessions/blis/loop_test.go "$sim/cluster/"
    for round in 1 2; do # the second time changes nothing
        examples/adapters/blis/apply.sh "$work/blis" || fail "apply.sh, round $round"
    done
    export GOCACHE=$work/go-cache GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local WORKLOAD=$work/workload
    for fabric in "$work/fabric.yaml" ""; do
        (cd "$work/blis" && FABRIC=$fabric within 60 go test ./sim/cluster) >"$work/said" 2>&1 ||
            fail "BLIS, ${fabric:-formula}: $(tail -n 5 "$work/said")"
    done
    sed -i 's/bandwidthBytesPerUs := /rate := /' "$sim/cluster/pd_events.go"
    sed -i '/sendOverFabric/d' "$sim/cluster/pd_events.go"
    examples/adapters/blis/apply.sh "$work/blis" 2>"$work/said" && fail "a source that apply.sh does not know"
    grep -q 'expected one line with' "$work/said" || fail "$(cat "$work/said")"
fi
[ "$failures" = 0 ]
