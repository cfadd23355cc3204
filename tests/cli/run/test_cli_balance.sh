#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_balance.sh - every load balancer with every transport and congestion control.
#
# Goal: whatever chooses the paths, all transfers end, no byte is delivered twice or lost without a count,
# results do not depend on threads, and captures are clean in tshark. What does not go together is refused
# with the reason. The summary tells of reordering exactly where packets can be reordered.
# Method: a small leaf-spine with losses and slow links, as many runs as balancers x transports, with the
# congestion controls in turn; in the long form each with all of them.
# Not pinned: how fast a balancer is (test_balance.c, docs/models/load-balancing.md).
set -u
. tests/script.sh
start_forks
balancers=(ecmp wecmp random round-robin adaptive drill letflow conga conweave valiant ugal structured)
transports=(go-back-n place irn adamap sdr uec-rud uec-rod mrc) # place: go-back-n with nic.ooo
controls=(none dcqcn timely timely-patched dctcp hpcc hpcc-pint swift)

# The lists are those of the program.
for name in "${balancers[@]}"; do
    rocesim params switch.load-balancing | grep -q "\b$name\b" || fail "$name is not told by params"
done
cat >"$work/mesh.yaml" <<'YAML'
until: 40ms
topology:
  leaf-spine: {leaves: 3, spines: 3, hosts-per-leaf: 2, host-rate: 100Gbps, fabric-rate: 40Gbps}
switch: {buffer: 1MB, ecn: {kmin: 20KB, kmax: 80KB}, conweave: {reply: 9us}, letflow: {gap: 10us}}
link: {loss-rate: 1/2000}
nic: {timeout: 4, mtu: 1024}
traffic:
  - permutation: {hosts: host*, bytes: 200KB}
YAML

value() { # FILE KEY: the first number of that name
    grep -m 1 "\"$2\":" "$1" | tr -dc '0-9'
}

number=0
balance() { # BALANCER TRANSPORT CONTROL THREADS: runs on one thread and on more, and compares
    local what="$1, $2, $3" options file=$work/t1/summary.json threads
    options=(--set "switch.load-balancing=$1" --set "nic.congestion-control=$3"
        --set "nic.transport=${2/place/go-back-n}" --quiet)
    [ "$2" != place ] || options+=(--set nic.ooo=place)
    case $1 in
    plb | flowbender | reps) options+=(--set switch.load-balancing=ecmp --set "nic.repath=$1") ;;
    structured) options+=(--set network.load-balancer=structured) ;;
    esac
    case $2 in
    uec* | mrc) options+=(--set nic.priority=1 --set nic.ack-priority=6 --set switch.mmu=trimming) ;;
    esac
    for threads in 1 "$4"; do
        within 20 rocesim run "$work/mesh.yaml" -o "$work/t$threads" "${options[@]}" \
            --threads "$threads" >"$work/out" 2>&1 || fail "$what: $(tail -n 1 "$work/out")"
    done
    cmp -s "$work/t1/flows.csv" "$work/t$4/flows.csv" || fail "$what: flows on $4 threads"
    [ "$(grep '"digest"' "$file")" = "$(grep '"digest"' "$work/t$4/summary.json")" ] ||
        fail "$what: digest on $4 threads"
    grep -q '"ok": true' "$file" || fail "$what: not conserved"
    [ "$(value "$file" completed)" = "$(value "$file" count)" ] || fail "$what: transfers are missing"
    # Each byte is accepted once.
    [ "$(value "$file" rx_data_bytes)" = "$(value "$file" delivered_bytes)" ] ||
        fail "$what: $(value "$file" rx_data_bytes) bytes accepted"
}

for balancer in "${balancers[@]}" plb flowbender reps; do # the last three: rules of senders
    for transport in "${transports[@]}"; do
        number=$((number + 1))
        chosen=("${controls[@]}")
        [ -n "${TEST_LONG:-}" ] || chosen=("${controls[number % ${#controls[@]}]}")
        sometimes 4 || continue
        case $transport in
        uec* | mrc) # they have their own control, and rules of senders for paths
            case $balancer in plb | flowbender | reps) continue ;; esac
            chosen=(none) ;;
        esac
        for control in "${chosen[@]}"; do
            balance "$balancer" "$transport" "$control" $((2 + 2 * (number % 2)))
        done
    done
done

# -- sprayed transports on every topology

cp "$work/mesh.yaml" "$work/leaf.yaml"
number=0
for topology in star fat-tree dumbbell dragonfly dragonfly-plus torus hyperx slim-fly rail-optimised \
    dual-tor multi-plane; do
    number=$((number + 1))
    sed -e "s|leaf-spine: .*|$topology: {}|" -e 's|buffer: 1MB|pfc: {enabled: false}, buffer: 4MB|' \
        -e "s|{hosts: host\*, bytes: 200KB}|{hosts: 'host[0-15]', bytes: 50KB}|" \
        "$work/leaf.yaml" >"$work/mesh.yaml"
    [ "$topology" != star ] || sed -i 's|star: {}|star: {hosts: 16}|' "$work/mesh.yaml"
    sometimes 2 || continue
    [ $((number % 2)) = 0 ] || balance ecmp uec-rud none 2
    balance ecmp mrc none 4
done
mv "$work/leaf.yaml" "$work/mesh.yaml"

# -- reordering is told where it can happen

sed 's|^link:.*|link: {loss-rate: 0}|' "$work/mesh.yaml" >"$work/clean.yaml"
reordered() { # BALANCER
    rocesim run "$work/clean.yaml" -o "$work/r" --quiet --set "switch.load-balancing=$1" \
        --set nic.transport=irn >"$work/out" 2>&1 || fail "$1: $(tail -n 1 "$work/out")"
    grep -A 1 '"reordering": {' "$work/r/summary.json" | tr -dc '0-9'
}
# A receiver that places packets needs no retransmission where nothing is lost.
retransmitted() { # OOO
    rocesim run "$work/clean.yaml" -o "$work/r" --quiet --set switch.load-balancing=random \
        --set "nic.ooo=$1" >"$work/out" 2>&1 || fail "ooo $1: $(tail -n 1 "$work/out")"
    value "$work/r/summary.json" retransmitted_packets
}
# IRN under a spray: with `all`, each ACK ends a recovery (2466 packets are sent again; 2227 if only the
# packets sent before it do), with `missing` what is late is sent again (526).
recovered() { # RECOVERY
    rocesim run scenarios/fabrics/fabric.yaml -o "$work/r" --quiet --set hosts=16 --set per_leaf=4 \
        --set bytes=1MB --set balance=random --set "nic.irn.recovery=$1" >"$work/out" 2>&1 ||
        fail "recovery $1: $(tail -n 1 "$work/out")"
    value "$work/r/summary.json" retransmitted_packets
}
[ "$(recovered all)" -gt 2350 ] && [ "$(recovered missing)" -lt 700 ] || fail "recoveries of IRN"
[ "$(retransmitted off)" -gt 0 ] || fail "go-back-N does not go back"
[ "$(retransmitted place)" = 0 ] || fail "placed packets are sent again"
sed -i 's/bytes: 200KB/&, verb: read, messages: 2/' "$work/clean.yaml"
[ "$(retransmitted off)" -gt 0 ] || fail "go-back-N does not go back for READs"
[ "$(retransmitted place)" = 0 ] || fail "placed responses are asked for again"
[ "$(value "$work/r/summary.json" rx_data_bytes)" = 2400000 ] || fail "READs bring other bytes"
sed -i 's/, verb: read, messages: 2//' "$work/clean.yaml"
[ "$(reordered ecmp)" = 0 ] || fail "ECMP reorders"
[ "$(reordered random)" -gt 0 ] || fail "a random spray does not reorder"
grep -q '"link_imbalance"' "$work/r/summary.json" || fail "no imbalance"
[ "$(awk -F, 'NR == 1 { while ($++c != "reordered_packets") { } next } { sum += $c } END { print sum }' \
    "$work/r/flows.csv")" = \
    "$(grep -A 1 '"reordering": {' "$work/r/summary.json" | tr -dc '0-9')" ] ||
    fail "flows.csv and the summary do not agree on reordering"

# -- senders that leave congested paths: marks make them use more ports than their first hashes

cat >"$work/pairs.yaml" <<'YAML'
topology:
  leaf-spine: {leaves: 2, spines: 8, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 40Gbps}
switch: {ecn: {kmin: 20KB, kmax: 80KB}}
nic: {transport: irn, plb: {rounds: 1}}
traffic: [permutation: {hosts: host*, bytes: 2MB}]
YAML
used() { # RULE CONTROL THREADS
    rocesim run "$work/pairs.yaml" -o "$work/p" --quiet --set "nic.repath=$1" \
        --set "nic.congestion-control=$2" --threads "$3" >"$work/out" 2>&1 ||
        fail "$1: $(tail -n 1 "$work/out")"
    value "$work/p/summary.json" paths_used
}
for control in dctcp dcqcn; do # marks in ACKs; CNPs
    before=$(used off "$control" 1)
    for rule in plb flowbender; do
        after=$(used "$rule" "$control" 1)
        [ "$after" -gt "$before" ] || fail "$rule with $control uses $after ports, without $before"
        [ "$(used "$rule" "$control" 2)" = "$after" ] || fail "$rule with $control on two threads"
    done
done

# -- what balancers know and do is told as series

cat >"$work/told.yaml" <<'YAML'
observe:
  - {series: "switch[leaf0].balance_flowlets", every: 20us}
  - {series: "switch[leaf0].balance_known_paths", every: 20us}
  - {series: "switch[leaf0].balance_reroutes", every: 20us}
  - {series: "switch[leaf0].balance_held_bytes", every: 1us}
  - {series: "switch[leaf0].balance_remembered", every: 20us}
  - {series: "switch[leaf0].balance_flows", every: 20us}
YAML
cat "$work/clean.yaml" >>"$work/told.yaml"
tells() { # BALANCER METRIC...
    local balancer=$1
    shift
    rocesim run "$work/told.yaml" -o "$work/p" --quiet --set "switch.load-balancing=$balancer" \
        --set switch.conweave.reply=5us >"$work/out" 2>&1 || fail "$balancer: $(tail -n 1 "$work/out")"
    for metric in "$@"; do
        grep "balance_$metric," "$work/p/series.csv" |
            grep -qv ',0$' || fail "$balancer tells no balance_$metric"
    done
}
tells letflow flows flowlets
tells conga flows flowlets known_paths
tells conweave flows reroutes held_bytes
tells drill remembered

# -- striping: a message split over queue pairs uses more paths, and is told as a whole

striped() { # QPS KEY
    sed "s/bytes: 2MB/bytes: 500KB, qps: $1/" "$work/pairs.yaml" >"$work/striped.yaml"
    rocesim run "$work/striped.yaml" -o "$work/p" --quiet >"$work/out" 2>&1 ||
        fail "qps $1: $(tail -n 1 "$work/out")"
    value "$work/p/summary.json" "$2"
}
[ "$(striped 8 sim_time_ps)" -lt "$(striped 1 sim_time_ps)" ] || fail "stripes are not faster"
[ "$(striped 8 paths_used)" -gt "$(striped 1 paths_used)" ] || fail "stripes use no more ports"
[ "$(striped 3 count)" = 24 ] || fail "eight messages over three queue pairs are not 24 transfers"
grep -A 3 '"rows": {' "$work/p/summary.json" | grep -q '"completed": 8' || fail "rows of stripes are not told"

# -- REPS: it leaves slow links, where random paths do not; it survives a dead spine and losses

cat >"$work/slow.yaml" <<'YAML'
topology:
  leaf-spine: {leaves: 2, spines: 4, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps}
links: {"leaf0--spine[0-1]": {rate: 50Gbps}}
switch: {ecn: {kmin: 20KB, kmax: 80KB}}
nic: {timeout: 4, repath: reps, congestion-control: dctcp, ooo: place}
traffic: [permutation: {hosts: host*, bytes: 500KB, stride: 4}]
YAML
reps() { # KEY OPTION...: a number of the summary
    local key=$1
    shift
    rocesim run "$work/slow.yaml" -o "$work/p" --quiet "$@" >"$work/out" 2>&1 ||
        fail "reps: $(tail -n 1 "$work/out")"
    value "$work/p/summary.json" "$key"
}
random=$(reps sim_time_ps --set nic.reps.cache=0)
recycled=$(reps sim_time_ps)
[ $((recycled * 10)) -lt $((random * 9)) ] || fail "REPS takes $recycled, random paths $random"
digest=$(reps digest)
[ "$(reps digest --threads 2)" = "$digest" ] || fail "REPS on two threads"
for transport in go-back-n irn adamap sdr; do
    options=(--set "nic.transport=$transport" --set link.loss-rate=1/2000)
    [ $transport = go-back-n ] || options+=(--set nic.ooo=off)
    [ "$(reps completed "${options[@]}")" = 8 ] || fail "REPS with $transport loses transfers"
done
# Only the frozen ring avoids a link that has failed behind the spine, of which routing does not know yet.
sed -i 's/500KB/1MB/' "$work/slow.yaml"
dead=(--set 'faults=[{part: leaf1--spine3, at: 20us, until: 1s}]' --set network.convergence=1s)
frozen=0
drawn=0
for seed in 1 2 3 4; do # one draw of random paths proves nothing
    frozen=$((frozen + $(reps retransmitted_packets "${dead[@]}" --seed $seed)))
    drawn=$((drawn + $(reps retransmitted_packets "${dead[@]}" --seed $seed --set nic.reps.freeze=0ps)))
done
[ "$((frozen * 4))" -lt "$((drawn * 3))" ] || fail "a frozen ring loses $frozen packets, another one $drawn"

# -- Swift hears of the time in the hosts' NICs: a target below it stops nearly everything

hosts() { # TARGET MODEL
    rocesim run "$work/pairs.yaml" -o "$work/p" --quiet --set nic.congestion-control=swift \
        --set "nic.swift.host-target=$1" --set "nic.model=$2" --set until=500us >"$work/out" 2>&1 ||
        fail "swift: $(tail -n 1 "$work/out")"
    value "$work/p/summary.json" delivered_bytes
}
[ $(($(hosts 20ns detailed) * 2)) -lt "$(hosts 100us detailed)" ] || fail "Swift does not hear of hosts"
[ "$(hosts 20ns ideal)" = "$(hosts 100us ideal)" ] || fail "ideal NICs have a delay"

# -- what does not go together

refused() { # TEXT OPTION...
    local text=$1
    shift
    rocesim check "$work/mesh.yaml" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] || fail "$*: not refused"
    grep -q -- "$text" "$work/out" || fail "$*: $(cat "$work/out")"
}
refused 'no load balancer "drll"' --set switch.load-balancing=drll
refused 'expected both to be hpcc' --set switch.load-balancing=hpcc
refused 'knows no headers' --set switch.load-balancing=conga --set switch.mmu=hpcc
refused 'at all hosts or at none' --set 'nodes={host0: {nic: {repath: reps}}}'
refused 'which chooses paths itself' --set nic.repath=reps --set network.load-balancer=drill
refused 'other transports keep packets anyway' --set nic.transport=irn --set nic.ooo=place
cat >>"$work/mesh.yaml" <<'YAML'
nodes: {"spine0": {switch: {load-balancing: ecmp}}}
YAML
refused 'at every switch or at none' --set switch.load-balancing=conweave

# -- captures

if command -v tshark >/dev/null; then
    cat >>"$work/clean.yaml" <<'YAML'
captures: [{ports: "leaf0->*", file: c.pcap, telemetry: true}]
YAML
    for balancer in drill conga "conga rules=conweave-ns3" conweave; do
        rocesim run "$work/clean.yaml" -o "$work/c" --quiet --set "switch.load-balancing=${balancer% *}" \
            --set "switch.conga.$([[ $balancer = *rules=* ]] && echo "${balancer#* }" || echo rules=paper)" \
            --set switch.conweave.reply=1us --set nic.transport=irn >"$work/out" 2>&1 ||
            fail "$balancer: $(tail -n 1 "$work/out")"
        tshark -n -o eth.fcs:Never -r "$work/c/captures/c.pcap" -Y '_ws.malformed' >"$work/bad" 2>/dev/null
        [ ! -s "$work/bad" ] || fail "$balancer: $(head -n 1 "$work/bad")"
    done
    for transport in mrc uec-rud; do
        for balancer in conga conweave; do
            rocesim run "$work/clean.yaml" -o "$work/m" --quiet --set "switch.load-balancing=$balancer" \
                --set nic.transport=$transport --set nic.congestion-control=none >"$work/out" 2>&1 ||
                fail "$transport, $balancer: $(tail -n 1 "$work/out")"
            tshark -n -o eth.fcs:Never -r "$work/m/captures/c.pcap" -Y '_ws.malformed' \
                >"$work/bad" 2>/dev/null
            [ ! -s "$work/bad" ] || fail "$transport, $balancer: $(head -n 1 "$work/bad")"
        done
    done
    # Requests and replies of ConWeave are in the trailer: kinds 2 and 3 in bits 8 to 10.
    tshark -n -o eth.fcs:Never -r "$work/c/captures/c.pcap" -T fields -e eth.trailer 2>/dev/null |
        grep -q '^..[4567]' || fail "no header of ConWeave asks for a reply"
fi
[ "$failures" -eq 0 ]
