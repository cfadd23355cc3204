#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_pauses.sh - where pauses began, as summary.json, events.csv and the terminal say.
#
# Goal: a chain of pauses leads back to the port that is too slow, by name, with the ports it
# reached; pauses are told apart by their roots; all are accounted for; none are invented.
# Method: networks whose bottleneck is known by construction, so that the answer is; sums of the
# roots against the counters of the ports.
# Not pinned: which of several queues a pause is put down to where a switch has several.
set -u
. tests/script.sh
start_forks

# run NAME OPTIONS...: runs NAME.yaml into the folder NAME
run() {
    name=$1
    shift
    rocesim run "$name.yaml" -o "$name" --quiet "$@" >"$name.txt" 2>&1 || {
        fail "$name"
        cat "$name.txt"
    }
}

# roots NAME: "port ports hosts links_away" of each
roots() {
    sed -n '/"roots": \[/,/\]/p' "$1/summary.json" | tr -d '",' |
        awk '/ port:/ { p = $2 } / ports:/ { n = $2 } / hosts:/ { h = $2 }
             /links_away:/ { print p, n, h, $2 }'
}

# sum NAME FIELD: over the roots
sum() {
    sed -n '/"roots": \[/,/\]/p' "$1/summary.json" | tr -d '",' |
        awk -v field="$2:" '$1 == field { sum += $2 } END { printf "%.0f\n", sum }'
}

cd "$work" || exit 1

# -- one sender, three links, the last one ten times slower: one root, and all before it stopped

cat >chain.yaml <<'EOF'
topology:
  graph:
    nodes: [switch: [a, b], host: [h, r]]
    links: [h--a, a--b, {between: b--r, rate: 10Gbps}]
switch: {buffer: 4MB}
nic: {congestion-control: none}
traffic: [flows: {list: [h r 10MB 0us]}]
EOF
run chain
[ "$(roots chain)" = "b->r 2 1 2" ] || fail "a chain: '$(roots chain)', expected 'b->r 2 1 2'"
grep -q "began at b->r at .*: 2 ports stopped (1 of hosts) up to 2 links away" chain.txt ||
    fail "the terminal does not say where the pauses began"
awk -F, '$2 == "paused" { rows++; other += $5 != "b->r" } END { exit !(rows > 10 && other == 0) }' \
    chain/events.csv || fail "events.csv: a pause without its root"
# Each pause that took effect is put down to a root, with its time at the port that it stopped.
rows=$(grep -c ',paused,' chain/events.csv)
[ "$(sum chain pauses)" -eq "$rows" ] || fail "$(sum chain pauses) pauses have roots, $rows took effect"
paused=$(sed -n 's/.*"paused_ps": \([0-9]*\).*/\1/p' chain/summary.json | head -n 1)
[ "$(sum chain paused_ps)" = "$paused" ] || fail "time: $(sum chain paused_ps), ports: $paused"
first=$(awk -F, '$2 == "paused" { printf "%.0f", $1 * 1000; exit }' chain/events.csv)
[ "$(sum chain first_ps)" = "$first" ] || fail "first: $(sum chain first_ps), events.csv: $first"
# Cut while pauses are open, a word under way counts for nothing.
for until in 103us 200us 301us; do
    run chain --until $until
    paused=$(sed -n 's/.*"paused_ps": \([0-9]*\).*/\1/p' chain/summary.json | head -n 1)
    [ "$(sum chain paused_ps)" = "$paused" ] ||
        fail "$until: $(sum chain paused_ps) ps told, $paused stopped"
    [ "$paused" -gt 0 ] || fail "$until: nobody was stopped"
    rm -rf chain
done
run chain
rocesim run chain.yaml --quiet | grep -q "began at b->r" || fail "without -o nothing is said"
run chain --set switch.pfc.enabled=false --set nic.timeout=8
[ -z "$(roots chain)" ] || fail "roots without PFC: $(roots chain)"
grep -q "began" chain.txt && fail "the terminal tells of pauses without PFC"

# -- two slow receivers on two paths: each has its own

cat >two.yaml <<'EOF'
topology:
  graph:
    nodes: [switch: [a, b], host: [h0, h1, r0, r1]]
    links: [h0--a, {between: a--r0, rate: 10Gbps}, h1--b, {between: b--r1, rate: 25Gbps}]
nic: {congestion-control: none}
switch: {buffer: 4MB}
traffic: [flows: {list: [h0 r0 10MB 0us, h1 r1 10MB 100us]}]
EOF
run two
[ "$(roots two | sort)" = "$(printf '%s\n' 'a->r0 1 1 1' 'b->r1 1 1 1')" ] || fail "two: '$(roots two)'"

# -- a NIC that cannot keep up stops its switch: it is the root itself

cat >nic.yaml <<'EOF'
topology: {star: {hosts: 3, rate: 100Gbps}}
nic: {congestion-control: none}
nodes: {host0: {nic: {model: detailed, detailed: {rx: {put: 1us}}}}}
traffic: [flows: {list: [host1 host0 2MB 0us, host2 host0 2MB 0us]}]
EOF
run nic
roots nic | grep -q "^host0 " || fail "a slow NIC: '$(roots nic)'"
awk -F, '$2 == "paused" && $3 == "switch0->host0" { rows++; other += $5 != "host0" }
         END { exit !(rows > 0 && other == 0) }' nic/events.csv || fail "events.csv: a NIC's pauses"

# -- all pauses over time, though events.csv holds ten of them: the sums of ports.csv, class by class

run nic --set outputs.events-max=10
[ "$(grep -c paused nic/events.csv)" -le 10 ] || fail "events.csv was not cut"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) column[FILENAME, $i] = i; next }
         FILENAME ~ /ports/ { for (p = 0; p < 8; p++) told[$1, p] = $column[FILENAME, "paused_prio" p "_ns"] }
         FILENAME ~ /pauses/ { sum[$1, $2] += $5; rows++; wrong += $5 > $4 - $3 }
         END { for (key in told) { d = told[key] - sum[key]; wrong += d > 0.01 || d < -0.01 }
               exit !(rows > 20 && wrong == 0) }' nic/ports.csv nic/pauses.csv ||
    fail "pauses.csv does not add up to ports.csv"
rocesim plot nic --kind pause -o nic.gnuplot >nic.plot || fail "plot of a cut run"
grep -q "share of time stopped" nic.gnuplot || fail "no bins: $(cat nic.plot)"

[ "$failures" -eq 0 ] || {
    echo "rerun: ctest --test-dir build/release -R '^test_cli_pauses$' --output-on-failure"
    exit 1
}
