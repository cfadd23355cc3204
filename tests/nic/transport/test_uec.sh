# SPDX-License-Identifier: Apache-2.0
# tests/nic/transport/test_uec.sh - Ultra Ethernet end to end: sprayed packets, trimming, windows.
#
# Goal: times, retransmissions and ACKs are those of the public simulator of Ultra Ethernet (its values stand
# here; docs/models/uec.md has the whole table); each trimmed packet is sent again once, nothing is lost or
# comes twice; runs are equal on 1, 2 and 4 threads; both transports run collectives; wrong settings are
# refused; captures are read by tshark. Method: scenarios/uec/uec.yaml at the sizes of its runs.
# Not pinned: the order of packets.
. tests/script.sh
program=$ROCESIM
scenario=scenarios/uec/uec.yaml

# run NAME OPTIONS...: a run into $work/NAME, whose numbers are then in $work/NAME.facts
run() {
    within 20 "$program" run $scenario -o "$work/$1" "${@:2}" >"$work/$1.txt" 2>&1 ||
        fail "$1: $(tail -1 "$work/$1.txt")"
    python3 -c 'import json, sys
summary = json.load(open(sys.argv[1]))
flows = summary["flows"]
print("digest", summary["digest"], "\ncompleted", flows["completed"])
print("mean", flows["fct_us"]["mean"], "\nmax", flows["fct_us"]["max"])
print("dropped", summary["packets"]["dropped"])
print("finish", summary["apps"][0]["finish_us"]["max"])
transports = [t for nic in summary["nics"] for t in nic.get("transports", {}).values()]
for name in transports[0]:
    print(name, sum(t[name] for t in transports))' "$work/$1/summary.json" >"$work/$1.facts"
}
# value NAME FACT
value() { sed -n "s/^$2 //p" "$work/$1.facts"; }
# near NAME WORDS VALUE EXPECTED PERCENT
near() {
    awk -v v="$3" -v e="$4" -v p="$5" 'BEGIN { exit !(v >= e * (1 - p / 100) && v <= e * (1 + p / 100)) }' ||
        fail "$1: $2 is $3, expected $4 within $5 %"
}

run one --set k=4 --set pattern=list
near one "FCT in us" "$(value one mean)" 176.2 0.01
near one ACKs "$(value one sacks)" 124 0

# NSCC's window begins with 1.5 x 100 Gbps x 14.02272 us, and series tell each change of it.
{
    cat $scenario
    echo "observe:"
    echo "  - {series: 'qp[host0:*].cwnd_bytes', on: change}"
    echo "  - {series: 'qp[host0:*].credit_bytes', every: 1us}"
} >"$work/observed.yaml"
within 20 "$program" run "$work/observed.yaml" -o "$work/series" --quiet --set k=4 --set pattern=incast \
    --set cc=both --set bytes=1MB >/dev/null 2>&1 || fail "the run with series"
awk -F, '/cwnd_bytes/ { n++; if (n == 1) first = $3; if (($3 > 0 && $3 < least) || n == 1) least = $3 }
    /credit_bytes/ { if ($3 > 0 && $1 > 30000) credit = 1 }
    END { exit !(first == 262926 && least < 250000 && n > 10 && credit) }' "$work/series/series.csv" ||
    fail "the series of NSCC and credit: $(head -3 "$work/series/series.csv")"

# Flows of one NIC share the window that they ask credit for: each for itself, they would hold 930 KB.
{
    cat $scenario
    echo "observe: [{series: 'qp[host0:*].credit_bytes', every: 5us}]"
} >"$work/shared.yaml"
within 20 "$program" run "$work/shared.yaml" -o "$work/shared" --quiet --set k=4 --set cc=rccc \
    --set pattern=list --set nic.uec.demand=window \
    --set 'list=[host0 host12 1MB 0us,host0 host13 1MB 0us,host0 host14 1MB 0us,host0 host15 1MB 0us]' \
    >/dev/null 2>&1 || fail "the run of four flows with credit"
awk -F, '/credit_bytes/ && $1 > 60000 { sum[$1] += $3 }
    END { for (t in sum) most = sum[t] > most ? sum[t] : most
        exit !(most > 0 && most < 262926 + 4 * 4 * 4150) }' \
    "$work/shared/series.csv" || fail "flows of one NIC hold more credit than a window"

leaf="--set topology=leaf-spine --set stride=32 --set bytes=200KB"
run shift $leaf
[ "$(value shift lost)" = 0 ] || fail "shift: packets were lost"
near shift "the last finish in us" "$(value shift finish)" "$(value shift max)" 0.01
run incast --set k=4 --set pattern=incast --set bytes=1MB
near incast "mean FCT in us" "$(value incast mean)" 620 10
near incast "largest FCT in us" "$(value incast max)" 682 4
trimmed=$(value incast trimmed)
near incast retransmissions "$(value incast retransmitted)" 405 10
[ "$trimmed" = "$(value incast retransmitted)" ] && [ "$trimmed" = "$(value incast nacks)" ] ||
    fail "incast: $trimmed trimmed, $(value incast nacks) NACKs, $(value incast retransmitted) sent again"
[ "$(value incast dropped)" = 0 ] || fail "incast: packets were dropped"

# The receiver's credit alone: senders get equal shares, and nothing waits for a time-out.
run credit --set k=4 --set pattern=incast --set bytes=1MB --set cc=rccc
near credit "mean FCT in us" "$(value credit mean)" 659 3
near credit "largest FCT in us" "$(value credit max)" 665.3 0.5
near credit retransmissions "$(value credit retransmitted)" 302 7
[ "$(value credit lost)" = 0 ] || fail "credit: packets were lost"
# A packet that uses up the credit asks for an ACK.
near credit ACKs "$(value credit sacks)" 793 2

# Without trimming, arrivals ahead show losses: a time-out of 401 us would end the incast at 950 us.
run drop --set k=4 --set pattern=incast --set bytes=1MB --set trimming=false --set queue=5
near drop "largest FCT in us" "$(value drop max)" 700 8
[ "$(value drop dropped)" -gt 100 ] && [ "$(value drop trimmed)" = 0 ] || fail "drop: nothing was dropped"

# Fifteen senders: SLEEK repeats what was dropped once, and little else.
run sleek --seed 4 --set k=4 --set pattern=incast --set senders=15 --set bytes=1MB --set trimming=false \
    --set queue=5
near sleek "mean FCT in us" "$(value sleek mean)" 1095 5
near sleek "largest FCT in us" "$(value sleek max)" 1247 5
near sleek retransmissions "$(value sleek retransmitted)" 422 20

# Four links from the cores down to one switch are slow, and so are flows to its pod.
run slow --set balance=bitmap --set ack_bytes=4000 --set slow_links=four
near slow "mean FCT in us" "$(value slow mean)" 199.6 3
near slow retransmissions "$(value slow retransmitted)" 404 40

# A matrix of connections on a fabric in a file, whose round trip sets windows and queues.
cat >"$work/four.topo" <<'END'
Nodes 16
Tiers 2
Podsize 16
Tier 0
Downlink_speed_Gbps 400
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 400
Radix_Down 4
Downlink_Latency_ns 1000
END
printf 'Nodes 16\nConnections 2\n0->13 start 0 size 2000000\n1->13 start 0 size 2000000\n' >"$work/two.cm"
run file --set "topology=$work/four.topo" --set "matrix=$work/two.cm" --set balance=adaptive
run generator --set topology=leaf-spine --set leaves=4 --set per_leaf=4 --set spines=4 --set rate=400Gbps \
    --set pattern=list --set 'list=[host0 host13 2000000 0us,host1 host13 2000000 0us]' --set balance=adaptive
for setting in base-rtt rto queue kmin kmax full; do
    [ "$(grep -w "$setting:" "$work/file/scenario.yaml")" = \
        "$(grep -w "$setting:" "$work/generator/scenario.yaml")" ] ||
        fail "$setting of a fabric in a file is $(grep -w "$setting:" "$work/file/scenario.yaml")"
done
grep -q 'base-rtt: 8337120ps' "$work/file/scenario.yaml" || fail "the round trip of a fabric in a file"
near file "largest FCT in us" "$(value file max)" "$(value generator max)" 2

# One path for all packets of a flow: collisions make it slower.
run onepath $leaf --set balance=one
awk -v a="$(value onepath mean)" -v b="$(value shift mean)" 'BEGIN { exit !(a > 1.2 * b) }' ||
    fail "one path is as fast as 64"

for transport in uec-rud uec-rod; do
    for threads in 1 $([ $transport = uec-rod ] || echo 2 4); do
        run "$transport$threads" --set k=4 --set pattern=alltoall --set bytes=20KB \
            --set transport=$transport --threads $threads --set link.loss-rate=0.001
        [ "$(value $transport$threads digest)" = "$(value ${transport}1 digest)" ] ||
            fail "$transport: $threads threads have another digest"
        [ "$(value $transport$threads completed)" = 240 ] || fail "$transport: not all flows completed"
    done
done

# A NACK carries no count of bytes. What it acknowledges leaves the window all the same; else a queue
# pair waits for ever.
cat >"$work/nacks.yaml" <<'YAML'
topology: {star: {hosts: 12, rate: 25Gbps, delay: 1us}}
switch: {buffer: 300KB, pfc: {enabled: false}}
nic: {transport: uec-rod, timeout: 6}
traffic: [incast: {bytes: 400KB, to: host0, senders: 11}]
YAML
for seed in 2 6; do
    within 20 "$program" run "$work/nacks.yaml" -o "$work/nacks" --quiet --set seed=$seed \
        >"$work/said" 2>&1 ||
        fail "rod, seed $seed: $(head -2 "$work/said")"
    within 20 "$program" run "$work/nacks.yaml" -o "$work/nacks" --quiet --set seed=$seed \
        --set nic.transport=uec-rud --set nic.uec.sleek=false --set switch.mmu=trimming \
        --set nic.priority=1 --set nic.ack-priority=6 --set link.loss-rate=0.01 >"$work/said" 2>&1 ||
        fail "rud, seed $seed: $(head -2 "$work/said")"
done

# The time-out stays the longest for as long as a peer is silent: 10 that double, and 469 of 1 ms.
cat >"$work/silent.yaml" <<'YAML'
topology: {leaf-spine: {leaves: 2, spines: 1, hosts-per-leaf: 1, host-rate: 100Gbps, fabric-rate: 100Gbps}}
links: {"leaf0--spine0": {down: [{at: 20us}]}}
network: {convergence: 1s}
switch: {mmu: trimming}
nic: {transport: uec-rud, priority: 1, ack-priority: 6, uec: {rto: 1us, rto-max: 1ms}}
traffic: [{flows: {verb: read, list: [host0 host1 1KB 30us]}}]
YAML
within 20 "$program" run "$work/silent.yaml" -o "$work/silent" --quiet >"$work/said" 2>&1
outs=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["nic_counters"]["local_ack_timeout_err"])' "$work/silent/summary.json")
near silent time-outs "$outs" 479 1

# Connections between the same two hosts take different paths, also if each keeps to one value.
cat >"$work/pair.yaml" <<'YAML'
topology: {leaf-spine: {leaves: 2, spines: 8, hosts-per-leaf: 1, host-rate: 400Gbps, fabric-rate: 100Gbps}}
nic: {transport: uec-rud, priority: 1, ack-priority: 6, uec: {paths: 1}}
traffic: [{flows: {list: "host0 host1 1MB 0us; host0 host1 1MB 0us; host0 host1 1MB 0us; host0 host1 1MB 0us;
  host0 host1 1MB 0us; host0 host1 1MB 0us; host0 host1 1MB 0us; host0 host1 1MB 0us"}}]
YAML
within 20 "$program" run "$work/pair.yaml" -o "$work/pair" --quiet >"$work/said" 2>&1
spines=$(awk -F, '$1 ~ /^leaf0->spine/ && $3 > 100 { n++ } END { print n + 0 }' "$work/pair/ports.csv")
[ "$spines" -ge 4 ] || fail "eight connections between two hosts take $spines of 8 paths"

# The studies run, and say what they print.
ROCESIM=$program within 20 scenarios/uec/run --quick -o "$work/studies" incast loss >"$work/said" 2>&1 ||
    fail "the studies: $(tail -1 "$work/said")"
[ "$(grep -c '^incast-[28] \|^loss-0-[a-z]* ' "$work/said")" = 4 ] || fail "the studies: $(cat "$work/said")"
scenarios/uec/run nothing >/dev/null 2>&1
[ $? -eq 2 ] || fail "a study that is not there does not end with 2"

for wrong in "0: 0 is out of range" "17: \`from\` has 15 hosts besides host15, expected at least 17"; do
    "$program" check $scenario --set k=4 --set pattern=incast --set "senders=${wrong%%:*}" \
        >"$work/bad.txt" 2>&1 && fail "${wrong%%:*} senders are accepted"
    grep -q "uec.yaml:.*senders: ${wrong#*: }" "$work/bad.txt" || fail "senders: $(cat "$work/bad.txt")"
done
"$program" check $scenario --set nic.congestion-control=timely >"$work/bad.txt" 2>&1 &&
    fail "timely is accepted"
grep -q "nic.congestion-control: timely, expected none" "$work/bad.txt" ||
    fail "timely: $(cat "$work/bad.txt")"
exit $((failures > 0))
