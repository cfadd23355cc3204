#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/serving/test_serving_hosts.sh - nodes of `serving` with several hosts (docs/models/serving.md).
#
# Goal: stages overlap as closed forms say, with the bubble that is left; all-reduces between hosts take the
# time and the bytes of a ring; KV data between all shapes of nodes is conserved; a node that has lost one of
# its hosts is lost as a whole, and no request with it; digests are equal on 1, 2 and 4 threads.
# Method: steps have a constant time of a table, so all further time is the network's, which is idle.
# Does not pin: queues, for which test_serving_queue.sh has a model.
set -u
. tests/script.sh
start_forks
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
cd "$work" || exit 1
printf 'tokens,context,us\n1,0,10000\n' >times.csv
cat >hosts.yaml <<'EOY'
topology: {star: {hosts: 9, rate: 100Gbps, delay: 500ns}}
nic: {congestion-control: none, mtu: 4096}
traffic:
  - serving: {prefill: 1, decode: 0, requests: 1, arrivals: constant, rate: 1, prompt-tokens: 1024,
              output-tokens: 1, token-budget: 128, step-times: times.csv, log: on}
EOY
run() {
    local name=$1 set=() one
    shift
    for one in "$@"; do set+=(--set "${one/#traffic/traffic[0].serving}"); done
    rocesim run hosts.yaml -o "$name" --quiet "${set[@]}" >said 2>&1 || fail "$name: $(cat said)"
}
for stages in 1 2 4 8; do run pp$stages traffic.pp=$stages traffic.micro-batches=16; done
run pp5 traffic.pp=5 traffic.micro-batches=16
run alone traffic.pp=4 traffic.micro-batches=1
run decode traffic.pp=4 traffic.output-tokens=20 traffic.prompt-tokens=1
for hosts in 2 4 8; do run tp$hosts traffic.tp=8 traffic.tp-hosts=$hosts traffic.token-budget=1024; done
run grouped traffic.tp=8 traffic.tp-hosts=4 traffic.token-budget=1024 traffic.layer-groups=4
run both traffic.tp=4 traffic.tp-hosts=2 traffic.pp=4
python3 - "$(few 10 3)" >systems <<'PYTHON'
import random, sys
random.seed(7)
for i in range(int(sys.argv[1])):
    tp = random.choice((1, 2, 4, 8))
    other = random.choice((1, 2, 4, 8))
    hosts, others = (random.choice([n for n in (1, 2, 4) if t % n == 0]) for t in (tp, other))
    pp, more = random.choice((1, 2, 3, 6)), random.choice((1, 2, 3, 6))
    if i % 3 == 2:
        pp = max(pp, 2)
    kv, via = random.choice(("whole", "chunk", "layer")), random.choice(("write", "mooncake"))
    count = 1 + 2 * hosts * pp + 2 * others * more
    fail = ""
    if i % 3 == 2: # a host of the first prefill node and one of the last decode node
        fail = f"traffic.fail-host=host{hosts * pp}@12ms\\ host{count - 1}@14ms"
    print(f"s{i} topology.star.hosts={count} traffic.tp={tp} traffic.decode-tp={other} "
          f"traffic.tp-hosts={hosts} traffic.decode-tp-hosts={others} traffic.pp={pp} "
          f"traffic.decode-pp={more} traffic.kv={kv} traffic.transport={via} {fail}")
PYTHON
small='traffic.prefill=2 traffic.decode=2 traffic.requests=24 traffic.rate=2000 traffic.output-tokens=4
    traffic.layers=6 traffic.hidden=256 traffic.heads=8 traffic.kv-heads=4 traffic.step-times=\"\"
    traffic.layer-groups=3 traffic.step-overhead=100us traffic.fail-detect=2ms
    traffic.arrivals=poisson nic.timeout=8'
small=$(echo $small)
while read -r name set; do
    eval "run $name $small traffic.prompt-tokens='uniform 20 300' $set"
done <systems
apart='traffic.tp=4 traffic.tp-hosts=2 traffic.pp=2 traffic.prefill=2 traffic.requests=4
    traffic.rate=5 traffic.route=round-robin traffic.layers=4 traffic.hidden=512'
prefixes='traffic.prefixes=1 traffic.prefix-tokens=512 traffic.block-tokens=64'
run peers $apart $prefixes traffic.cache=peers
run store $apart $prefixes traffic.cache=store traffic.storage=2 topology.star.hosts=12
run experts $apart traffic.model=mixtral-8x7b traffic.experts=pool
run cut $apart nic.timeout=8 traffic.rate=20 'faults=[{part: host2/nic0, at: 30ms}]'
# Without chunks, a request that gave its memory up is one step: longer than all prompts and the budget.
run again traffic.pp=2 traffic.chunked-prefill=off traffic.token-budget=1 traffic.kv-memory=80MB \
    traffic.prompt-tokens=4 traffic.output-tokens=600 traffic.requests=3 traffic.rate=1000
# The weights of Llama 3 405B fit into two stages of eight GPUs, not into one.
rocesim check hosts.yaml --set 'traffic[0].serving.model=llama3-405b' --set 'traffic[0].serving.tp=8' \
    >said 2>&1 && fail "the weights fit into eight GPUs: $(cat said)"
for shape in '2 1' '4 2'; do
    rocesim check hosts.yaml --set 'traffic[0].serving.model=llama3-405b' \
        --set 'traffic[0].serving.tp=8' --set "traffic[0].serving.pp=${shape% *}" \
        --set "traffic[0].serving.tp-hosts=${shape#* }" >said 2>&1 || fail "$shape: $(cat said)"
    sed -n "s/.*prefill node: room for the KV data of \([0-9]*\) tokens.*/${shape% *} \1/p" said >>rooms
done
for threads in 1 2 4; do
    rocesim run hosts.yaml -o t$threads --threads $threads --quiet --set 'traffic[0].serving.pp=2' \
        --set 'traffic[0].serving.tp=4' --set 'traffic[0].serving.tp-hosts=2' \
        --set 'traffic[0].serving.decode=1' --set 'traffic[0].serving.requests=3' \
        --set 'traffic[0].serving.layers=4' --set 'traffic[0].serving.hidden=512' >said 2>&1 ||
        fail "$(cat said)"
    grep '"digest"' t$threads/summary.json >digest$threads
done
cmp -s digest1 digest2 && cmp -s digest1 digest4 || fail "digests differ on 1, 2 and 4 threads"
python3 - <<'PYTHON' || fail "a value is wrong"
import json
def app(name):
    whole = json.load(open(name + "/summary.json"))
    assert whole["ended"] == "done", name
    return whole["apps"][0]
def near(value, expected, share, what):
    assert abs(value - expected) <= share * expected, f"{what}: {value}, expected {expected}"
STEP, PATH, HOP = 10.0, 0.002, 4 * 0.0003
def wire(bytes_, acks=0): # ms on an idle path, beside the acknowledgements of the other direction
    return bytes_ * (4178 + acks) / 4096 * 8 / 100e9 * 1e3 + HOP
# Eight steps of a prompt go through the stages one behind the other.
for stages in (1, 2, 4, 8):
    a = app(f"pp{stages}")
    passing = (stages - 1) * wire(128 * 4096 * 2)
    time = (8 + stages - 1) * STEP / stages + passing
    near(a["stages"]["prefill_ms"], time, 1e-3, f"{stages} stages")
    near(100 - a["nodes"][0]["bubble_percent"], 100 * 8 * STEP / stages / time, 1e-3, f"{stages}: bubble")
    assert a["pp_bytes"] == (stages - 1) * 1024 * 4096 * 2, "activations between stages"
    if stages > 1:
        near(a["nodes"][0]["pp_percent"], 100 * passing / (STEP + passing), 0.03, "share of the activations")
# Of 32 layers in five stages, the first two have seven: steps follow each other in their time.
one = wire(128 * 4096 * 2)
near(app("pp5")["stages"]["prefill_ms"], STEP + 7 * STEP * 7 / 32 + 4 * one, 1e-3, "unequal stages")
near(app("alone")["stages"]["prefill_ms"], 8 * (STEP + 3 * one), 1e-3, "one step at a time")
near(app("decode")["tpot_ms"]["mean"], STEP + 3 * wire(4096 * 2), 1e-3, "a token passes all stages")
# Each stage of S has 8 GPUs of 72 GB, most of its layers' weights, and KV data in as many layers.
weights = 2 * (126 * (2 * 16384**2 + 2 * 8 * 128 * 16384 + 3 * 16384 * 53248) + 2 * 16384 * 128256)
rooms = [[int(word) for word in line.split()] for line in open("rooms")]
assert [stages for stages, _ in rooms] == [2, 4], rooms
for stages, tokens in rooms:
    layers = -(-126 // stages)
    near(tokens, (8 * 72e9 - weights * layers / 126) / (layers * 2 * 8 * 128 * 2), 1e-3, f"room of {stages}")
# A ring of H hosts: 2 (H - 1) messages of 1 / H of the activations; the GPUs of a host share one NIC.
bytes_ = 1024 * 4096 * 2
for name, hosts, calls, size in (("tp2", 2, 64, bytes_), ("tp4", 4, 64, bytes_), ("tp8", 8, 64, bytes_),
                                 ("grouped", 4, 8, 8 * bytes_)):
    a = app(name)
    exposed = calls * 2 * (hosts - 1) * wire(size / hosts, 84)
    near(a["stages"]["prefill_ms"], STEP + exposed, 0.01, f"{name}: prefill")
    near(a["nodes"][0]["tp_percent"], 100 * exposed / (STEP + exposed), 0.01, f"{name}: share")
    assert a["tp_bytes"] == calls * 2 * (hosts - 1) * size, f"{name}: {a['tp_bytes']} bytes"
    # The first token comes with the prompt, so all of the request is one step.
    near(a["network_shares"]["tp"], exposed / (STEP + exposed), 0.01, f"{name}: network")
a = app("both")
assert a["nodes"][0]["hosts"] == 8 and a["pp_bytes"] == 3 * 2 * bytes_, "each host passes all"
# Prompts share their first 512 tokens, which only the first node computes.
TOKEN = 4 * 2 * 8 * 16 * 2
for name in ("peers", "store"):
    a = app(name)
    cached = [row["cached_tokens"] for row in a["served"]]
    assert cached == [0, 512, 512, 512], f"{name}: {cached}"
    fetched = 512 * TOKEN # the second node has none of its own
    assert a["fetched_bytes"] == fetched, f"{name}: {a['fetched_bytes']} bytes, expected {fetched}"
    # Each of four hosts reads a part, and two storage nodes send them.
    part = fetched / {"peers": 4, "store": 2}[name]
    near(a["served"][1]["stages"]["fetch_ms"], 0.002 + wire(part), 0.1, f"{name}: fetch")
assert app("store")["stored_bytes"] >= 512 * TOKEN and app("peers")["stored_bytes"] == 0
a = app("experts")
computed = sum(node["prefill_tokens"] for node in a["nodes"])
assert a["exchange_bytes"] == computed * 2 * 512 * 2 * 4 / 2 * 2, "half of them go to experts and back"
a = app("again")
assert a["requests"] == 3 and a["failed"] == 0 and a["preemptions"] > 0, "a long step has no room"
a = app("cut")
assert a["requests"] == 4 and a["placed_again"] > 0, "a node with a host that is cut off is lost"
assert a["served"][-1]["prefill"] == "host5", a["served"][-1]
failed = 0
for line in open("systems"):
    name, set_ = line.split()[0], dict(one.split("=") for one in line.replace("\\ ", "+").split()[1:])
    a = app(name)
    assert a["requests"] == 24 and a["failed"] + a["unfinished"] + a["refused"] == 0, line
    assert len({row["request"] for row in a["served"]}) == 24 and a["output_tokens"] == 24 * 4, line
    sent = sum(node["sent_bytes"] for node in a["nodes"])
    received = sum(node["received_bytes"] for node in a["nodes"])
    # GPUs of a decode node beyond the heads of keys and values have copies of others.
    token = 6 * 2 * 4 * 32 * 2 * max(1, int(set_["traffic.decode-tp"]) // 4)
    assert sent == a["kv_bytes"] and received >= a["prompt_tokens"] * token, line
    if "traffic.fail-host" in set_:
        failed += a["placed_again"]
        for row in a["served"]:
            assert row["arrival_ms"] < 15 or row["prefill"] != "host1", f"{line}: {row}"
    else:
        assert sent == received == a["prompt_tokens"] * token, f"{line}: {sent}, {received}"
        assert a["placed_again"] == 0, line
assert failed > 0, "no failure hit a request"
PYTHON
[ $failures = 0 ]
