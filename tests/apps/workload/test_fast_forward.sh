#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: long
# tests/apps/workload/test_fast_forward.sh - fast-forward changes no result, and skips what it can.
#
# Goal: with fast-forward.mode exact, all files are those of the full run, byte for byte, whatever the
# collectives, the fabric and the congestion control are, on 1 and 2 threads; 32 calls of a contended
# all-to-all are simulated twice; a run that must not skip says why.
# Method: diff of result folders but for wall_*, digest and fast_forward: one scenario of 32 calls, one of
# equal rails, and scenarios drawn by tests/random-collectives, tests/random-rails and tests/random-scenario
# (300, 200 and 60 in the long form).
# Not pinned: the time that a run takes.
set -u
. tests/script.sh
. tests/fast_forward.sh

# layers CONTROL PROTOCOL [CALLS]: writes $work/s.yaml.
layers() {
    local calls=${3:-"repeat: 32, compute: 1ms, calc-grid: 1ms"}
    cat >"$work/s.yaml" <<END
seed: 3
ties: rotor
network: {draws: packet}
outputs: {operations-max: 1000}
topology:
  leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps, delay: 1us}
switch: {ecn: {enabled: true, kmin: 10KB, kmax: 100KB, pmax: 0.2}}
nic: {mtu: 1024, congestion-control: $1}
traffic:
  - collective: {kind: all-to-all, bytes: 256KiB, algorithm: direct, protocol: $2, $calls}
END
}

# Contended layers: 30 of 32 are repeated from memory.
for case in "none plain" "hpcc simple"; do
    # shellcheck disable=SC2086
    layers $case
    same "32 layers, $case" --set fast-forward.audit=0
    [ "$(number memo_hits)" = 30 ] || fail "$case: $(number memo_hits) hits of 30"
    [ "$(number ecn_marked)" -gt 1000 ] || fail "$case: no contention"
    skipped=$(number packet_hops_skipped) hops=$(number packet_hops)
    [ $((100 * skipped)) -ge $((90 * hops)) ] ||
        fail "$case: $skipped of $hops packet-hops are skipped, expected 90 %"
done
# Several ranks of a host, whose order counts, and queue pairs that take turns.
layers none plain "repeat: 9, compute: 1ms, calc-grid: 1ms, connection-pairs: 3"
sed -i 's/hosts-per-leaf: 4/hosts-per-leaf: 1, nics-per-host: 4/' "$work/s.yaml"
same "ranks of a host" --set fast-forward.audit=0
[ "$(number memo_hits)" = 3 ] || fail "ranks of a host: $(number memo_hits) hits of calls 7 to 9"

layers hpcc simple
same "2 threads" --threads 2 --set fast-forward.audit=0
[ "$(number memo_hits)" = 30 ] || fail "2 threads: $(number memo_hits) hits of 30"
same "audits" --set fast-forward.audit=1/2
[ "$(number audited)" -ge 5 ] && [ "$(number memo_hits)" -ge 5 ] || fail "audit: $(number audited) of 30"

layers none plain "repeat: 4, compute: 1ms, calc-grid: 1ms"
refuses ties --set ties=hash
refuses network.draws --set network.draws=stream
refuses "memo: off" --set fast-forward.memo=false
refuses "pauses or drops at a port" --set switch.buffer=1MB \
    --set "traffic[0].collective.bytes=2MiB"
refuses congestion-control --set nic.congestion-control=swift
refuses nic.model --set nic.model=detailed
refuses load-balancer --set network.load-balancer=drill
refuses "messages that nobody took" --set "traffic[0].collective.queue-pairs=per-message" \
    --set "traffic[0].collective.protocol=simple"

# A state that is another one each time: queue pairs that DCQCN has slowed down, and calls without a rest
# before them.
layers dcqcn plain "repeat: 6, compute: 1ms, calc-grid: 1ms"
same "throttled queue pairs"
[ "$(number memo_hits)" = 0 ] && [ "$(number memo_misses)" = 5 ] ||
    fail "throttled queue pairs: $(number memo_hits) hits, $(number memo_misses) misses"
layers hpcc plain "repeat: 8, compute: 55us, calc-grid: 60us"
sed -i 's/delay: 1us/delay: 10us/' "$work/s.yaml"
same "no rest"
[ "$(number memo_hits)" = 0 ] || fail "no rest: $(number memo_hits) hits"
grep -q '"no rest before it": [1-9]' "$work/summary" || fail "no rest: the summary does not tell it"

# Ranks of which some compute on before anybody looks whether a span is over: its last event is uncertain.
cat >"$work/s.yaml" <<END
ties: rotor
network: {draws: packet}
topology: {star: {hosts: 1, nics-per-host: 8, rate: 400Gbps, delay: 500ns}}
traffic:
  - training: {model: gpt-7b, layers: 1, hidden: 512, ffn: 2048, heads: 8, kv-heads: 8, vocab: 1024,
               sequence: 64, tp: 2, dp: 2, microbatches: 1, iterations: 2, overlap: none, bucket: 4MB,
               tflops: 10, calc-grid: 1us}
END
same "uncertain end" --yes --set fast-forward.audit=1
[ "$(number audited)" -ge 1 ] || fail "uncertain end: nothing was audited"

# Equal rails: the ranks of a server do the same, each on a rail of its own.
rails() {
    cat >"$work/s.yaml" <<END
seed: 3
ties: rotor
network: {draws: packet}
outputs: {operations-max: 1000}
topology:
  rail-optimised: {servers: 3, gpus-per-server: 4, spines: 1, host-rate: 400Gbps, fabric-rate: 400Gbps,
                   delay: 500ns}
switch: {ecn: {enabled: true, kmin: ${2:-100KB}, kmax: 400KB}}
traffic:
  - training: {model: gpt-7b, layers: 2, hidden: 1024, ffn: 4096, heads: 8, kv-heads: 8, vocab: 1024,
               sequence: 256, tp: 4, dp: 3, microbatches: 1, iterations: 1, overlap: gradients, bucket: 8MB,
               algorithm: ${3:-ring}$1}
END
}
for case in "" "--threads 2" "--set nic.congestion-control=hpcc"; do
    rails ", protocol: simple"
    # shellcheck disable=SC2086
    same "rails $case" --yes $case
    [ "$(number rails)" = 4 ] || fail "rails $case: $(number rails) of 4 rails are equal"
    skipped=$(number packet_hops_skipped) hops=$(number packet_hops)
    [ $((100 * skipped)) -ge $((75 * hops)) ] ||
        fail "rails $case: $skipped of $hops packet-hops are skipped"
done
rails ", protocol: simple"
same "all rails" --yes --set fast-forward.rails=false
[ "$(number rails)" = 0 ] || fail "rails are left out in vain"
rails ", jitter: 0.05"
same "rails with jitter" --yes
grep -q '"messages of rails": 1' "$work/summary" || fail "rails with jitter are equal"
rails ", protocol: simple" 1B tree
same "rails with marks" --yes
[ "$(number rails)" = 0 ] || fail "rails whose switches draw are equal"

# Whatever is drawn.
count=$(few 6 3)
[ -z "${TEST_LONG:-}" ] || count=300
hits=0
for i in $(seq 1 "$count") 333; do # in 333, nodes share a unit
    tests/random-collectives "$i" >"$work/s.yaml"
    same "tests/random-collectives $i" && [ "$(number memo_hits)" != 0 ] && hits=$((hits + 1))
done
[ $((8 * hits)) -ge "$count" ] || fail "$hits of $count random scenarios have hits, expected more"
count=$(few 4 2)
[ -z "${TEST_LONG:-}" ] || count=200
rails=0
for i in $(seq 1 "$count") 8; do # 8 has equal rails
    tests/random-rails "$i" >"$work/s.yaml"
    same "tests/random-rails $i" --yes && [ "$(number rails)" != 0 ] && rails=$((rails + 1))
done
[ "$rails" -gt 0 ] || fail "no random scenario has equal rails"
[ -n "${TEST_LONG:-}" ] && count=60 || count=2
for ((i = 1; i <= count; ++i)); do
    tests/random-scenario $i >"$work/s.yaml"
    same "tests/random-scenario $i" --set ties=rotor --set network.draws=packet
done
[ $failures -eq 0 ]
