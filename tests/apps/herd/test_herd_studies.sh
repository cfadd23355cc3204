#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_herd_studies.sh - all studies of HERD, and a million operations with losses.
#
# Goal: every figure of scenarios/herd is within the tolerances of its table; over 10^6 operations with a
# packet in a thousand lost, none is lost or answered with bytes that its key cannot have.
# Method: scenarios/herd/run all; scenarios/herd/herd.yaml with requests and loss, both NICs.
set -eu
out=$(mktemp -d /tmp/rocesim-herd.XXXXXX)
trap 'rm -rf "$out"' EXIT
scenarios/herd/run -o "$out" all >"$out/log" 2>&1 || { cat "$out/log" && exit 1; }
for model in ideal detailed; do
    "$ROCESIM" run scenarios/herd/herd.yaml --quiet --json --set model=$model --set loss=0.001 \
        --set requests=19608 --set measure=10s --set timeout=100us --set update_percentage=50 \
        --set keys=100000 >"$out/run.json"
    value() { sed -n 's/^ *"'"$1"'": \([-0-9.e+]*\),\{0,1\}$/\1/p' "$out/run.json" | head -n 1; }
    [ "$(value responses)" = 1000008 ] && [ "$(value lost)" = 0 ] && [ "$(value wrong_values)" = 0 ] &&
        [ "$(value retried)" -gt 3000 ] || {
        echo "$model: $(value responses) answers, $(value lost) lost, $(value wrong_values) wrong"
        exit 1
    }
done
