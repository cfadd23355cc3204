#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_trace.sh - a trace of prompts has the hits that counting gives.
#
# Goal: token and block hits of scenarios/mooncake/trace.yaml are those of an exact count in the order of the
# trace, for any capacity, scheduler and network; what arrives is what was sent; traces that are not ours have
# their own hits; the settings that the scenario names work.
# Method: LRU by another program (awk, in counted.sh) over small.jsonl and a trace made here.
# Not pinned: times (scenarios/mooncake/run ttft, stores); the public hour (test_mooncake_public.sh).
set -u
. tests/script.sh
. tests/apps/mooncake/counted.sh

small=scenarios/mooncake/small.jsonl
same $small 400 unlimited
same $small 400 50000 scheduler=random
same $small 400 300000 scheduler=load nic_rate=25Gbps layer_groups=1
same $small 150 1000000 scheduler=local kv_bytes_per_token=1024 prefill=3 decode=2
# A store on one node is that of all.
same $small 200 100000 store=local prefill=1 decode=3

# A trace made here: other spacing, other members, prompts that end within a block, ids that come again.
awk 'BEGIN { srand(7); for (i = 0; i < 300; i++) {
        family = int(rand() * 20); shared = int(rand() * 12); own = int(rand() * 6) + 1; list = ""
        for (b = 0; b < shared; b++) list = list (list == "" ? "" : ",") (family * 100 + b)
        for (b = 0; b < own; b++) list = list (list == "" ? "" : ",") (100000 + i * 10 + b)
        input = (shared + own - 1) * 512 + 1 + int(rand() * 511)
        printf "{\"hash_ids\":[%s],\"timestamp\":%d,\"user\":\"x%d\",", list, i * 150, i
        printf "\"output_length\":%d,\"input_length\":%d}\n", 1 + rand() * 50, input } }' >"$work/made.jsonl"
same "$work/made.jsonl" 300 unlimited store=global
same "$work/made.jsonl" 300 40000 scheduler=random

# Policies differ where room is scarce, and not where there is enough.
for policy in $(few "lru lfu length-aware" lru); do
    replay "$(realpath $small)" policy=$policy capacity_tokens=60000
    value token_hits >>"$work/scarce"
    replay "$(realpath $small)" policy=$policy capacity_tokens=unlimited
    value token_hits >>"$work/enough"
done
[ "$(sort -u "$work/scarce" | wc -l)" -eq "$(few 3 1)" ] ||
    fail "policies: hits $(tr '\n' ' ' <"$work/scarce")"
[ "$(sort -u "$work/enough" | wc -l)" -eq 1 ] || fail "policies: hits $(tr '\n' ' ' <"$work/enough")"

# KV over the GPUs and sockets of nodes: several NICs take part.
replay "$(realpath $small)" requests=60 nics=2 'nic.host={sockets: 2, nics-per-switch: 1, gpus: 2}' \
    "traffic[0].mooncake-trace.kv-location='cuda:0, cuda:1'" \
    "traffic[0].mooncake-trace.store-location='cpu:0, cpu:1'"
grep -A 2 '"nic": 1' "$work/apps" | grep '"bytes"' | grep -qv '"bytes": 0' ||
    fail "the second NICs carried nothing"

echo "$failures failures"
[ "$failures" -eq 0 ]
