#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/sessions/test_sessions.sh - sessions that other programs drive.
#
# Goal: transfers of a session end when the same transfers of a scenario end, whatever the client does
# between them; what happened after a mark leaves no trace, in files neither; wrong calls get an answer;
# clients that are killed leave a server that answers; the C library and Python do the same.
# Method: random clients, compared with runs; a server on a socket, and clients that die.
set -u
. tests/script.sh
export PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }

cat >"$work/fabric.yaml" <<'EOF'
name: sessions
seed: 3
topology:
  leaf-spine: {leaves: 4, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps,
               delay: 500ns}
nic: {congestion-control: dcqcn, mtu: 4096}
observe:
  - {series: "port[leaf0->host0].queue_bytes", every: 10us}
EOF
# The socket, and the library where Python can load it.
bindings=socket
grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$BUILD_DIRECTORY/CMakeCache.txt" && bindings="socket library"
for seed in $(seq "$(few 3 1)"); do
    for binding in $bindings; do
        mkdir "$work/$binding$seed"
        BINDING=$binding ROCESIM_LIBRARY=$BUILD_DIRECTORY/librocesim.so within 20 \
            python3 tests/sessions/client.py "$ROCESIM" "$work/fabric.yaml" "$work/$binding$seed" "$seed" \
            >"$work/said" 2>&1 || fail "client $seed: $(tail -n 5 "$work/said")"
    done
done
# Random paths do not depend on when a transfer was submitted.
for transport in uec-rud uec-rod mrc irn; do
    sed "s/congestion-control: dcqcn/transport: $transport/" "$work/fabric.yaml" >"$work/$transport.yaml"
    mkdir "$work/$transport"
    BINDING=socket within 20 python3 tests/sessions/client.py "$ROCESIM" "$work/$transport.yaml" \
        "$work/$transport" 1 >"$work/said" 2>&1 || fail "$transport: $(tail -n 5 "$work/said")"
done
# Where steps end changes neither times nor the digest.
for scenario in fabric uec-rud irn; do
    for seed in 1 2; do
        within 20 python3 tests/sessions/steps.py "$ROCESIM" "$work/$scenario.yaml" $seed \
            >"$work/said" 2>&1 || fail "steps, $scenario, $seed: $(tail -n 3 "$work/said")"
    done
done
# Random calls, right and wrong, also where transfers fail, hosts have a detailed NIC, or run with switches.
sed "s/congestion-control: dcqcn/model: detailed/" "$work/fabric.yaml" >"$work/detailed.yaml"
sed "s/500ns/50ns/" "$work/fabric.yaml" >"$work/short.yaml"
sed "s/500ns/5ns/" "$work/detailed.yaml" >"$work/near.yaml"
sed "s/mtu: 4096/mtu: 4096, timeout: 8, retry-count: 2/" "$work/fabric.yaml" >"$work/faults.yaml"
cat >>"$work/faults.yaml" <<'EOF'
faults:
  - {part: host3--leaf0, kind: down, at: 20us, until: 40ms}
  - {part: spine0, kind: down, at: 120us, until: 150us}
EOF
for scenario in fabric faults detailed near short uec-rud mrc; do
    for seed in $(seq "$(few 8 2)"); do
        within 20 python3 tests/sessions/random_calls.py "$ROCESIM" "$work/$scenario.yaml" "$seed" \
            >"$work/said" 2>&1 || fail "random calls, $scenario, $seed: $(tail -n 3 "$work/said")"
    done
done
# The queue pairs of a session use all processing units of a detailed NIC, as those of a run do.
cat >"$work/units.yaml" <<'EOF'
seed: 2
topology: {star: {hosts: 3}}
nic: {model: detailed, congestion-control: none}
EOF
rows=$(for i in $(seq 60); do echo "host0 host$((i % 2 + 1)) 4096B $((i * 90))ns"; done)
awk '{ printf "{\"call\":\"submit\",\"src\":0,\"dst\":\"%s\",\"bytes\":%d,\"at\":%d000}\n", $2, $3, $4 }
    END { print "{\"call\":\"finish\"}" }' <<<"$rows" >"$work/calls"
"$ROCESIM" serve "$work/units.yaml" -o "$work/units-session" <"$work/calls" >"$work/said" ||
    fail "$(cat "$work/said")"
"$ROCESIM" run "$work/units.yaml" --quiet -o "$work/units-run" \
    --set "traffic[+]={flows: {list: [$(paste -sd, <<<"$rows")]}}" >"$work/said" 2>&1 ||
    fail "$(cat "$work/said")"
for kind in session run; do cut -d, -f1-11 "$work/units-$kind/flows.csv" >"$work/units-$kind.csv"; done
cmp -s "$work"/units-{session,run}.csv ||
    fail "detailed NICs: $(diff "$work"/units-{session,run}.csv | grep -c '^<') of 60 transfers differ"
for seed in $(seq "$(few 3 1)"); do
    mkdir "$work/p$seed"
    within 20 python3 tests/sessions/programs.py "$ROCESIM" "$work/fabric.yaml" \
        "$PWD/scenarios/training/ring8.goal" "$work/p$seed" "$seed" \
        >"$work/said" 2>&1 || fail "programs $seed: $(tail -n 5 "$work/said")"
done
cat >"$work/undo.yaml" <<'EOF'
name: undo
seed: 5
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4, delay: 500ns}}
nic: {congestion-control: dcqcn, mtu: 4096}
switch: {buffer: 450KB, ecn: {kmin: 5KB, kmax: 20KB, pmax: 0.2}}
traffic:
  - poisson: {sizes: websearch, load: 0.3, stop: 300us}
observe:
  - {series: "port[leaf0->host0].queue_bytes", every: 1us}
  - {series: "port[leaf1->host5].queue_bytes", on: change}
captures:
  - {ports: "leaf0->host0", file: a.pcap.gz}
  - {ports: "leaf1->host5", file: b.pcap}
  - {ports: "host0->leaf0", file: c.pcapng}
faults:
  - {part: spine0, kind: down, at: 120us, until: 150us}
EOF
within 20 python3 tests/sessions/undone.py "$ROCESIM" "$work/undo.yaml" "$work/undone" >"$work/said" 2>&1 ||
    fail "undone: $(tail -n 3 "$work/said")"

# A session whose files were cut has the series of the run without marks, to the last sample both have.
lines=$(cat "$work"/socket1/list/series*.csv | wc -l)
cat "$work"/socket1/list/series*.csv | head -n "$((lines - 1))" >"$work/a"
cat "$work"/socket1/session/series*.csv | head -n "$((lines - 1))" >"$work/b"
{ [ "$lines" -gt 10 ] && cmp -s "$work/a" "$work/b"; } ||
    fail "the series of a session differs from the run's: $(diff "$work/a" "$work/b" | head -n 3)"

# What would fail is no time, verbs that a transport lacks are refused, and a cancelled transfer ends now.
cat >"$work/down.yaml" <<'EOF'
topology: {pair: {}}
nic: {timeout: 8, retry-count: 2}
faults: [{part: host0--host1, kind: down, at: 1us, until: 10s}]
EOF
"$ROCESIM" serve -o "$work/down" "$work/down.yaml" >"$work/said" 2>&1 <<'EOF'
{"call":"advance","until_ps":5000000}
{"call":"estimate","src":0,"dst":1,"bytes":100000}
EOF
grep -q '"outcome":"failed","status":"transport retry limit exceeded"' "$work/said" ||
    fail "an estimate of a transfer that fails: $(cat "$work/said")"
printf 'topology: {pair: {}}\nnic: {transport: mrc}\n' >"$work/lacks.yaml"
echo '{"call":"submit","src":0,"dst":1,"bytes":1000,"verb":"read"}' |
    "$ROCESIM" serve -o "$work/lacks" "$work/lacks.yaml" >"$work/said" 2>&1
grep -q '"message":"verb: nic.transport mrc of host0 has WRITE alone' "$work/said" ||
    fail "a READ with mrc: $(cat "$work/said")"
printf 'topology: {pair: {}}\n' >"$work/pair.yaml"
"$ROCESIM" serve -o "$work/cancelled" "$work/pair.yaml" >"$work/said" 2>&1 <<'EOF'
{"call":"submit","src":0,"dst":1,"bytes":5000000000}
{"call":"submit","src":0,"dst":1,"bytes":5,"at":60000000}
{"call":"advance","until_ps":50000000}
{"call":"cancel","transfer":0}
{"call":"cancel","transfer":1}
{"call":"advance","until_ps":50000001}
EOF
ends='"end_ps":50000000,"outcome":"cancelled"},{"transfer":1,"start_ps":50000000,"end_ps":50000000'
grep -q "$ends" "$work/said" || fail "cancelled transfers: $(cat "$work/said")"

# Wrong calls are answered one by one, and the session goes on.
cat >"$work/wrong" <<'EOF'
{"id": 1, "call": "jump"}
no json
[1]
{"id": 2, "call": "submit", "src": "host99", "dst": 1, "bytes": 1}
{"id": 3, "call": "submit", "src": 0, "dst": 0, "bytes": 1}
{"id": 4, "call": "submit", "src": 0, "dst": 1, "bytes": -1}
{"id": 5, "call": "submit", "src": 0, "dst": 1, "bytes": 1, "priority": 8}
{"id": 6, "call": "submit", "src": 0, "dst": 1, "bytes": 1, "verb": "push"}
{"id": 7, "call": "submit", "src": 0, "dst": 1, "bytes": 1, "size": 1}
{"id": 8, "call": "submit", "transfers": {}}
{"id": 9, "call": "advance"}
{"id": 10, "call": "advance", "until_ps": 100}
{"id": 11, "call": "advance", "until_ps": 99}
{"id": 12, "call": "submit", "src": 0, "dst": 1, "bytes": 1, "at": 99}
{"id": 13, "call": "cancel", "transfer": 7}
{"id": 14, "call": "back"}
{"id": 15, "call": "next_completion"}
EOF
"$ROCESIM" serve "$work/fabric.yaml" <"$work/wrong" >"$work/said" || fail "wrong calls end the program"
[ "$(grep -c '"ok":false' "$work/said")" = 15 ] || fail "wrong calls: $(grep -v '"ok":false' "$work/said")"
[ "$(wc -l <"$work/said")" = 17 ] || fail "not one answer a call: $(cat "$work/said")"
grep -q '"id":2,.*src: there is no host .host99.' "$work/said" ||
    fail "no host: $(grep '"id":2,' "$work/said")"
grep -q '"id":12,.*at: 99 ps has passed; the time is 100 ps' "$work/said" ||
    fail "$(grep '"id":12,' "$work/said")"
"$ROCESIM" serve "$work/none.yaml" </dev/null >"$work/said" 2>&1
[ $? = 2 ] || fail "a missing scenario ends with another status"
"$ROCESIM" serve "$work/fabric.yaml" --listen 0.0.0.0:1 </dev/null >"$work/said" 2>&1
{ [ $? = 2 ] && grep -q 'expected stdio, unix:PATH or 127.0.0.1:PORT' "$work/said"; } ||
    fail "$(cat "$work/said")"

# Requests and answers fit the schema that is installed. Debian's Python has jsonschema.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import jsonschema' 2>/dev/null || continue
    within 20 "$python" tests/sessions/protocol.py "$ROCESIM" "$work/fabric.yaml" \
        sessions/protocol.schema.json >"$work/said" 2>&1 || fail "protocol: $(tail -n 3 "$work/said")"
    break
done

# A server outlives its clients.
"$ROCESIM" serve "$work/fabric.yaml" --listen "unix:$work/socket" -o "$work/served" >"$work/server" 2>&1 &
server=$!
for _ in $(seq 100); do [ -S "$work/socket" ] && break; sleep 0.1; done
cat >"$work/victims.py" <<'EOF'
import os, random, sys
from rocesim import Session
draw = random.Random(1)
for number in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        session = Session(server="unix:" + sys.argv[1])
        session.submit(0, 5, 10**8)
        if draw.random() < 0.5:
            session.mark()
        session._socket.sendall(b'{"call":"advance","until_ps":100000000000}\n{"call":"ma')
        os._exit(0)
    draw.random()
    os.waitpid(child, 0)
with Session(server="unix:" + sys.argv[1]) as session:
    session.submit("host0", "host5", 100000)
    print("took", session.next_completion()[0]["end_ps"])
    session.finish()
EOF
within 20 python3 "$work/victims.py" "$work/socket" "$(few 100 8)" >"$work/said" 2>&1 ||
    fail "$(tail -n 3 "$work/said")"
grep -q '^took [0-9]' "$work/said" || fail "the server does not answer: $(cat "$work/said")"
# A process notices when its call ends.
for _ in $(seq 300); do [ "$(ls "$work/served" | wc -l)" = 1 ] && break; sleep 0.1; done
[ "$(ls "$work/served" | wc -l)" = 1 ] || fail "dead clients left folders: $(ls -R "$work/served" | head)"
kill "$server"
wait "$server" || fail "the server ended with status $?"
[ ! -e "$work/socket" ] || fail "the server left its socket"
[ "$failures" = 0 ]
