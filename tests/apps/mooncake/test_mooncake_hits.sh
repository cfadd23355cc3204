#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# test_mooncake_hits.sh - traces that are not ours have the hits that another program counts.
#
# Goal: token hits, block hits and evictions of scenarios/mooncake/trace.yaml are those of
# mooncake_hits.py, for lru, lfu and length-aware, with one store and with one for each node, whatever
# the scheduler; for traces with equal and with falling timestamps, prompts an hour apart, huge ids, ids
# that come
# twice in a prompt, prompts shorter and longer than their blocks, prompts without blocks, without output, a
# single one. All prompts are served and all bytes are right. The order of schedulers is that of the paper.
# Method: traces of 120 prompts made by the other program; times of compute do not matter to counts but
# where each
# node has a store of its own.
# Not pinned: a random schedule with stores of their own (it must hit no more than one store for all).
set -u
. tests/script.sh
command -v python3 >/dev/null || { echo "skip: no python3 to count with"; exit 77; }
# Sets served (requests, failed, unverified) and counts, as the other program prints them.
replay() { # KIND SETTINGS...
    local kind=$1 settings=(--set hosts=17) setting
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    "$ROCESIM" run scenarios/mooncake/trace.yaml -o "$work/out" --quiet --set "trace=$work/$kind.jsonl" \
        "${settings[@]}" >"$work/log" 2>&1 || fail "$kind $*: $(cat "$work/log")"
    eval "$(awk '/"apps"/ { inside = 1 }
        /"ttft_ms"/ { ttft = 1 }
        inside && /: [0-9.]+,?$/ {
            gsub(/[",:]/, "")
            if (!($1 in value)) value[$1] = $2
            if (ttft && $1 == "mean") { value["ttft"] = $2; ttft = 0 } }
        END {
            printf "served=\"%d %d %d\"\n", value["requests"], value["failed"], value["unverified_bytes"]
            printf "counts=\"%d %d %d %d %d\"\n", value["token_hits"], value["block_hits"],
                value["tokens"], value["blocks"], value["evictions"]
            printf "hits=%d reused=%d late=%d fetched=%d ttft=%s\n", value["token_hits"],
                value["reused_tokens"], value["late"], value["fetched_blocks"], value["ttft"] }' \
        "$work/out/summary.json")"
    [ "$served" = "${size[$kind]} 0 0" ] ||
        fail "$kind $*: of ${size[$kind]} served, failed, bytes wrong: $served"
}
same() { # KIND SETTINGS...
    local expected
    replay "$@"
    echo "$work/$1.jsonl" "${@:2}" >&"${counter[1]}"
    read -r -t 300 expected <&"${counter[0]}" || fail "$*: the other program ended"
    [ "$counts" = "$expected" ] || fail "$*: $counts, counted $expected"
}
coproc counter { python3 -S -I tests/apps/mooncake/mooncake_hits.py count; }
declare -A size
kinds="plain equal falling apart huge repeated short long empty silent one"
# shellcheck disable=SC2086
python3 -S -I tests/apps/mooncake/mooncake_hits.py make "$work" $kinds
for kind in $kinds; do
    size[$kind]=$(wc -l <"$work/$kind.jsonl")
    same $kind
    same $kind capacity_tokens=30000 policy=lfu scheduler=random
    same $kind capacity_tokens=50000 policy=length-aware store=local scheduler=local prefill=3
done
for policy in lru lfu length-aware; do
    for capacity in 511 512 10000 100000; do
        same plain capacity_tokens=$capacity policy=$policy scheduler=load
    done
    same repeated capacity_tokens=120000 policy=$policy store=local
    same falling capacity_tokens=120000 policy=$policy store=local scheduler=load prefill=5 nic_rate=10Gbps
done
replay falling
[ "$late" -gt 0 ] || fail "no prompt of the trace that falls was late"

# What nodes need not compute again decides the order of schedulers (figure 5).
before=0
for scheduler in cache-aware local load random; do
    replay plain scheduler=$scheduler
    awk -v a="$before" -v b="$ttft" 'BEGIN { exit !(a < b) }' ||
        fail "$scheduler: TTFT $ttft, the one before $before"
    before=$ttft
    [ $scheduler = cache-aware ] || [ "$fetched" = 0 ] || fail "$scheduler fetched blocks"
done
replay plain
all=$hits
[ "$reused" = "$all" ] || fail "cache-aware: $reused of $all hits were used"
replay plain store=local scheduler=random
[ "$hits" -lt "$all" ] || fail "random and local: $hits hits, $all with one store"
echo "$failures failures"
[ "$failures" -eq 0 ]
