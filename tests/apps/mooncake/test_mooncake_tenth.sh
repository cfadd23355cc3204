#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_mooncake_tenth.sh - a tenth of the public hour with the KV of a 70B model.
#
# Goal: 1203 prompts with KV of 327,680 bytes a token arrive, all of it verified, in bounded memory.
# Method: scenarios/mooncake/trace.yaml; 6.2 TB with what is fetched, 5.7 x 10^9 packet-hops, ten minutes or
# so. A mark every 64 KiB, so that contents under way take a sixteenth of their length.
set -eu
out=$(mktemp -d /tmp/rocesim-mooncake.XXXXXX)
trap 'rm -rf "$out"' EXIT
hour=../shared/data/mooncake/conversation_trace.jsonl
[ -r "$hour" ] || { echo "skip: the public hour, $hour, is not here" && exit 77; }
"$ROCESIM" run scenarios/mooncake/trace.yaml -o "$out/tenth" --quiet --set "trace=$(realpath "$hour")" \
    --set requests=1203 --set kv_bytes_per_token=327680 --set hosts=17 --set nic_rate=400Gbps \
    --set 'traffic[0].mooncake-trace.engine.slice=1MiB' \
    --set 'traffic[0].mooncake-trace.engine.verify-stride=64KiB' >"$out/log" 2>&1 ||
    { cat "$out/log" && exit 1; }
sed -n '/"apps"/,$p' "$out/tenth/summary.json" >"$out/apps"
grep -q '"requests": 1203' "$out/apps" && grep -q '"failed": 0' "$out/apps" &&
    grep -q '"unverified_bytes": 0' "$out/apps" || {
    cat "$out/log"
    exit 1
}
held=$(sed -n 's/^ *"memory_bytes_max": \([0-9]*\),*$/\1/p' "$out/apps")
[ "$held" -lt 8000000000 ] || { echo "$held bytes of contents were held" && exit 1; }
