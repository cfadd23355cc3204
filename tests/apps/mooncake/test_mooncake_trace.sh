#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_trace.sh - a trace of prompts has the hits that counting gives.
#
# Goal: token and block hits of scenarios/mooncake/trace.yaml are those of an exact count in the order of the
# trace, for any capacity, scheduler and network; what arrives is what was sent; traces that are not ours have
# their own hits; the settings that the scenario names work.
# Method: LRU by another program (awk) over small.jsonl, a trace made here, and 1500 prompts of the public
# hour where ../shared has it.
# Not pinned: times (scenarios/mooncake/run ttft, stores).
set -u
. tests/script.sh

# count TRACE REQUESTS BLOCKS: token hits, block hits, tokens, blocks; BLOCKS 0: unlimited
count() {
    head -n "$2" "$1" | awk -v room="$3" '
        { match($0, /"input_length": *[0-9]+/); input = substr($0, RSTART, RLENGTH); sub(/.*: */, "", input)
          input += 0
          match($0, /"hash_ids": *\[[^]]*\]/); list = substr($0, RSTART, RLENGTH)
          gsub(/[^0-9,]/, "", list)
          n = split(list, ids, ",")
          for (hits = 0; hits < n && (ids[hits + 1] in last); hits++) {}
          block_hits += hits; blocks += n; tokens += input
          token_hits += hits * 512 < input ? hits * 512 : input
          for (i = 1; i <= n; i++) {
              if (!(ids[i] in last)) held++
              last[ids[i]] = ++use; at[use] = ids[i]
              while (room > 0 && held > room) {
                  oldest++
                  if ((at[oldest] in last) && last[at[oldest]] == oldest) { delete last[at[oldest]]; held-- }
                  delete at[oldest]
              }
          } }
        END { printf "%d %d %d %d", token_hits, block_hits, tokens, blocks }'
}
value() {
    sed -n 's/^ *"'"$1"'": \([0-9.]*\),*$/\1/p' "$work/out/summary.json" | head -n 1
}
replay() { # TRACE SETTINGS...
    local settings=(--set "trace=$1") setting
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    if ! "$ROCESIM" run scenarios/mooncake/trace.yaml -o "$work/out" --quiet "${settings[@]}" \
        >"$work/log" 2>&1; then
        fail "$*: $(cat "$work/log")"
        return
    fi
    sed -n '/"apps"/,$p' "$work/out/summary.json" >"$work/apps"
    grep -q '"failed": 0' "$work/apps" || fail "$*: prompts failed"
    grep -q '"unverified_bytes": 0' "$work/apps" || fail "$*: something arrived wrong"
    grep -q '"verified_bytes": 0' "$work/apps" && fail "$*: nothing was verified"
}
# same TRACE REQUESTS CAPACITY SETTINGS...: as counted
same() {
    local file=$1 requests=$2 capacity=$3 room=0 got expected
    shift 3
    [ "$capacity" = unlimited ] || room=$((capacity / 512))
    expected=$(count "$file" "$requests" "$room")
    replay "$(realpath "$file")" "requests=$requests" "capacity_tokens=$capacity" "$@"
    got="$(value token_hits) $(value block_hits) $(value tokens) $(value blocks)"
    [ "$got" = "$expected" ] || fail "$file $requests $capacity $*: $got, counted $expected"
    [ "$(sed -n 's/^ *"requests": \([0-9]*\),*$/\1/p' "$work/apps" | head -n 1)" = "$requests" ] ||
        fail "$file $*: not all of $requests prompts were served"
}

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
for policy in lru lfu length-aware; do
    replay "$(realpath $small)" policy=$policy capacity_tokens=60000
    value token_hits >>"$work/scarce"
    replay "$(realpath $small)" policy=$policy capacity_tokens=unlimited
    value token_hits >>"$work/enough"
done
[ "$(sort -u "$work/scarce" | wc -l)" -eq 3 ] || fail "policies: hits $(tr '\n' ' ' <"$work/scarce")"
[ "$(sort -u "$work/enough" | wc -l)" -eq 1 ] || fail "policies: hits $(tr '\n' ' ' <"$work/enough")"

# KV over the GPUs and sockets of nodes: several NICs take part.
replay "$(realpath $small)" requests=60 nics=2 'nic.host={sockets: 2, nics-per-switch: 1, gpus: 2}' \
    "traffic[0].mooncake-trace.kv-location='cuda:0, cuda:1'" \
    "traffic[0].mooncake-trace.store-location='cpu:0, cpu:1'"
grep -A 2 '"nic": 1' "$work/apps" | grep '"bytes"' | grep -qv '"bytes": 0' ||
    fail "the second NICs carried nothing"

hour=../shared/data/mooncake/conversation_trace.jsonl
if [ -r "$hour" ]; then
    same "$hour" 1500 3000000
fi
echo "$failures failures"
[ "$failures" -eq 0 ] || exit 1
[ -r "$hour" ] || { echo "skip: the public hour, $hour, is not here; the rest passed" && exit 77; }
