#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Goal: what a user types for `serving` is refused with a message that tells what to do, by `rocesim check`
# and `rocesim run` in the same words and with exit status 2, and nothing is written. What a run does to
# requests that do not fit, `check` says before. Refused clients do not ask again at once, memory is given
# out in whole pages, and the limit of 256 TiB counts the memory of hosts only with storage nodes.
# Method: a table of settings and parts of messages; small runs with closed forms.
# Does not pin: lengths and traces, whose table is in test_requests.c.
set -u
. tests/script.sh
start_forks
case $ROCESIM in /*) ;; *) ROCESIM=$PWD/$ROCESIM ;; esac
scenario=$PWD/scenarios/serving/serving.yaml
cd "$work" || exit 1
mkdir folder
cat >folder/serving.yaml <<'EOY'
topology: {star: {hosts: 4, rate: 100Gbps, delay: 500ns}}
nic: {congestion-control: none}
traffic:
  - serving: {prefill: 1, decode: 1, requests: 5, rate: 100}
EOY
printf '\xef\xbb\xbf{"timestamp": 0, "input_length": 9, "output_length": 2}\r\n' >folder/marked.jsonl
printf '{"timestamp": 10, "input_length": 9, "output_length": 2}\n{"timestamp": 5, "input_len' \
    >folder/cut.jsonl
printf 'TIMESTAMP,ContextToken,GeneratedTokens\n2023-11-16 18:17:03,1,1\n' >folder/column.csv

# ours COMMAND SETTING...: runs a command with settings of the application
ours() {
    local command=$1 set=() one
    shift
    for one in "$@"; do set+=(--set "traffic[0].serving.$one"); done
    [ "$command" = check ] || set+=(-o out --quiet)
    within 5 rocesim "$command" folder/serving.yaml "${set[@]}"
}

# refused TEXT SETTING...: both commands refuse the settings, with TEXT in their message
refused() {
    local text=$1 status=0
    shift
    ours check "$@" >/dev/null 2>checked || status=$?
    [ $status = 2 ] || fail "check $*: exit status $status"
    status=0
    ours run "$@" >/dev/null 2>ran || status=$?
    [ $status = 2 ] && [ ! -e out ] || fail "run $*: exit status $status, or a folder"
    cmp -s checked ran || fail "$*: check says: $(cat checked); run says: $(cat ran)"
    grep -qF -- "$text" checked || fail "$*: $(cat checked), expected $text"
}
refused 'storage-path is a way from storage nodes, expected `direct` without them' storage-path=dual
refused 'tp: 3 GPUs share the 32 heads of llama3-8b, expected a divisor of the heads' tp=3
refused 'tp: 64 GPUs share the 32 heads' tp=64
refused 'decode-tp: 3 GPUs share the 32 heads' decode-tp=3
refused 'tp: 6 GPUs share 8 heads of keys and values, expected a divisor or a multiple' \
    tp=6 heads=48 hidden=4800
refused 'kv-heads: 64 heads of keys and values beside 32 heads, expected a divisor' kv-heads=64
refused 'kv-heads: 3 heads of keys and values beside 32 heads' kv-heads=3
refused 'heads: 33 heads in a width of 4096, expected a divisor of the width' heads=33
refused 'decode-tp is 2 beside tp 3' tp=3 decode-tp=2 heads=12 kv-heads=6 hidden=4800
refused 'the network has 4 hosts, expected at least 8: a router, 6 prefill, 1 decode' prefill=6
refused 'tp: the memory of 1 GPU has no room for a page of KV data beside the weights' model=llama3-70b
refused 'kv-memory: 10000 bytes hold no page of KV data, which are 2097152 bytes' kv-memory=10KB
refused 'requests: 90000000 requests take some' requests=90000000
refused 'experts: llama3-8b has no experts' experts=pool
refused 'kv-priority: 3, expected auto with `transport: mooncake`' transport=mooncake kv-priority=3
refused 'decode-tp: 2, expected auto or tp with `decode: 0`' decode=0 decode-tp=2
refused 'think: expected 0s without clients' think=5ms
refused 'host host1 has 1 NIC; expected that some remain' storage-nics=1
refused "a file that can be read; a relative name begins in the scenario's folder" trace=nofile.jsonl
refused 'cut.jsonl:2:18: the string has no end' trace=cut.jsonl requests=auto
refused 'column.csv:1:1: the first line has no column ContextTokens' trace=column.csv
refused "unknown key 'promt-tokens'" promt-tokens=3
refused 'requests: the KV data of all prompts is above 256 TiB' 'prompt-tokens=131072' requests=12000 \
    cache=store storage=1
ours check 'prompt-tokens=131072' requests=12000 >/dev/null 2>said || fail "256 TiB: $(cat said)"

# Names of traces are relative to the scenario; marks and ends of lines of other systems are taken.
ours check trace=marked.jsonl rate=auto requests=auto >said 2>&1 || fail "$(cat said)"
grep -q '1 request with 9 tokens of prompts and 2 of outputs' said || fail "a marked trace: $(cat said)"

printf '\xef\xbb\xbftokens,context,us\r\n1,1,500\r\n' >folder/times.csv
ours check step-times=times.csv micro-batches=3 >said 2>&1 || fail "a marked table: $(cat said)"
grep -q '`micro-batches` has no effect, since no node has several stages' said || fail "$(cat said)"

# A parameter of the scenario has no effect only where a trace is given, and a note says what is used.
cp "$(dirname "$scenario")/../mooncake/small.jsonl" trace.jsonl
rocesim check "$scenario" --set "trace=$PWD/trace.jsonl" >said 2>&1 || fail "$(cat said)"
grep -q '200 of its 400 requests are used, since `requests` is 200; `requests: auto` takes all' said ||
    fail "no word on the other requests of a trace: $(cat said)"
grep -q 'drawn' said && fail "the requests of a trace are drawn: $(cat said)"

# check says what a run refuses.
ours check kv-memory=40MB prompt-tokens=300 >said 2>&1 || fail "$(cat said)"
grep -q 'a run refuses 5 requests, whose KV data does not fit' said || fail "$(cat said)"
ours run kv-memory=40MB prompt-tokens=300 >said 2>&1 || fail "$(cat said)"
grep -q '5 requests were refused' said || fail "$(cat said)"

# All clients are refused and wait before they ask again: nine waits of 100 ms each in the mean.
ours run admission=goals ttft-goal=1ps clients=4 rate=auto requests=40 refused-wait=100ms >said 2>&1 ||
    fail "$(cat said)"
grep -q '"refused": 40' out/summary.json || fail "not all clients are refused"
awk '/"sim_time_ps"/ { end = $2 / 1e12 } END { exit !(end > 0.4 && end < 1.8) }' out/summary.json ||
    fail "refused clients ask again at once: $(grep sim_time_ps out/summary.json)"

# 65 tokens of a prompt need two pages of 64 tokens, at both nodes.
for tokens in 64 65; do
    ours run kv-memory=838860800 page-tokens=64 prompt-tokens=$tokens output-tokens=1 requests=1 >said 2>&1 ||
        fail "$(cat said)"
    percent=$(sed -n 's/.*"memory_percent": \([0-9]*\).*/\1/p' out/summary.json | head -n 1)
    [ "$percent" = $((tokens - 63)) ] || fail "$tokens tokens fill $percent % of 100 pages of 64"
done

# Every second prompt comes by its decode node: each node reads two of four stored prompts.
for i in 1 2 3 4 5; do
    printf '{"timestamp": %d, "input_length": 1000, "output_length": 1, "hash_ids": [1, %d]}\n' \
        $((i * 1000)) $i
done >folder/stored.jsonl
ours run trace=stored.jsonl rate=auto requests=auto cache=store storage=1 cache-memory=0 \
    storage-path=alternate >said 2>&1 || fail "$(cat said)"
bytes=$(sed -n 's/.*"fetched_bytes": \([0-9]*\),/\1/p' out/summary.json | head -n 1)
[ "$bytes" = $((512 * 131072 * (2 + 2 + 2))) ] ||
    fail "two of four prompts by the decode node: $bytes bytes fetched"

# One thing has no plural, in all that is printed of the smallest scenario.
ours check requests=1 prefill=1 decode=1 output-tokens=1 >said 2>&1 || fail "$(cat said)"
ours run requests=1 output-tokens=1 >>said 2>&1 || fail "$(cat said)"
grep -E '(^|[^0-9.:])1 (requests|tokens|nodes|flows|GPUs|hosts|switches|links|transfers|packets)' said &&
    fail "plurals behind 1: $(cat said)"
for text in '1 request with ' ', 1 switch, 4 links' 'in 1 flow$' '1 prefill node:' '1 node that decodes:'; do
    grep -q "$text" said || fail "$text is not there: $(cat said)"
done
[ $failures = 0 ]
