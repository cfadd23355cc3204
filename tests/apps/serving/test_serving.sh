#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/serving/test_serving.sh - serving of a language model (docs/models/serving.md).
#
# Goal: on an idle network each stage of a request takes its closed-form time; no request is lost or
# served twice, and tokens and bytes are conserved, also when memory runs out and requests are
# computed again; KV data that is sent by layer hides behind the prefill; wrong values are refused.
# Method: values are recomputed in Python from the attributes.
# Does not pin: queueing, for which tests have a model of their own.
set -u
. tests/script.sh
start_forks
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
cd "$work" || exit 1
cat >serving.yaml <<'EOY'
topology: {star: {hosts: 5, rate: 100Gbps, delay: 500ns}}
nic: {congestion-control: none, frames: bare, mtu: 9216, ack-interval: 32}
traffic:
  - serving: {prefill: 1, decode: 1, requests: 1, arrivals: constant, rate: 1, prompt-tokens: 1000,
              output-tokens: 11, log: on}
EOY
run() {
    local name=$1 set=()
    shift
    while [ $# -gt 0 ]; do
        if [ "$1" = --set ]; then
            set+=(--set "$2")
            shift
        else
            set+=(--set "traffic[0].serving.$1")
        fi
        shift
    done
    rocesim run serving.yaml -o "$name" --quiet "${set[@]}" >/dev/null 2>said ||
        fail "$name: $(cat said)"
}
run whole kv=whole
run layer
run groups layer-groups=4
run chunk kv=chunk token-budget=300
run step first-token=step
run early first-token=prefill kv=whole
run mooncake kv=whole transport=mooncake --set nic.mtu=4096
run alone decode=0
run wide kv=whole model=llama3-70b tp=4 decode-tp=2
run latent kv=whole model=deepseek-v3 value-bytes=1 tp=16 prompt-tokens=100
faults() { # host, begins and lengths in ms: outages of its first NIC
    local host=$1 list=''
    shift
    for one in "$@"; do
        list+="{part: $host/nic0, at: ${one%+*}ms, until: $((${one%+*} + ${one#*+}))ms}, "
    done
    echo "[${list%, }]"
}
many='prefill=2 decode=2 requests=200 rate=400 prompt-tokens=40 output-tokens=20'
run outages-router $many --set "faults=$(faults host0 {100..400..32}+9)"
run outages-node $many --set "faults=$(faults host1 {100..400..48}+25)"
run outage-long $many --set "faults=$(faults host1 100+300)"
for host in 0 1 3; do
    run cut-$host $many requests=60 --set "faults=$(faults host$host 100+900000)"
done
few='requests=30 rate=200 prompt-tokens=100'
run tight $few output-tokens=300 kv-memory=120MB
run lone $few output-tokens=300 kv-memory=120MB decode=0
run split $few output-tokens=300 kv-memory=120MB decode=0 chunked-prefill=off
run none $few kv-memory=12MB
run clients clients=3 requests=12 prompt-tokens=200 think=5ms arrivals=clients prefill=2 decode=2
cat >shared.jsonl <<'EOY'
{"timestamp": 0, "input_length": 1536, "output_length": 2, "hash_ids": [1, 2, 3]}
{"timestamp": 1000, "input_length": 1500, "output_length": 2, "hash_ids": [1, 2, 4]}
{"timestamp": 2000, "input_length": 1024, "output_length": 2, "hash_ids": [1, 2]}
EOY
traced='arrivals=trace rate=auto prompt-tokens=auto output-tokens=auto'
two="trace=shared.jsonl requests=3 $traced prefill=2 route=round-robin"
run cache-none $two cache=none
run cache-own $two prefill=1
run cache-apart $two
run cache-aware $two route=cache-aware
run cache-peers $two cache=peers
run cache-store $two cache=store storage=1 kv=whole
run cache-little $two prefill=1 cache-memory=140MB
sed -i 's/hosts: 5, /hosts: 6, nics-per-host: 2, /' serving.yaml
run storage-nics $two cache=store storage=1 storage-nics=1 kv=whole
run storage-dual $two cache=store storage=1 storage-nics=1 kv=whole storage-path=dual decode=2 \
    cache-memory=0
crowd='decode=0 prefill=2 rate=100 requests=200 ttft-goal=200ms tpot-goal=1s'
run crowd-all $crowd
run crowd-goals $crowd admission=goals
fail='prefill=2 requests=60 rate=100 prompt-tokens=40 output-tokens=20 fail-at=300ms fail-detect=100ms'
run fail-prefill $fail fail-host=host1 route=round-robin
run fail-decode $fail fail-host=host4 decode=2
run fail-mooncake $fail fail-host=host4 decode=2 transport=mooncake layer-groups=8
run fail-both $fail fail-host=host1 decode=0
run fail-last $fail fail-host=host1 prefill=1
# Only a run whose requests failed has failed; those of `none` above were refused.
status=0
within 60 rocesim run serving.yaml -o fail-all --quiet --set traffic[0].serving.fail-host=host1 \
    --set traffic[0].serving.fail-at=0s >/dev/null 2>said || status=$?
[ "$status $(cat said)" = '1 rocesim: traffic[0] (serving) failed: none of its requests succeeded' ] ||
    fail "all requests failed: status $status, $(cat said)"
mixture='model=mixtral-8x7b tp=2 prefill=2 prompt-tokens=512'
run experts-node $mixture
run experts-pool $mixture experts=pool
run experts-groups $mixture experts=pool layer-groups=4 decode=2
printf 'us, tokens,context\n5000,1,0\n6000,1,1000\n\n40000,1000,1000\n38000,1000, 0\n' >times.csv
printf 'tokens,context,us\n1,0,7000\n' >decode.csv
run times step-times=times.csv
run times-apart step-times=times.csv decode-step-times=decode.csv prompt-tokens=2000
printf 'tokens,context,us\n1,0,9000\n10,0,5000\n' >falling.csv
run times-falling step-times=falling.csv
for chunked in on off; do
    run decode-$chunked requests=30 rate=200 prompt-tokens=100 output-tokens=50 chunked-prefill=$chunked
done
printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:09.0,900,2\n' >late.csv
printf '2023-11-16 18:00:01.0,100,2\n2023-11-16 18:00:02.0,200,2\n' >>late.csv
run late trace=late.csv requests=2 $traced
cat >classes.yaml <<'EOY'
topology: {star: {hosts: 3, rate: 100Gbps, delay: 500ns}}
traffic:
  - serving: {requests: 1, prompt-tokens: 100, output-tokens: 2, kv-priority: 5}
EOY
rocesim run classes.yaml -o classes --quiet >/dev/null 2>said || fail "$(cat said)"
for threads in 1 2 4; do
    rocesim run serving.yaml -o t$threads --threads $threads --quiet \
        --set traffic[0].serving.requests=8 --set traffic[0].serving.rate=50 \
        --set traffic[0].serving.decode=3 >/dev/null 2>said || fail "$(cat said)"
    grep '"digest"' t$threads/summary.json >digest$threads
done
cmp -s digest1 digest2 && cmp -s digest1 digest4 || fail "digests differ on 1, 2 and 4 threads"
cat >check.py <<'EOY'
import json, math
def app(name):
    whole = json.load(open(name + "/summary.json"))
    a = whole["apps"][0]
    assert whole["ended"] == "done", f"{name}: ended {whole['ended']}"
    assert a["requests"] + a["refused"] + a["failed"] == a["transfers_planned"] and a["unfinished"] == 0, name
    for r in a["served"]:
        sum_ms = sum(r["stages"].values())
        assert math.isclose(sum_ms, r["e2e_ms"], rel_tol=1e-9), f"{name}: stages of {r}"
    assert len({r["request"] for r in a["served"]}) == a["requests"], f"{name}: a request was served twice"
    assert sum(r["output_tokens"] for r in a["served"]) == a["output_tokens"], name
    return a
def near(value, expected, share, what):
    assert abs(value - expected) <= share * expected + 1e-9, f"{what}: {value}, expected {expected}"
MODELS = { # layers, hidden, kv heads, ffn, vocab
    "8b": (32, 4096, 8, 14336, 128256, 32), "70b": (80, 8192, 8, 28672, 128256, 64)}
def step(model, tokens, sequences, pairs, context, gpus=1):
    layers, hidden, kv, ffn, vocab, heads = MODELS[model]
    weights = layers * (2 * hidden**2 + 2 * hidden * kv * hidden // heads + 3 * hidden * ffn)
    flops = 2 * tokens * weights + 2 * sequences * hidden * vocab + 4 * hidden * layers * pairs
    kv_bytes = layers * 2 * kv * hidden // heads * 2
    data = (weights + hidden * vocab) * 2 / gpus + context * kv_bytes / min(gpus, kv)
    time = max(flops / (gpus * 989e12 * 0.5), data / (3.35e12 * 0.7)) + 2e-3
    if gpus > 1:
        time += 2 * layers * (2 * (gpus - 1) / gpus * tokens * hidden * 2 / 450e9 + 10e-6)
    return time * 1e3
def prefill(model, tokens, gpus=1):
    return step(model, tokens, 1, tokens * (tokens + 1) // 2, tokens, gpus)
WIRE = (9216 + 82) / 9216 # headers, preamble and gap of a full packet
def kv(bytes_): return bytes_ * WIRE * 8 / 100e9 * 1e3
TOKEN = 131072
p = prefill("8b", 1000)
d = sum(step("8b", 1, 1, 1000 + i, 1000 + i) for i in range(1, 11))
w = app("whole")
s = w["stages"]
near(s["prefill_ms"], p, 1e-6, "prefill")
near(s["kv_ms"], kv(1000 * TOKEN) + 0.003, 2e-3, "KV data")
near(s["decode_ms"], d, 1e-6, "decode")
near(w["ttft_ms"]["mean"], s["routing_ms"] + s["prefill_ms"] + s["kv_ms"], 1e-9, "TTFT")
near(w["tpot_ms"]["mean"], d / 10, 1e-6, "TPOT")
near(w["kv_formula_ms"], 1000 * TOKEN * 8 / 100e9 * 1e3, 1e-9, "formula")
assert w["kv_bytes"] == 1000 * TOKEN and w["nodes"][1]["received_bytes"] == 1000 * TOKEN
near(app("layer")["stages"]["kv_ms"], kv(1000 * TOKEN / 32) + 0.003, 1e-2, "last layer")
near(app("groups")["stages"]["kv_ms"], kv(1000 * TOKEN / 4) + 0.003, 5e-3, "last group of layers")
c = app("chunk")
chunks = sum(step("8b", n, 1, n * b + n * (n + 1) // 2, n + b)
             for n, b in ((300, 0), (300, 300), (300, 600), (100, 900)))
near(c["stages"]["prefill_ms"], chunks, 1e-6, "prefill in four steps")
near(c["stages"]["kv_ms"], kv(100 * TOKEN) + 0.003, 1e-2, "last chunk")
t = app("step")
first = step("8b", 1, 1, 1000, 1000)
before = sum(v for k, v in t["stages"].items() if k != "decode_ms")
near(t["ttft_ms"]["mean"], before + first, 1e-6, "TTFT with a step")
assert t["nodes"][1]["decode_tokens"] + t["nodes"][1]["prefill_tokens"] == 11
near(app("early")["ttft_ms"]["mean"], w["stages"]["routing_ms"] + p, 1e-6, "TTFT without KV data")
near(app("mooncake")["stages"]["kv_ms"], s["kv_ms"] * 4178 / 4096 / WIRE, 0.02,
     "KV data by Mooncake's engine")
a = app("alone")
near(a["ttft_ms"]["mean"], a["stages"]["routing_ms"] + p, 1e-6, "TTFT of one node")
near(a["e2e_ms"]["mean"], a["ttft_ms"]["mean"] + d, 1e-6, "end to end of one node")
assert a["kv_bytes"] == 0
x = app("wide")
near(x["stages"]["prefill_ms"], prefill("70b", 1000, 4), 1e-6, "prefill on four GPUs")
two = sum(step("70b", 1, 1, 1000 + i, 1000 + i, 2) for i in range(1, 11))
near(x["stages"]["decode_ms"], two, 1e-6, "decode on two")
near(x["stages"]["kv_ms"], kv(1000 * 327680) + 0.003, 2e-3, "KV data between four and two GPUs")
assert app("latent")["kv_bytes"] == 100 * 16 * 61 * 576 * 2, "each GPU has the latent values"
for name in ("router", "node"): # messages on a queue pair that fails are sent again on the next one
    o = app("outages-" + name)
    assert o["requests"] == 200 and o["ttft_ms"]["max"] < 80, f"{name}: {o['ttft_ms']}"
    assert o["stages"]["memory_wait_ms"] == 0, f"{name}: late messages count as waits for memory"
assert app("tight")["stages"]["memory_wait_ms"] > 1, "waits for memory"
o = app("outage-long") # messages about which the queue pairs give up are sent again
assert o["requests"] == 200 and o["ttft_ms"]["max"] < 600, o["ttft_ms"]
for host in (0, 1, 3): # a node that cannot be reached any more is taken for lost
    o = app(f"cut-{host}")
    assert 0 < o["failed"] < 60 and o["requests"] + o["failed"] == 60, f"host{host} is cut off"
for name in ("tight", "lone", "split"):
    m = app(name)
    assert m["requests"] == 30 and m["preemptions"] > 5 and m["output_tokens"] == 9000, name
    computed = sum(n["prefill_tokens"] + n["decode_tokens"] for n in m["nodes"])
    # The last token of a request is not computed further; a prompt's KV data is computed once and moved.
    assert computed == 30 * (100 + 299) + m["again_tokens"], f"{name}: {computed} tokens computed"
    assert max(n["memory_percent"] for n in m["nodes"]) <= 100
n = app("none")
assert n["refused"] == 30 and n["requests"] == 0
k = app("clients")
busy = sorted((r["arrival_ms"], r["arrival_ms"] + r["e2e_ms"]) for r in k["served"])
assert max(sum(b <= at < e for b, e in busy) for at, _ in busy) <= 3, "more than three clients"
# The second prompt shares two blocks of 512 tokens; the third one does, but one token is computed.
for name, hits in (("none", (0, 0, 0)), ("own", (0, 1024, 1023)), ("apart", (0, 0, 1023)),
                   ("aware", (0, 1024, 1023)), ("peers", (0, 1024, 1023)), ("store", (0, 1024, 1023)),
                   ("little", (0, 0, 0))):
    c = app("cache-" + name)
    assert tuple(r["cached_tokens"] for r in c["served"]) == hits, f"{name}: {c['served']}"
    near(c["kv_hit_rate"], sum(hits) / 4060, 1e-9, "hit rate")
    for r in c["served"]:
        n, h = r["prompt_tokens"] - r["cached_tokens"], r["cached_tokens"]
        near(r["stages"]["prefill_ms"], step("8b", n, 1, n * h + n * (n + 1) // 2, n + h), 1e-6, name)
bytes_ = 1024 * TOKEN
for name in ("cache-peers", "cache-store", "storage-nics"):
    c = app(name)
    near(c["served"][1]["stages"]["fetch_ms"], kv(bytes_) + 0.003, 3e-3, f"{name}: fetch")
    assert c["fetched_bytes"] == bytes_ and c["kv_bytes"] == 4060 * TOKEN, name
    assert c["served"][2]["stages"]["fetch_ms"] == 0, "the first node has the blocks itself"
assert app("cache-store")["stored_bytes"] == (1536 + 1500 - 1024 + 1) * TOKEN, "only new blocks are stored"
uses = {}
for nic in app("storage-nics")["nics"]:
    uses[nic["use"]] = uses.get(nic["use"], 0) + nic["sent_bytes"] + nic["received_bytes"]
assert uses == {"compute": 2 * 4060 * TOKEN, "storage": uses["store"], "store": (2013 + 1024) * TOKEN}, uses
crowd = {name: app("crowd-" + name) for name in ("all", "goals")}
assert crowd["all"]["refused"] == 0 and crowd["all"]["ttft_ms"]["p50"] > 500, "the crowd waits"
assert crowd["goals"]["refused"] > 20 and crowd["goals"]["ttft_ms"]["max"] <= 200
assert crowd["goals"]["goodput_rps"] > 2 * crowd["all"]["goodput_rps"]
for name in ("prefill", "decode", "mooncake", "both"):
    f = app("fail-" + name)
    assert f["requests"] == 60 and f["placed_again"] > 0, f"{name}: {f['requests']}, {f['placed_again']}"
    host = {"prefill": "host1", "both": "host1"}.get(name, "host4")
    for r in f["served"]:
        end, uses = r["arrival_ms"] + r["e2e_ms"], host in (r["prefill"], r["decode"])
        assert not uses or end < 300 or (name == "prefill" and r["arrival_ms"] < 300), f"{name}: {r}"
    # Requests that were placed again waited for the detection, and no other ones.
    assert f["placed_again"] == sum(r["stages"]["routing_ms"] > 0.01 for r in f["served"]), name
f = app("fail-last")
assert f["requests"] + f["failed"] == 60 and f["failed"] > 20 and f["placed_again"] == 0
# Two of eight experts for each token; of two nodes, half of the activations stay.
there = 512 * 2 * 4096 * 2 * 32 / 2
e = {name: app("experts-" + name) for name in ("node", "pool", "groups")}
assert e["node"]["exchange_bytes"] == 0 and e["pool"]["exchange_bytes"] == 2 * there
more = e["pool"]["stages"]["prefill_ms"] * e["pool"]["nodes"][0]["exchange_percent"] / 100
near(more, 2 * kv(there / 2) + 2 * 32 * 0.003, 0.02, "exchanges of 32 layers on two NICs")
alone = e["pool"]["stages"]["prefill_ms"] - more
assert alone < e["node"]["stages"]["prefill_ms"], "a node reads the weights of its own experts only"
few = e["groups"]["stages"]["prefill_ms"] * e["groups"]["nodes"][0]["exchange_percent"] / 100
near(few, 2 * kv(there / 2) + 2 * 4 * 0.003, 0.02, "exchanges of four groups of layers")
assert e["groups"]["exchange_bytes"] == 2 * there + 2 * 10 * 2 * 4096 * 2 * 32 / 2, "and of ten tokens"
t = app("times")
near(t["stages"]["prefill_ms"], 40, 1e-9, "prefill of 1000 tokens by a table")
near(t["stages"]["decode_ms"], sum(5 + i / 1000 for i in range(1001, 1011)), 1e-9, "beyond the table")
t = app("times-apart")
near(t["stages"]["prefill_ms"], 7 + 35 * 1999 / 999, 1e-9, "a prompt beyond the table")
near(t["stages"]["decode_ms"], 70, 1e-9, "decode nodes with a table of their own")
near(app("times-falling")["stages"]["prefill_ms"], 5, 1e-9, "no step is faster than those of the table")
tpot = {on: app("decode-" + on)["tpot_ms"]["mean"] for on in ("on", "off")}
assert tpot["off"] <= tpot["on"] * 1.02, f"requests that join have no steps of their own: {tpot}"
late = sorted(r["prompt_tokens"] for r in app("late")["served"])
assert late == [100, 200], f"the first two requests by time: {late}"
import csv
port = next(r for r in csv.DictReader(open("classes/ports.csv")) if r["port"].startswith("host1->"))
assert int(port["tx_prio5_packets"]) == 32 * 100, "KV data has class 5"
d2 = app("storage-dual")
# The second prompt comes through its prefill node, which has as little to fetch as its decode node.
assert sum(r["cached_tokens"] for r in d2["served"]) == 2047 and d2["fetched_bytes"] == 2047 * TOKEN
EOY
python3 check.py || fail "a value is wrong"
for wrong in 'cache=store:storage nodes' 'hidden=768 heads=6 kv-heads=6 tp=3 decode-tp=2:decode-tp' \
    'tp=3:32 heads' 'decode-tp=5:decode-tp: 5' 'kv-heads=64:kv-heads: 64' 'pp=33:pp is 33' \
    'tp=4 tp-hosts=3:tp-hosts is 3' 'pp=2 storage-path=dual:storage-path' \
    'pp=2 storage-path=alternate:storage-path' \
    'model=llama3-405b:no room for a page of KV data' 'prefill=9:hosts'; do
    set=()
    for one in ${wrong%%:*}; do set+=(--set "traffic[0].serving.$one"); done
    rocesim run serving.yaml -o wrong --quiet "${set[@]}" >/dev/null 2>said && fail "$wrong was taken"
    grep -q -- "${wrong#*:}" said || fail "$wrong: $(cat said)"
done
rocesim check classes.yaml >told || fail "check failed"
for text in '131072 bytes of KV data for a token' 'takes 10.5 ms at the rate' '1 prefill node: '; do
    grep -q "$text" told || fail "check does not tell '$text': $(cat told)"
done
while read -r place text; do
    printf '%b' "$text" >wrong.csv
    rocesim run serving.yaml -o wrong --quiet --set traffic[0].serving.step-times=wrong.csv \
        >/dev/null 2>said && fail "wrong.csv with $text was taken"
    grep -q "wrong.csv:$place: " said || fail "$text: $(cat said)"
done <<'EOY'
1:8 tokens,contexts,us\n1,2,3\n
2:5 tokens,context,us\n1,0,x\n
3:1 tokens,context,us\n1,0,5\n1,0,6\n2,0,7\n2,5,6\n
2:6 tokens,context,us\n1,0,5,6\n
EOY
[ $failures = 0 ]
