#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_effects.sh - attributes without effect cause a note, contradictions are refused.
#
# Goal: `run` and `check` name each attribute that is set in vain, with its place, once; an attribute
# that some NIC, switch, link or application uses causes no note; values out of order are refused with
# file, line and column.
# Method: a small star and leaf-spine with one setting more per case; the noted paths are compared.
# Not pinned: the words.
set -u
. tests/script.sh
start_forks

cat >"$work/base.yaml" <<'END'
until: 50us
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2}}
traffic: [permutation: {hosts: host*, bytes: 10KB}]
END
cat >"$work/training.yaml" <<'END'
until: 50us
topology: {star: {hosts: 4}}
traffic: [training: {model: gpt-7b, microbatches: 1}]
END
cat >"$work/perftest.yaml" <<'END'
until: 50us
topology: {star: {hosts: 3}}
traffic: [perftest: {iterations: 10}]
END
# Defaults of parameters, and what a parameter decides over, are on offer: they need no effect with each
# choice. Both forms of parameters stand here.
cat >"$work/offer.yaml" <<'END'
until: 50us
parameters:
  load: traffic.permutation.bytes
  timeout: {default: 10, path: nic.timeout}
  cc: nic.congestion-control
topology: {star: {hosts: 4}}
nic: {transport: irn, hpcc: {eta: 0.9}, scan: {ack-pause-class: 1}}
traffic: [permutation: {hosts: host*, bytes: 10KB}]
END

# expect PATHS FILE PATH=VALUE...: a check notes that these have no effect, and no others.
expect() {
    local paths=$1 file=$work/$2.yaml
    shift 2
    local sets=()
    for value in "$@"; do sets+=(--set "$value"); done
    rocesim check "$file" "${sets[@]}" >/dev/null 2>"$work/err" || fail "$*: $(cat "$work/err")"
    local found
    found=$(sed -n 's/^warning: .*: \([a-z0-9.-]*\) is set to .* and has no effect.*/\1/p' "$work/err" |
        sort | tr '\n' ' ')
    [ "${found% }" = "$paths" ] || fail "$*: notes of '${found% }', expected '$paths'"
}

# Settings that a parameter can choose, by the path of a link or in a part of the scenario, is on offer, too.
cat >"$work/choice.yaml" <<'END'
until: 50us
parameters:
  loss: links.host0--switch0.loss-rate
  balance:
    default: ecmp
    choose:
      spread: {network: {load-balancer: adaptive}}
      else: {network: {load-balancer: $(balance)}}
topology: {star: {hosts: 4}}
links: {host0--switch0: {loss-packets: data}}
switch: {adaptive: {by: grades}}
traffic: [permutation: {hosts: host*, bytes: 10KB}]
END
expect "" choice
sed '/loss: links/d; /spread:/d; /else:/d; s/choose:/help: x/; s/default: ecmp/default: 1, path: seed/' \
    "$work/choice.yaml" | sed '/^  balance:/,/help/c\  other: seed' >"$work/fixed.yaml"
expect "link.loss-packets switch.adaptive.by" fixed
# No shipped scenario sets what has no effect.
for file in scenarios/*.yaml scenarios/*/*.yaml; do
    rocesim check "$file" >/dev/null 2>"$work/err"
    if grep 'has no effect' "$work/err"; then fail "$file"; fi
done

expect "" base
expect "nic.hpcc.eta" base nic.hpcc.eta=0.9
expect "" base nic.hpcc.eta=0.95
expect "" base nic.hpcc.eta=0.9 nic.congestion-control=hpcc
expect "" base nic.hpcc.eta=0.9 'nodes.host1.nic.congestion-control=hpcc'
expect "nic.timely.t-low" base nic.timely.t-low=20us nic.congestion-control=timely-patched
expect "nic.uec.rto" base nic.uec.rto=30us
expect "" base nic.uec.rto=30us nic.transport=uec-rud
expect "nic.dcqcn.rpg-ai-rate" base nic.dcqcn.rpg-ai-rate=50Mbps nic.transport=uec-rud
expect "nic.nscc.eta" base nic.nscc.eta=0.2 nic.transport=uec-rud nic.uec.control=none
expect "" base nic.nscc.eta=0.2 nic.transport=mrc
expect "nic.irn.rto-low" base nic.irn.rto-low=50us
expect "nic.scan.ack-pause-class" base nic.scan.ack-pause-class=1
expect "nic.plb.rounds" base nic.plb.rounds=3
expect "" base nic.plb.rounds=3 nic.repath=plb
expect "nic.detailed.pu.count" base nic.detailed.pu.count=2
expect "" base nic.detailed.pu.count=2 nic.model=detailed
expect "nic.timeout" base nic.timeout=10 nic.transport=irn
expect "nic.scan.ack-pause-class" offer
expect "nic.scan.ack-pause-class nic.timeout" offer timeout=11
expect "nic.hpcc.eta nic.scan.ack-pause-class" offer nic.hpcc.eta=0.8
expect "switch.letflow.gap" base switch.letflow.gap=20us
expect "" base switch.letflow.gap=20us network.load-balancer=letflow
expect "" base switch.letflow.gap=20us nodes.leaf0.switch.load-balancing=letflow
expect "switch.pfc.alpha switch.pfc.quanta" base switch.pfc.enabled=false switch.pfc.alpha=1/4 \
    switch.pfc.quanta=100
expect "switch.pfc.alpha" base switch.pfc.threshold=100KB switch.pfc.alpha=1/4
expect "" base switch.pfc.enabled=false
expect "switch.trim.queue" base switch.trim.queue=50KB
expect "link.reorder-delay" base link.reorder-delay=1us
expect "" base link.reorder-delay=1us link.reorder-rate=0.01
expect "link.cbfc.credits" base link.cbfc.credits=64
expect "" base link.cbfc.credits=64 link.flow-control=cbfc
expect "link.llr.replay-timer" base link.llr.replay-timer=1us
expect "" base link.llr.replay-timer=1us link.llr.enabled=true
expect "nic.host.iommu.entries" base nic.host.iommu.entries=8
expect "nic.host.gpu-link nic.host.socket-link" base nic.host.gpu-link=5Gbps nic.host.socket-link=3Gbps
expect "" base nic.host.gpu-link=5Gbps nic.host.gpus=2
planes='topology={multi-plane: {planes: 2, leaves: 2, spines: 1, hosts-per-leaf: 2}}'
expect "nic.planes" base nic.planes=round-robin
expect "" base "$planes" nic.planes=round-robin
expect "" base "$planes" nic.planes=off
expect "scale-up.credits" base scale-up.credits=9KB
expect "" base scale-up.credits=9KB scale-up.model=packets scale-up.accelerators=2
expect "switch.pfc.alpha" base 'switch.pfc.priorities=[]' switch.pfc.alpha=1/4
expect "" base 'switch.pfc.priorities=[]' 'nodes.leaf0.switch.pfc.priorities=[3]' switch.pfc.alpha=1/4
expect "hpcc.ecmp-port" base hpcc.ecmp-port=5
expect "" base nic.host.iommu.entries=8 nic.host.iommu.use=all
expect "nic.base-rtt nic.bdp" base nic.base-rtt=10us nic.bdp=100KB
expect "" base nic.base-rtt=10us nic.congestion-control=swift
expect "" base nic.base-rtt=10us nic.bdp-window=fixed
expect "network.vlan" base network.vlan=3
expect "network.pint-rtt" base network.pint-rtt=20us
expect "" base network.pint-rtt=20us nic.congestion-control=hpcc-pint
expect "traffic.permutation.depth" base 'traffic[0].permutation.depth=4'
expect "" base 'traffic[0].permutation.depth=4' 'traffic[0].permutation.messages=8'
expect "traffic.training.skew" training 'traffic[0].training.skew=1'
expect "traffic.training.routing" training 'traffic[0].training.routing=nowhere.csv'
expect "" training 'traffic[0].training.skew=1' 'traffic[0].training.experts=4'
expect "traffic.training.latency" training 'traffic[0].training.latency=1us'
expect "nic.transport" perftest 'traffic[0].perftest.test=ib_send_bw' 'traffic[0].perftest.connection=ud' \
    nic.transport=irn
expect "" perftest nic.transport=irn

expect "network.convergence" base network.convergence=1ms
expect "" base network.convergence=1ms 'links.leaf0--spine0.down=[{at: 10us}]'
expect "nic.hpcc.rate-ai" base nic.congestion-control=hpcc nic.hpcc.rate-ai=50Mbps
expect "nic.hpcc.window-ai" base nic.congestion-control=hpcc nic.hpcc.law=rate nic.hpcc.window-ai=100
expect "outputs.series-max" base outputs.series-max=1000
expect "" base outputs.series-max=1000 'observe=[{series: "port[leaf0->host0].queue_bytes"}]'
expect "outputs.cache-events" base outputs.cache-events=true
expect "captures.before" base 'captures=[{fabric: a.pcapng, before: 1us}]'
expect "" base 'captures=[{fabric: a.pcapng, before: 1us, around: drop}]'
rails='topology={rail-optimised: {servers: 4, spines: 0, servers-per-segment: 4'
expect "topology.rail-optimised.links-per-spine" base "$rails, links-per-spine: 2}}"
expect "topology.rail-optimised.nvlink-delay" base "$rails, nvlink-delay: 50ns}}"

# The place is the value's, and run, its summary and check say the same.
sed 's/^until/nic: {hpcc: {eta: 0.9}}\nuntil/' "$work/base.yaml" >"$work/place.yaml"
rocesim run "$work/place.yaml" -o "$work/r" --quiet >/dev/null 2>"$work/err"
grep -q "place.yaml:1:19: nic.hpcc.eta is set to 0.9" "$work/err" || fail "the place: $(cat "$work/err")"
grep -q "nic.hpcc.eta is set" "$work/r/summary.json" || fail "summary.json has no note"

# refuse PLACE SED FILE: what `check` says begins with the place.
refuse() {
    sed "$2" "$work/$3.yaml" >"$work/bad.yaml"
    rocesim check "$work/bad.yaml" >"$work/out" 2>&1 && fail "$2 is accepted"
    grep -q "bad.yaml:$1: .*expected at most" "$work/out" || fail "$2: $(cat "$work/out")"
}
refuse 1:18 '1i nic: {uec: {rto: 10ms, rto-max: 5ms}}' base
refuse 1:18 '1i nic: {uec: {rto: 10ms}}' base
refuse 1:23 '1i nic: {timely: {t-low: 2ms, t-high: 1ms}}' base
refuse 1:22 '1i nic: {irn: {rto-low: 1ms, rto-high: 1us}}' base
refuse 1:34 '1i nodes: {host0: {nic: {mrc: {rto: 8s}}}}' base
refuse 3:32 's/permutation: {/permutation: {start: 3ms, stop: 2ms, /' base

for command in "capture cut $work/no.pcap" "timeline $work/no"; do
    rocesim $command --from 3ms --to 2ms -o "$work/none" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] && grep -q 'from 3ms --to 2ms' "$work/err" || fail "$command: $(cat "$work/err")"
done
exit $((failures > 0))
