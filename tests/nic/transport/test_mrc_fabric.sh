# SPDX-License-Identifier: Apache-2.0
# tests/nic/transport/test_mrc_fabric.sh - MRC on paths that senders choose, and beside other transports.
#
# Goal: with the balancer "structured" four EVs are the four spines, and a spine that is down costs its
# packets but no transfer; RoCE, Ultra Ethernet and MRC share a fabric, in classes of their own and in one,
# and runs are equal on 1 and 4 threads. Method: a small leaf-spine; scenarios/uec/three.yaml.
# Not pinned: who is faster.
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

# Senders choose the path: four EVs are four spines, evenly. A spine that is down costs its packets.
run chosen mrc --set network.load-balancer=structured --set nic.mrc.evs=4 --set nic.mrc.backups=0 \
    --set 'traffic=[{flows: {list: [host0 host12 400KB 0us]}}]'
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "tx_packets") at = i }
    /^leaf0->spine/ && ($at < 24 || $at > 25) { exit 1 }' "$work/chosen/ports.csv" ||
    fail "chosen: $(grep -h '^leaf0->spine' "$work/chosen/ports.csv" | cut -d, -f1-6)"
run route mrc --set network.load-balancer=structured --set 'faults=[{part: spine1, at: 20us}]' \
    --set traffic[0].permutation.bytes=2MB
holds route "completed == 16 && failed > 16 && healed == 0 && dropped > failed"

# A host that no plane leads to: the run goes on to its end.
within 5 "$ROCESIM" run scenarios/uec/mrc.yaml --quiet --until 300us --set topology=planes --set planes=2 \
    --set pattern=across --set bytes=1MB --set 'faults=[{part: "host15", at: 5us}]' >"$work/said" 2>&1 ||
    fail "no plane leads to a host: $(tail -n 1 "$work/said")"

# Three transports share a link, in classes of their own and in one.
for classes in apart same; do
    cp scenarios/uec/three.yaml "$work/three.yaml"
    for threads in 1 4; do
        run $classes$threads three --set bytes=300KB --set classes=$classes --threads $threads
    done
    [ "$(value ${classes}1 digest)" = "$(value ${classes}4 digest)" ] || fail "$classes: digests differ"
    holds ${classes}1 "completed == 12 && sacks > 0 && nacks > 0 && skipped > 0"
done
exit $((failures > 0))
