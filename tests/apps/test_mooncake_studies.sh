#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# tests/apps/test_mooncake_studies.sh - all studies of Mooncake, and a tenth of the hour at full size.
#
# Goal: rows of scenarios/mooncake that are held against published ones are within their tolerances; 1203
# prompts of the public hour with KV of 327,680 bytes a token arrive, all of them verified, in bounded memory.
# Method: scenarios/mooncake/run all; scenarios/mooncake/trace.yaml.
set -eu
out=$(mktemp -d /tmp/rocesim-mooncake.XXXXXX)
trap 'rm -rf "$out"' EXIT
hour=../shared/data/mooncake/conversation_trace.jsonl
[ ! -r "$hour" ] || export TRACE=$hour
scenarios/mooncake/run -o "$out" all >"$out/log" 2>&1 || { cat "$out/log" && exit 1; }
[ -r "$hour" ] || { echo "skip: the public hour, $hour, is not here" && exit 77; }
"$ROCESIM" run scenarios/mooncake/trace.yaml -o "$out/tenth" --quiet --set "trace=$(realpath "$hour")" \
    --set requests=1203 --set kv_bytes_per_token=327680 --set hosts=17 --set nic_rate=400Gbps \
    --set 'traffic[0].mooncake-trace.engine.slice=1MiB' >"$out/log" 2>&1 || { cat "$out/log" && exit 1; }
sed -n '/"apps"/,$p' "$out/tenth/summary.json" >"$out/apps"
grep -q '"requests": 1203' "$out/apps" && grep -q '"failed": 0' "$out/apps" &&
    grep -q '"unverified_bytes": 0' "$out/apps" || {
    cat "$out/log"
    exit 1
}
held=$(sed -n 's/^ *"memory_bytes_max": \([0-9]*\),*$/\1/p' "$out/apps")
[ "$held" -lt 4000000000 ] || { echo "$held bytes of contents were held" && exit 1; }
