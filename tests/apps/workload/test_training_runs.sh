#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# Goal: training runs end to end, and its reported times are those that its parts have alone.
# Method: an exposed data-parallel exchange takes as long as the same collectives of the application
# `collective`; times of a rank add up to its finish; overlap, slow ranks, jitter, skew and jobs
# beside one another change what they should; resolved scenarios and threads keep the digest; wrong
# values are refused with the attribute.
# Does not pin: bytes and computations (test_training.c).
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
    echo "FAIL $*"
    failures=$((failures + 1))
}
cat >"$work/t.yaml" <<'YAML'
parameters:
  gpus: {default: 8}
  per_node: {default: 1}
topology: {star: {hosts: $(gpus / per_node), nics-per-host: $(per_node), rate: 400Gbps, delay: 500ns}}
nic: {mtu: 4096, congestion-control: none}
traffic:
  - training: {model: gpt-13b, layers: 2, hidden: 512, heads: 8, ffn: 2048, vocab: 1024, sequence: 256,
               microbatches: 2, zero: 1, overlap: none, bucket: 0, protocol: plain, channels: 1}
YAML
T=traffic[0].training
run() { # run NAME [ARGUMENT...]
    local name=$1
    shift
    rm -rf "$work/$name"
    "$ROCESIM" run "$work/t.yaml" -o "$work/$name" --quiet "$@" >"$work/out" 2>"$work/err" ||
        { fail "$name: $(cat "$work/err")"; return 1; }
}
# number NAME KEY [OBJECT]: a value of apps[0], or of an object in it
number() {
    awk -v key="\"$2\":" -v object="${3:+\"$3\":}" '
        /"apps": \[/ { inside = 1 }
        inside && object != "" && $1 == object { found = 1 }
        inside && $1 == key && (object == "" || found) { sub(",", "", $2); print $2; exit }' \
        "$work/$1/summary.json"
}
# holds EXPRESSION TEXT: the expression of awk is true
holds() {
    awk "BEGIN { exit !($1) }" || fail "$2: $1"
}
digest() { grep -o '"digest": "[0-9a-f]*"' "$work/$1/summary.json"; }

# -- the exposed exchange is the sum of its two collectives
run dp
parameters=$((2 * 12 * 512 * 512 + 1024 * 512))
cat >"$work/c.yaml" <<YAML
topology: {star: {hosts: 8, rate: 400Gbps, delay: 500ns}}
nic: {mtu: 4096, congestion-control: none}
traffic: [collective: {kind: reduce-scatter, bytes: $((4 * parameters)), protocol: plain, channels: 1}]
YAML
for kind in reduce-scatter all-gather; do
    bytes=$((4 * parameters))
    [ $kind = reduce-scatter ] || bytes=$((2 * parameters))
    "$ROCESIM" run "$work/c.yaml" -o "$work/$kind" --quiet --set "traffic[0].collective.kind=$kind" \
        --set "traffic[0].collective.bytes=$bytes" >/dev/null 2>&1 || fail "$kind"
done
rs=$(grep -o '"sim_time_ps": [0-9]*' "$work/reduce-scatter/summary.json" | grep -o '[0-9]*$')
ag=$(grep -o '"sim_time_ps": [0-9]*' "$work/all-gather/summary.json" | grep -o '[0-9]*$')
holds "$(number dp dp exposed_ms) * 1e9 - ($rs + $ag) < 1 && $rs > 0 && $ag > 0" "exchange"
holds "$(number dp dp exposed_ms) * 1e9 - ($rs + $ag) > -1" "exchange"

# -- rows of collectives say what they are
sed -n '/"name": "gradients"/,/}/p' "$work/dp/summary.json" | grep -q '"kind": "reduce-scatter"' &&
    sed -n '/"name": "parameters"/,/}/p' "$work/dp/summary.json" | grep -q '"kind": "all-gather"' ||
    fail "rows of collectives have no kind"

# -- times add up
run all --set per_node=2 --set gpus=16 --set $T.tp=2 --set $T.pp=2 --set $T.microbatches=4
sum=0
for kind in tp pp dp ep cp other; do sum="$sum + $(number all $kind exposed_ms)"; done
holds "(($sum) + $(number all compute_ms) - $(number all mean finish_us) / 1000) ^ 2 < 1e-12" \
    "the sum of times"
for kind in tp pp dp; do holds "$(number all $kind exposed_ms) > 0" "exposed $kind"; done
holds "$(number all other exposed_ms) == 0 && $(number all ep exposed_ms) == 0" "what is not there"
"$ROCESIM" run "$work/all/scenario.yaml" -o "$work/again" --quiet --threads 2 >/dev/null 2>&1
[ "$(digest all)" = "$(digest again)" ] || fail "the resolved scenario on two threads has another digest"

# -- what ranks did, for timelines
run spans --set $T.tp=2 --set outputs.operations-max=100000
for kind in calc all-reduce reduce-scatter all-gather; do
    grep -q ",$kind," "$work/spans/operations.csv" || fail "no $kind in operations.csv"
done
"$ROCESIM" timeline "$work/spans" -o "$work/trace.json" && grep -q '"tp forward"' "$work/trace.json" ||
    fail "no timeline"

# -- what changes a run
run overlap --set $T.overlap=gradients --set $T.bucket=1 --set $T.mfu=0.002
run none --set $T.overlap=none --set $T.mfu=0.002
run everything --set $T.overlap=all --set $T.bucket=1 --set $T.mfu=0.002
holds "$(number overlap iteration_ms) < $(number none iteration_ms)" "overlap of gradients"
holds "$(number everything iteration_ms) < $(number overlap iteration_ms)" "overlap of parameters"
holds "$(number none compute_ms) == $(number overlap compute_ms)" "computation"
tensors="--set $T.tp=4 --set $T.sequence-parallel=true --set $T.mfu=0.002 --set per_node=4"
tensors+=" --set $T.local-rate=100Gbps --set $T.local-delay=0s"
# shellcheck disable=SC2086
run blocks $tensors
# shellcheck disable=SC2086
run pieces $tensors --set $T.tensor-overlap=4
holds "$(number pieces tp exposed_ms) < 0.6 * $(number blocks tp exposed_ms)" "overlap of tensors"
holds "$(number pieces tp exposed_ms) > 0.2 * $(number blocks tp exposed_ms)" "two pieces that nothing hides"
holds "$(number pieces tp bytes) == $(number blocks tp bytes)" "bytes of overlapped collectives"
holds "($(number pieces compute_ms) / $(number blocks compute_ms) - 1) ^ 2 < 1e-6" "computation in pieces"
# With context parallelism, too: of attention and of the MLP, with the same bytes and computations.
tensors="${tensors/tp=4/tp=2} --set $T.cp=2"
# shellcheck disable=SC2086
run parts $tensors
# shellcheck disable=SC2086
run beside $tensors --set $T.tensor-overlap=4
holds "$(number beside tp exposed_ms) < 0.4 * $(number parts tp exposed_ms)" "overlap beside contexts"
holds "$(number beside cp bytes) == $(number parts cp bytes)" "bytes of contexts"
holds "($(number beside compute_ms) / $(number parts compute_ms) - 1) ^ 2 < 1e-6" "computation of contexts"
run slow --set "$T.slow-ranks=[5]" --set $T.slow-factor=3 --set $T.mfu=0.002
holds "$(number slow iteration_ms) > $(number none iteration_ms) * 1.5" "a slow rank"
run jitter --set $T.jitter=0.1
run jitter2 --set $T.jitter=0.1 --set seed=2
[ "$(digest jitter)" != "$(digest jitter2)" ] || fail "jitter does not depend on the seed"
run two --set $T.iterations=2
holds "($(number two iteration_ms) / $(number dp iteration_ms) - 1) ^ 2 < 1e-4" "two iterations"
holds "$(number two tp bytes) + 0 == 0 && $(number two dp bytes) == $(number dp dp bytes)" \
    "bytes of an iteration"
moe="--set $T.experts=8 --set $T.top-k=2 --set $T.ep=4"
# shellcheck disable=SC2086
run even $moe
# shellcheck disable=SC2086
run skewed $moe --set $T.skew=1.5
holds "$(number even ep exposed_ms) > 0" "exposed ep"
holds "$(number skewed ep exposed_ms) > $(number even ep exposed_ms)" "skew"
# Tokens of experts in pieces: one travels while another is computed; with skew, too.
for skew in 0 1.5; do
    share=$([ $skew = 0 ] && echo 0.7 || echo 1) # waiting for hot experts is exposed, too
    # shellcheck disable=SC2086
    run whole $moe --set $T.skew=$skew --set $T.mfu=0.002
    # shellcheck disable=SC2086
    run parts $moe --set $T.skew=$skew --set $T.mfu=0.002 --set $T.expert-overlap=4
    holds "$(number parts ep exposed_ms) < $share * $(number whole ep exposed_ms)" "overlap of experts, $skew"
    holds "($(number parts ep bytes) / $(number whole ep bytes) - 1) ^ 2 < 1e-6" "bytes of experts, $skew"
    holds "($(number parts compute_ms) / $(number whole compute_ms) - 1) ^ 2 < 1e-6" "experts, $skew"
done
printf '1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' >"$work/own.txt"
# shellcheck disable=SC2086
run own $moe --set $T.routing="$work/own.txt"
holds "$(number own ep bytes) == 0" "tokens that stay"
run jobs --set "$T.hosts=host[0-3]" \
    --set "traffic[1].training={hosts: \"host[4-7]\", layers: 1, microbatches: 1}"
grep -c '"kind": "training"' "$work/jobs/summary.json" | grep -qx 2 ||
    fail "two jobs are not two applications"

# -- a NIC that fails stops its job, and the other one ends
second='{hosts: "host[4-7]", layers: 1, microbatches: 1, hidden: 64, heads: 8}'
"$ROCESIM" run "$work/t.yaml" -o "$work/broken" --set "$T.hosts=host[0-3]" --set stall-after=1ms \
    --set outputs.operations-max=1000 --set "traffic[1].training=$second" --set nic.retry-count=1 \
    --set "faults[0]={part: host1, at: 1us}" --set nic.timeout=8 >"$work/out" 2>"$work/err"
[ $? -eq 1 ] || fail "a job that stalls: $(cat "$work/err")"
grep -q "traffic\[0\].training: rank 1 did not finish: its operation .* waits for" \
    "$work/out" "$work/err" || fail "no report of the rank that waits"
finished=$(sed -n 's/^ *"ranks_finished": \([0-9]*\),*$/\1/p' "$work/broken/summary.json" | tr '\n' ' ')
[ "$finished" = "0 4 " ] || fail "ranks that finished: $finished"
[ "$(grep -c '"iteration_ms": [0-9]' "$work/broken/summary.json")" = 1 ] ||
    fail "a job that stalled has an iteration"
"$ROCESIM" timeline "$work/broken" -o "$work/trace.json" &&
    grep -q '"traffic 1 rank 3 (host7)"' "$work/trace.json" || fail "no timeline of the second job"

# -- passes over a workload text: a layer waits for its gradients of the pass before
cat >"$work/w.txt" <<'TEXT'
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8
2
a -1 100000 NONE 0 1000 NONE 0 1000 ALLREDUCE 4000000 1000
b -1 100000 NONE 0 1000 NONE 0 1000 NONE 0 1000
TEXT
text="traffic[0]={workload: {file: $work/w.txt, protocol: plain"
run once --set "$text}}"
run thrice --set "$text, iterations: 3}}"
holds "$(number once dp exposed_ms) > 0.1" "the exposed exchange of a pass"
holds "($(number thrice iteration_ms) / $(number once iteration_ms) - 1) ^ 2 < 1e-4" "iterations of a text"
holds "$(number thrice dp bytes) == $(number once dp bytes)" "bytes of a pass"

# -- what check says
"$ROCESIM" check "$work/t.yaml" --set $T.pp=2 >"$work/out" 2>&1 || fail "check"
grep -q "billion parameters on tp 1 x cp 1 x dp 4 x pp 2 = 8 ranks; an iteration computes .* ms" \
    "$work/out" ||
    fail "check: $(cat "$work/out")"
grep -q "GB that leave all ranks: pp 0.004194 dp 0.1321$" "$work/out" || fail "check: $(grep GB "$work/out")"

# -- what is refused
refused() { # refused TEXT ARGUMENT...
    local text=$1
    shift
    "$ROCESIM" check "$work/t.yaml" "$@" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] || fail "accepted: $*"
    grep -qF -- "$text" "$work/err" || fail "'$text' is not in: $(cat "$work/err")"
}
refused "training: dp: 8 NICs of hosts are no whole number" --set $T.tp=3
refused "training: pp: pp x vpp = 4 chunks for 2 layers" --set $T.pp=4
refused "training: vpp: the interleaved schedule" --set $T.pp=2 --set $T.vpp=2 --set $T.layers=4 \
    --set $T.microbatches=3
refused "training: ep: 2 ranks for experts, which the model does not have" --set $T.ep=2
refused "training: ep: 8 does not divide cp x dp = 4" --set $T.experts=8 --set $T.ep=8 --set $T.tp=2
refused "training: heads: 7 heads do not divide" --set $T.heads=7
refused "training: kv-heads: 3 heads of keys and values beside 8 heads, expected a divisor" \
    --set $T.kv-heads=3
refused "training: tp: 3 GPUs share 8 heads, expected a divisor" --set $T.tp=3 --set gpus=9 --set $T.dp=3
refused "training: tp: 6 GPUs share 4 heads of keys and values, expected a divisor or a multiple" \
    --set $T.tp=6 --set $T.dp=1 --set $T.heads=24 --set $T.hidden=768 --set $T.kv-heads=4
refused "training: microbatch: a layer has 2e+19 bytes of activations" --set $T.microbatch=100000 \
    --set $T.sequence=100000000 --set $T.hidden=1000000
refused "training: hidden: the model has about" --set $T.layers=10000 --set $T.hidden=1000000 \
    --set $T.ffn=10000000 --set $T.experts=4096 --set $T.expert-ffn=10000000
refused "training: tflops: a rank computes for up to" --set $T.tflops=0.001 --set $T.mfu=0.001 \
    --set $T.microbatches=100000 --set $T.iterations=10000
refused "training: top-k: a token uses 9 of 8" --set $T.experts=8 --set $T.top-k=9
refused "training: slow-ranks: \"[8]\" is no list of ranks" --set "$T.slow-ranks=[8]"
refused "training: slow-ranks: \"3-\" is no list" --set "$T.slow-ranks=3-"
refused "training: sequence: 255 tokens" --set $T.sequence=255 --set $T.tp=2
refused "training: hosts: the training has 32 ranks" --set $T.dp=32
printf '1 2\n3\n' >"$work/own.txt"
# shellcheck disable=SC2086
refused "own.txt:2:1: a row has 1 weights" $moe --set $T.routing="$work/own.txt"
[ $failures -eq 0 ]
