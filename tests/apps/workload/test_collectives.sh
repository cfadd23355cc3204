#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/test_collectives.sh - how long collectives take.
#
# Goal: times on an idle network are those of closed forms, to the picosecond: rings, chains, trees,
# exchanges, all-to-all, two levels; sizes that do not divide; software latency; a published exchange
# of a model. Losses, detailed NICs and threads change no outcome.
# Method: collective_times.py runs each algorithm on a star.
# labels: long plain
set -u
. tests/script.sh

python3 tests/apps/workload/collective_times.py || exit 1

cat >"$work/rails.yaml" <<'EOF'
topology: {rail-optimised: {servers: 2, gpus-per-server: 2, spines: 0}}
traffic:
  - collective: {algorithm: ring, bytes: 1MiB}
EOF
# SimAI's rings cross rails, which have no path here; NCCL's take turns or have PXN, and none does.
"$ROCESIM" check "$work/rails.yaml" --set 'traffic[0].collective.protocol=plain' >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q 'hosts: there is no path between' "$work/said" || fail "$(cat "$work/said")"
"$ROCESIM" check "$work/rails.yaml" --set 'traffic[0].collective.pxn=on' >"$work/said" 2>&1 ||
    fail "$(cat "$work/said")"
"$ROCESIM" check "$work/rails.yaml" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
grep -q '1 x all-reduce of 4 ranks on 2 nodes, 1048576 bytes: ring, ' "$work/said" ||
    fail "check does not say how the collective is done"
# PAT is for one rank a node: NCCL does not consider it where one of eight nodes has two ranks.
for ranks in 8 9; do
    "$ROCESIM" check "$work/rails.yaml" --set topology.rail-optimised.spines=1 \
        --set topology.rail-optimised.servers=8 --set topology.rail-optimised.host-rate=800Gbps --set \
        "traffic[0]={collective: {kind: all-gather, bytes: 8MiB, ranks: $ranks, map: round-robin}}" \
        >"$work/said" 2>&1
    grep -q "of $ranks ranks on 8 nodes, 8388608 bytes: $([ $ranks = 8 ] && echo pat || echo ring), " \
        "$work/said" || fail "PAT with $ranks ranks: $(grep ' x ' "$work/said")"
done
# RCCL's choice by size, on one node and on two. A100s have NVSwitches that do not reduce.
chooses() { # ALGORITHM, PROTOCOL NODES COLLECTIVE
    "$ROCESIM" check - >"$work/said" 2>&1 <<EOF || fail "$3: $(cat "$work/said")"
topology: {rail-optimised: {servers: $2, gpus-per-server: 8, spines: 1}}
traffic:
  - collective: {$3}
EOF
    grep -q "bytes: $1, " "$work/said" || fail "$3 on $2 nodes: $(grep ' x ' "$work/said"), expected $1"
}
chooses 'all-pairs, ll' 1 'ccl: rccl, bytes: 512KB'
chooses 'all-pairs, simple' 1 'ccl: rccl, bytes: 512KiB'
chooses 'ring, simple' 1 'ccl: rccl, bytes: 17MiB'
chooses 'tree, ll' 2 'ccl: rccl, bytes: 2MiB'
chooses 'tree, simple' 2 'ccl: rccl, bytes: 255MiB'
chooses 'ring, simple' 2 'ccl: rccl, bytes: 256MiB'
chooses 'nvls, simple' 1 'bytes: 64MiB'
chooses 'ring, simple' 1 'bytes: 64MiB, local-rate: 2400Gbps'
# The answer says what the library expects where its software takes no time, and only there.
for on in off on; do
    "$ROCESIM" run "$work/rails.yaml" --set topology.rail-optimised.spines=1 \
        --set "traffic[0].collective.tuning-latency=$on" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
    lines=$(grep -c 'NCCL expects [0-9.]* us: its software takes no time here' "$work/said")
    [ "$on $lines" = "off 1" ] || [ "$on $lines" = "on 0" ] ||
        fail "tuning-latency $on: $(grep -A 3 answer "$work/said")"
done
# More loops or messages than anybody could count are refused.
for more in 'chunk: 1' 'chunk: 1, protocol: plain' 'slice: 1, protocol: plain' 'kind: broadcast, chunk: 1'; do
    "$ROCESIM" check "$work/rails.yaml" --set topology.rail-optimised.spines=1 \
        --set "traffic[0]={collective: {bytes: 1000TiB, $more}}" >"$work/said" 2>&1
    [ $? -eq 2 ] && grep -q 'collective: [chunkslie]*: a collective of [0-9]* bytes has 2^32 ' "$work/said" ||
        fail "$more: $(cat "$work/said")"
done
# Chunks and slices that are longer than a connection's buffer do not block a ring.
for more in 'ring, chunk: 4MiB' 'ring, chunk: 16MiB' 'ring, slice: 8MiB' 'ring, chunk: 1TiB, slice: 1GiB' \
    'ring, chunk: 1MiB, slice: 4KiB' 'hierarchical, chunk: 16MiB'; do
    "$ROCESIM" run "$work/rails.yaml" --quiet --set topology.rail-optimised.spines=1 \
        --set "traffic[0]={collective: {protocol: simple, bytes: 64MiB, algorithm: $more}}" \
        >"$work/said" 2>&1 || fail "$more: $(grep -i stalled "$work/said")"
done
# A collective within a server that takes seconds has not stalled.
cat >"$work/long.yaml" <<'EOF'
topology: {star: {hosts: 1, nics-per-host: 4}}
traffic:
  - collective: {algorithm: ring, protocol: plain, bytes: 1GiB, local-rate: 4Gbps, chunk: 256KiB}
EOF
"$ROCESIM" run "$work/long.yaml" --json --quiet >"$work/said" 2>&1 ||
    fail "a long collective: $(tail -n 3 "$work/said")"
grep -o '"sim_time_ps": [0-9]*' "$work/said" | awk '{ exit !($2 > 3.2e12 && $2 < 3.3e12) }' ||
    fail "a long collective: $(grep sim_time "$work/said")"
# A connection's queue pairs take its messages in turn, each with a UDP source port of its own.
"$ROCESIM" run "$work/rails.yaml" --quiet --set 'traffic[0].collective.pxn=on' -o "$work/out" \
    --set 'traffic[0].collective.connection-pairs=3' --set 'traffic[0].collective.slice=8KiB' \
    --set 'traffic[0].collective.channels=1' >"$work/said" 2>&1 || fail "$(cat "$work/said")"
ports=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["src_port"] > 0 { seen[$at["src"] " " $at["dst"] " " $at["src_port"]]++ }
    END { for (s in seen) { split(s, p, " "); count[p[1] " " p[2]]++ }
        for (c in count) print count[c] }' "$work/out/flows.csv" | sort -u | tr '\n' ' ')
[ "$ports" = "3 " ] || fail "connections have '$ports' UDP source ports, expected 3"
"$ROCESIM" check "$work/rails.yaml" --set 'traffic[0].collective.connection-pairs=2' \
    --set 'traffic[0].collective.queue-pairs=per-message' >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q 'connection-pairs: with queue-pairs: per-message' "$work/said" ||
    fail "$(cat "$work/said")"
# Messages of a connection that have queue pairs of their own have counted ports if asked for: 10000 and up.
"$ROCESIM" run "$work/rails.yaml" --quiet --set 'traffic[0].collective.pxn=on' -o "$work/out" \
    --set 'traffic[0].collective.queue-pairs=per-message' --set 'traffic[0].collective.slice=64KiB' \
    --set 'traffic[0].collective.source-ports=counted' --set 'traffic[0].collective.channels=1' \
    >"$work/said" 2>&1 || fail "$(cat "$work/said")"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["src_port"] > 0 && $at["src_port"] != 10000 + count[$at["src"] " " $at["dst"]]++ { exit wrong = 1 }
    END { for (c in count) pairs += count[c] > 10; exit wrong || pairs < 2 }' "$work/out/flows.csv" ||
    fail "counted source ports: $(head -n 20 "$work/out/flows.csv")"
# Each rank sends 1 MB to the next one three times: nccl-tests' bandwidth is that of one message.
"$ROCESIM" run "$work/rails.yaml" --quiet --set topology.rail-optimised.spines=1 \
    --set 'traffic[0]={collective: {kind: send-recv, bytes: 1MB, repeat: 3}}' -o "$work/out" \
    >"$work/said" 2>&1 || fail "$(cat "$work/said")"
row=$(sed -n '/"name": "send-recv"/,/}/p' "$work/out/summary.json" | tr -d ' \n')
echo "$row" | grep -q '"count":3,"bytes":1000000,"ranks":4,' || fail "no row of send-recv: $row"
echo "$row" | sed 's/.*"mean_us":\([0-9.]*\).*"busbw_gbytes_per_s":\([0-9.]*\).*/\1 \2/' |
    awk '{ d = 1e3 / $1 / $2 - 1; exit !(d < 1e-6 && d > -1e-6 && $1 > 20 && $1 < 60) }' ||
    fail "bandwidth of send-recv: $row"
[ "${failures:-0}" = 0 ]
