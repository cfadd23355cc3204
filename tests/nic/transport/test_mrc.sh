# SPDX-License-Identifier: Apache-2.0
# tests/nic/transport/test_mrc.sh - MRC end to end: sprayed packets, states of paths, repairs, planes.
#
# Goal: each trimmed packet is sent again once; a lost packet is found by a gap in a SACK or by a probe and
# takes its path away, a probe brings it back; a path that is down costs its packets once and not again; a
# plane that is down is left; denied and backup values, thresholds and time stamps have their effect; runs are
# equal on 1, 2 and 4 threads; wrong settings are refused with the reason. Method: small leaf-spines.
# Not pinned: the order of packets.
. tests/script.sh
program=$ROCESIM
cat >"$work/mrc.yaml" <<'END'
topology:
  leaf-spine: {leaves: 4, spines: 4, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps, delay: 1us}
network: {convergence: 1s}
switch: {mmu: trimming, ecn: {last-hop: false}, pfc: {enabled: false}}
nic: {transport: mrc, priority: 1, ack-priority: 6, mtu: 4096}
traffic: [{permutation: {bytes: 1MB}}]
END
cat >"$work/planes.yaml" <<'END'
topology:
  multi-plane: {planes: 4, leaves: 2, spines: 2, hosts-per-leaf: 2, host-rate: 100Gbps, fabric-rate: 100Gbps}
network: {convergence: 1s}
switch: {mmu: trimming, ecn: {last-hop: false}, pfc: {enabled: false}}
nic:
  {transport: mrc, planes: least-queue, priority: 1, ack-priority: 6, mtu: 4096, mrc: {evs: 16, backups: 4}}
traffic: [{flows: {list: [host0 host2 8MB 0us]}}]
END

# run NAME FILE OPTIONS...: a run into $work/NAME, whose numbers are then in $work/NAME.facts
run() {
    within 20 "$program" run "$work/$2.yaml" -o "$work/$1" "${@:3}" >"$work/$1.txt" 2>&1 ||
        fail "$1: $(tail -1 "$work/$1.txt")"
    python3 -c 'import json, sys
summary = json.load(open(sys.argv[1]))
print("digest", summary["digest"], "\ncompleted", summary["flows"]["completed"])
print("mean", summary["flows"]["fct_us"]["mean"], "\nmax", summary["flows"]["fct_us"]["max"])
print("dropped", summary["packets"]["dropped"])
for name, value in summary["transport"].items():
    print(name, value)' "$work/$1/summary.json" >"$work/$1.facts"
}
value() { sed -n "s/^$2 //p" "$work/$1.facts"; }
# holds NAME EXPRESSION: an expression of awk over the facts
holds() {
    awk '{ v[$1] = $2 } END { exit !('"$(sed 's/[a-z_][a-z_]*/v["&"]/g' <<<"$2")"') }' "$work/$1.facts" ||
        fail "$1: not $2: $(tr '\n' ' ' <"$work/$1.facts")"
}

run idle mrc
holds idle "completed == 16 && retransmitted == 0 && dropped == 0 && probes == 0 && max < 95"
run incast mrc --set 'traffic=[{incast: {to: host0, senders: 7, bytes: 500KB}}]'
holds incast "completed == 7 && trimmed > 50 && trimmed == nacks && trimmed == retransmitted && failed == 0"
# The last hop is not to blame; trims of the fabric let paths be skipped.
holds incast "skipped == 0"
run narrow mrc --set topology.leaf-spine.spines=2 --set switch.trim.queue=40KB
holds narrow "completed == 16 && trimmed > 0 && skipped > 0 && failed == 0"

# Queues on the full fabric make paths differ by more than two idle round trips. That is no loss.
within 20 "$program" run scenarios/uec/mrc.yaml -o "$work/full" --quiet --set pattern=across \
    --set topology=planes --set loss=0.001 --set bytes=24MB >/dev/null 2>&1 || fail "the run over full planes"
again=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["transport"]["retransmitted"])' \
    "$work/full/summary.json")
[ "$again" -gt 200 ] && [ "$again" -lt 1000 ] || fail "full planes: $again packets are sent again"

loss="--set link.loss-rate=0.002 --set nic.mrc.probe-interval=20us"
run loss mrc $loss
holds loss "completed == 16 && gaps > 0 && failed > 0 && healed > 0 && retransmitted >= failed"
[ "$(value loss credits)" = 0 ] || fail "the summary does not have credits: 0"
# Arrivals that later bitmaps show leave nothing in flight behind, which would keep the window closed.
run closed mrc --seed 120 --set topology.leaf-spine.leaves=2 --set topology.leaf-spine.fabric-rate=200Gbps \
    --set topology.leaf-spine.delay=500ns --set 'links={"leaf0--spine0": {down: [{at: 10us, until: 40us}]}}' \
    --set link.loss-rate=0.05 --set nic.mtu=1024 --set 'switch={mmu: trimming, trim: {queue: 30KB},
    ecn: {kmin: 20KB, kmax: 80KB}, pfc: {enabled: false}}' --set 'traffic=[{permutation: {bytes: 300KB}}]' \
    --set nic.mrc.evs=16 --set nic.mrc.backups=4 --set nic.mrc.losses=3 --set nic.mrc.ack-bytes=1
holds closed "completed == 8 && lost + gaps > 200"
for threads in 2 4; do
    run loss$threads mrc $loss --threads $threads
    [ "$(value loss$threads digest)" = "$(value loss digest)" ] || fail "$threads threads have another digest"
done
run patient mrc --set link.loss-rate=0.002 --set nic.mrc.losses=3
holds patient "completed == 16 && failed == 0 && gaps > 0"

# A link is down for a while: routes do not change, and each path over it is left after one loss.
run down mrc --set 'faults=[{part: leaf0--spine1, at: 20us}]' --set nic.mrc.evs=32 --set nic.mrc.backups=8 \
    --set traffic[0].permutation.bytes=4MB
holds down "completed == 16 && failed > 10 && healed < failed / 4 && lost + gaps < 200"
run flap mrc --set 'faults=[{part: leaf0--spine1, at: 20us, until: 150us}]' --set nic.mrc.evs=32 \
    --set nic.mrc.backups=8 --set traffic[0].permutation.bytes=4MB
holds flap "completed == 16 && failed > 0 && healed > 0"
# One EV has no way out: its queue pair waits for a probe.
run single mrc --set 'faults=[{part: leaf0--spine*, at: 20us, until: 300us}]' --set nic.mrc.evs=1 \
    --set nic.mrc.backups=0
holds single "completed == 16 && probes > 10 && max > 300"

# A NIC's ports in four planes carry equal shares; a far port that is down costs a quarter of the rate.
run planes planes
holds planes "completed == 1 && retransmitted == 0 && max < 180"
run plane planes --set 'faults=[{part: host2/nic1, at: 20us}]'
holds plane "completed == 1 && failed >= 5 && lost + gaps < 250 && max > 200 && max < 260"
run port planes --set 'faults=[{part: host0/nic1, at: 20us}]'
holds port "completed == 1 && max > 200 && max < 280"

run stamps mrc --set nic.mrc.times=local
holds stamps "completed == 16 && retransmitted == 0"
[ "$(value stamps digest)" != "$(value idle digest)" ] || fail "time stamps change nothing"
run all mrc --set nic.mrc.operations=all --set traffic[0].permutation.verb=read
holds all "completed == 16"

# refused TEXT OPTIONS...
refused() {
    "$program" check "$work/mrc.yaml" "${@:2}" >"$work/bad.txt" 2>&1 && fail "${*:2} is accepted"
    grep -q "$1" "$work/bad.txt" || fail "${*:2}: $(cat "$work/bad.txt")"
}
refused "nic.congestion-control: timely, expected none" --set nic.congestion-control=timely
refused 'nic.mrc.denied: "7-", expected numbers' --set nic.mrc.denied=7-
refused 'nic.mrc.denied: 160 of 160 entropy values are denied' --set nic.mrc.denied=0-159
refused 'verb: send, and nic.transport mrc of host0 has WRITE alone' --set traffic[0].permutation.verb=send
refused 'verb: read, and nic.transport mrc of host0 has WRITE alone' --set traffic[0].permutation.verb=read
refused 'protocol: plain collectives SEND, and nic.transport mrc of host0 has WRITE alone' \
    --set 'traffic=[{collective: {protocol: plain}}]'
refused 'traffic.serving: it posts SENDs' --set 'traffic=[{serving: {}}]'
refused 'test: nic.transport mrc of host0 has WRITE alone' --set 'traffic=[{perftest: {test: ib_send_bw}}]'
refused 'traffic.drtm-kv: it posts READs and atomics' --set 'traffic=[{drtm-kv: {}}]'
exit $((failures > 0))
