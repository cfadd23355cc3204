#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_faults.sh - any part of a network can fail, and the PFC watchdog breaks what lasts.
#
# Goal: a fault changes the part that is named, from then till then, and nothing else; it stands in
# events.csv; a slow receiver and a slow link give the rates they say; a storm stops exactly the ports
# whose traffic it blocks; a ring deadlock is named as its cycle, and broken after the detection time.
# Results do not depend on threads, nor on whether the scenario is the resolved one.
# Method: networks whose answer follows from the topology and the rates.
# Not pinned: how long recovery takes.
set -u
. tests/script.sh
start_forks
cd "$work" || exit 1

# run NAME OPTIONS...
run() {
    local name=$1
    shift
    rm -rf "$name"
    rocesim run "$name.yaml" -o "$name" --quiet "$@" >"$name.txt" 2>&1 || {
        fail "$name"
        tail -n 5 "$name.txt"
    }
}

events() { # NAME EVENT: time and port of each
    awk -F, -v event="$2" '$2 == event { print $1, $3 }' "$1/events.csv"
}

# -- one of a bundle, a node, a NIC's link, a flap: what goes down is what was named

cat >parts.yaml <<'EOF2'
topology:
  leaf-spine:
    {leaves: 2, spines: 2, hosts-per-leaf: 2, links-per-spine: 2, host-rate: 100Gbps, fabric-rate: 100Gbps}
network: {convergence: 20us}
nic: {timeout: 8}
traffic: [flows: {list: [host0 host2 9MB 0us, host1 host3 9MB 0us, host3 host0 9MB 1us]}]
faults:
  - {part: "leaf0--spine0#2", at: 100us, until: 150us}
  - {part: spine1, at: 120us, until: 200us}
  - {part: "spine1--leaf0#1", at: 130us, until: 210us}
  - {part: host1/nic0, at: 300us, until: 305us, every: 50us, times: 2}
  - {part: "host2--leaf1", kind: bit-errors, bit-error-rate: 1e-7, at: 400us, until: 600us}
EOF2
run parts
[ "$(events parts link_down | sort -k1n -k2)" = "$(sort -k1n -k2 <<'EOF2'
100000 leaf0->spine0#2
100000 spine0->leaf0#2
120000 leaf0->spine1
120000 leaf0->spine1#2
120000 leaf1->spine1
120000 leaf1->spine1#2
120000 spine1->leaf0
120000 spine1->leaf0#2
120000 spine1->leaf1
120000 spine1->leaf1#2
300000 host1->leaf0
300000 leaf0->host1
350000 host1->leaf0
350000 leaf0->host1
EOF2
)" ] || fail "parts: down: $(events parts link_down)"
# What two faults hold down is up when both are over.
events parts link_up | grep -qx '210000 spine1->leaf0' || fail "parts: $(events parts link_up)"
events parts link_up | grep -qx '200000 spine1->leaf0#2' || fail "parts: a bundle's member"
grep -q ',fault,host2->leaf1,,bit-errors' parts/events.csv || fail "parts: no fault in events.csv"
grep -q '"completed": 3' parts/summary.json || fail "parts: not all flows"
digest=$(grep '"digest"' parts/summary.json)
for options in "parts.yaml --threads 2" "parts/scenario.yaml"; do
    # shellcheck disable=SC2086 # a name and options
    rocesim run $options -o again --quiet >/dev/null
    [ "$(grep '"digest"' again/summary.json)" = "$digest" ] || fail "$options: another digest"
    rm -rf again
done

# -- rates: 16 MB at 40 Gbps are 3.2 ms of payload, and 2 % of headers, preambles and gaps

for kind in "degraded" "slow-receiver"; do
    cat >rate.yaml <<EOF2
topology: {star: {hosts: 3, rate: 100Gbps}}
nic: {congestion-control: none}
traffic: [flows: {list: [host0 host1 16MB 0us, host0 host2 1KB 4ms]}]
faults: [{part: host1, kind: $kind, rate: 40Gbps}]
EOF2
    run rate
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
             NR > 1 && $c["bytes"] == 16000000 { ok = $c["fct_ns"] > 3.2e6 && $c["fct_ns"] < 3.4e6 }
             END { exit !ok }' rate/flows.csv || fail "$kind: $(cut -d, -f1-10 rate/flows.csv)"
    [ "$kind" = degraded ] || grep -q 'began at host1 at' rate.txt || fail "nobody sees the slow receiver"
done
awk -F, '$2 == "drop"' rate/events.csv | grep -q . && fail "a slow receiver lost something"

# -- a storm: with the victim's leaf, spines and senders, and with nothing else

cat >storm.yaml <<'EOF2'
topology:
  leaf-spine: {leaves: 3, spines: 1, hosts-per-leaf: 2, host-rate: 100Gbps, fabric-rate: 100Gbps}
until: 3ms
switch: {buffer: 2MB, ecn: {enabled: false}}
nic: {congestion-control: none, timeout: 0}
traffic: [flows: {list: [host2 host0 20MB 0us, host4 host5 20MB 0us]}]
faults: [{part: host0, kind: pause-storm, at: 100us, until: 2ms}]
EOF2
run storm
stopped=$(awk -F, '$2 == "paused" { print $3 }' storm/events.csv | sort -u | tr '\n' ' ')
[ "$stopped" = "host2->leaf1 leaf0->host0 leaf1->spine0 spine0->leaf0 " ] || fail "storm: $stopped stopped"
awk -F, '$2 == "paused" && $5 != "host0"' storm/events.csv | grep -q . && fail "storm: another root"
[ -z "$(events storm storm)" ] || fail "a storm is broken without a watchdog"
grep -q ',fault,host0->leaf0,,pause-storm' storm/events.csv || fail "storm: not in events.csv"
# With one where the victim is, what waits is dropped from the detection time on, and the senders go on.
cat >>storm.yaml <<'EOF2'
nodes: {leaf0: {switch: {pfc: {watchdog: drop, watchdog-detect: 400us, watchdog-restore: 400us}}}}
EOF2
run storm
[ "$(events storm storm | wc -l)" -ge 1 ] || fail "watchdog: no storm"
events storm storm | awk '$2 != "leaf0->host0" || $1 < 500000 || $1 > 580000 { exit 1 }' ||
    fail "watchdog: $(events storm storm)"
events storm storm_over | awk '$1 < 2000000 { exit 1 } { n++ } END { exit n != 1 }' ||
    fail "watchdog: over at $(events storm storm_over)"
awk -F, '$2 == "paused" && $1 > 700000 && $3 != "leaf0->host0"' storm/events.csv | grep -q . &&
    fail "watchdog: the storm spreads on"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
         $1 == "leaf0->host0" { ok = $c["pfcwd_detected_prio3"] == 1 && $c["pfcwd_restored_prio3"] == 1 &&
             $c["pfcwd_dropped_prio3"] > 100 } END { exit !ok }' storm/ports.csv || fail "watchdog: counters"

# -- a ring: named, and broken

cat >ring.yaml <<'EOF2'
until: 1s
stall-after: 10ms
topology:
  graph:
    nodes: [switch: [s0, s1, s2], host: [h0, h1, h2]]
    links: [s0--s1, s1--s2, s2--s0, h0--s0, h1--s1, h2--s2]
switch: {buffer: 4MB}
nodes: {"h*": {nic: {congestion-control: none, timeout: 8}}}
traffic: [flows: {list: [h0 h1 9MB 0us, h1 h2 9MB 0us, h2 h0 9MB 0us]}]
faults: [{part: s0--s1, at: 1us}, {part: s0--s1, at: 3us, until: 4us}]
EOF2
rocesim check ring.yaml >/dev/null 2>&1 || fail "a link of a graph cannot fail"
sed -e 's/timeout: 0/timeout: 8/' "$OLDPWD/scenarios/pfc-deadlock.yaml" >ring.yaml
rocesim run ring.yaml --quiet >ring.txt 2>&1 && fail "the ring does not stall"
grep -q 'PFC deadlock, each waits for the next: s0->s1, s1->s2, s2->s3, s3->s4, s4->s0, s0->s1' ring.txt ||
    fail "ring: $(tail -n 1 ring.txt)"
for action in drop ignore; do
    run ring --set switch.pfc.watchdog=$action --set switch.pfc.watchdog-detect=800us \
        --set switch.pfc.watchdog-restore=800us
    grep -q '"completed": 5' ring/summary.json || fail "ring, $action: not all flows"
    # Full at about 180 us.
    events ring storm |
        awk 'NR == 1 && ($1 < 980000 || $1 > 1200000) { exit 1 } $2 !~ /^s.->s.$/ { exit 1 }' ||
        fail "ring, $action: $(events ring storm | head -n 5)"
done

# -- a storm that begins in a window after the last event is none: the run ends as without it

printf 'topology: {star: {hosts: 3, delay: 8us}}\n' >over.yaml
printf 'traffic: [flows: {list: [host1 host0 80KB 0us]}]\n' >>over.yaml
rocesim run over.yaml -o over --quiet >over.txt || fail "over: exit status"
for at in 40.9us 44us 60us; do
    storm="{part: host2, kind: pause-storm, at: $at, until: 340us}"
    rocesim run over.yaml -o late --quiet --set "faults=[$storm]" >late.txt || fail "late: $?"
    cmp over/ports.csv late/ports.csv || fail "a storm at $at, after the end, changes ports.csv"
    grep sim_time_ps over/summary.json | diff - <(grep sim_time_ps late/summary.json) ||
        fail "a storm at $at goes on after the end"
done

# -- one NIC's link of several, by its name, in links and in faults; several parts in one fault

cat >nics.yaml <<'EOF2'
topology:
  graph:
    nodes: [{switch: [s0, s1]}, {host: [a, b]}]
    links: [a--s0, a--s1, b--s0, b--s1, s0--s1]
links:
  "a/nic1--*": {rate: 40Gbps, down: [{at: 10us, until: 20us}]}
traffic: [incast: {to: a, from: b, bytes: 1MB}]
faults:
  - {part: "[b/nic0--*, s1--b]", at: 30us, until: 40us}
captures:
  - {ports: "[s0->a/nic0, s1->a/nic1]", file: one.pcap}
  - {ports: "[s1->a/nic1, s0->a/nic0]", file: two.pcap}
EOF2
run nics
[ "$(events nics link_down | sort -k1n -k2 | tr '\n' ' ')" = \
    "10000 a->s1 10000 s1->a 30000 b->s0 30000 b->s1 30000 s0->b 30000 s1->b " ] ||
    fail "nics: $(events nics link_down)"
cmp nics/captures/one.pcap nics/captures/two.pcap ||
    fail "nics: captures depend on which port is named first"
[ "$(wc -c <nics/captures/one.pcap)" -gt 1000000 ] || fail "nics: captures miss a port"
rocesim topo nics.yaml 2>/dev/null | grep -q '"s1" -- "a" .*40Gbps' || fail "nics: not the rate of a/nic1"
[ "$(rocesim topo nics.yaml 2>/dev/null | grep -c 40Gbps)" = 1 ] || fail "nics: more than one link"

# -- a value that the kind does not use is told, also where the kind was forgotten

told() { # TEXT-OF-FAULT EXPECTED, which is empty where nothing is to be told
    printf 'topology: {star: {hosts: 3}}\ntraffic: [incast: {to: host0}]\n' >told.yaml
    printf 'faults: [%s]\n' "$1" >>told.yaml
    rocesim check told.yaml >told.txt 2>&1 || fail "$1: refused"
    [ "$(grep -o "does not use '[a-z-]*'" told.txt)" = "${2:+does not use '$2'}" ] ||
        fail "$1: $(cat told.txt)"
}
told '{part: host1, rate: 25Gbps, until: 1ms}' rate
told '{part: host1, kind: degraded, loss-rate: 0.01}' loss-rate
told '{part: host1, kind: slow-receiver, bit-error-rate: 1e-6}' bit-error-rate
told '{part: host1, kind: bit-errors, priorities: [4]}' priorities
told '{part: host1, kind: degraded, rate: 25Gbps}' ''
told '{part: host1, kind: slow-receiver, rate: 20Gbps, priorities: [4]}' ''
told '{part: host1, kind: pause-storm, priorities: [4]}' ''
told '{part: host1, kind: bit-errors, bit-error-rate: 1e-6, loss-rate: 0.01}' ''
told '{part: host1, until: 1ms}' ''

# The fourth of these times is beyond what a run can last, and beyond 2^64 ps by 10 us.
run parts --set 'faults=[{part: host1, at: 0us, until: 1us, every: 6148914691240000000ps, times: 4}]'
[ "$(events parts link_down | wc -l)" -eq 2 ] || fail "a flap beyond the end: $(events parts link_down)"

# -- what cannot be

bad() { # TEXT-OF-FAULTS EXPECTED
    printf 'topology: {star: {hosts: 3}}\ntraffic: [incast: {to: host0}]\nfaults: [%s]\n' "$1" >bad.yaml
    rocesim check bad.yaml >bad.txt 2>&1
    [ $? -eq 2 ] || fail "$1: not refused"
    grep -qF "$2" bad.txt || fail "$1: $(cat bad.txt)"
}
bad '{part: hots1}' "did you mean"
bad '{part: "host1--host2"}' "matches no link"
bad '{part: "host["}' "'[' without ']'"
bad '{part: "[host0--*, host["}' "'[' without ']'"
bad '{part: "host0--"}' "empty pattern"
bad '{at: 1ms}' "no part"
bad '{part: host1, at: 2ms, until: 1ms}' "ends before it begins"
bad '{part: host1, at: 1ms, until: 2ms, every: 500us, times: 3}' "comes again before it ends"
bad '{part: host1, times: 3}' "expected 'every'"
bad '{part: host1, kind: degraded}, {part: "host1--switch0", kind: degraded, at: 1ms}' "already"
bad '{part: host1, kind: broken}' "is not one of"
exit $((failures > 0))
