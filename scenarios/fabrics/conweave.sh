#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# conweave - how much lower are slowdowns with ConWeave than with ECMP, CONGA, LetFlow and DRILL?
#
# Published: Song et al., SIGCOMM 2023, section 4.1: improvement over the best of the others, mean and
# p99 slowdown, lossless (go-back-N with PFC) and IRN, loads 50 and 80 %. 8 leaves and 8 spines, 128
# hosts, 100 Gbps, 1 us, AliStorage2019, DCQCN, 9 MB switches, alpha 1/16. The absolute curves are not
# published. As in the published simulator (conweave-ns3): its DCQCN, 40 and 100 Mbps of increase, ACKs
# before data, a NAK each 4 us that cuts the rate, IRN sends everything again that is not known to have
# come, CONGA looks at 4 uplinks, headers of 0 bytes, held packets take no room in buffers, pauses end
# at their threshold, headroom for no response time. Assumed: MTU 1024 (published: 1000 bytes), flows
# for 4 ms (published: 100 ms) with the warm-up. The load of the hosts' links is half the stated one,
# since uplinks are oversubscribed 2:1. docs/models/conweave.md has results of longer runs.
set -eu
. "$(dirname "$0")/fabrics_lib.sh"
begin "$1" case,scheme,nr,mean,p99,mean_gain_percent,theirs_mean,p99_gain_percent,theirs_p99,reordered
published() {
    case $1-$2 in
    lossless-50) echo "23.3 45.8" ;;
    lossless-80) echo "17.6 35.8" ;;
    irn-50) echo "12.7 46.2" ;;
    irn-80) echo "42.3 66.8" ;;
    esac
}
cat >"$out/alistorage2019.txt" <<'CDF'
0 0
4000 22.93
8000 69.21
16000 80.61
32000 90.47
64000 93.53
128000 96.77
256000 97.53
2000000 100
CDF
cat >"$out/conweave.yaml" <<'YAML'
seed: 1
topology:
  leaf-spine: {leaves: 8, spines: 8, hosts-per-leaf: 16, host-rate: 100Gbps, fabric-rate: 100Gbps,
               delay: 1us}
switch:
  buffer: 9MB
  pfc: {alpha: 1/16, xon-offset: 0, response: 0ps}
  ecn: {kmin: 100KB, kmax: 400KB, pmax: 0.2}
  conga: {header-bytes: 0, samples: 4}
  conweave: {header-bytes: 0, reply: 8us, wait-extra: 16us, held: free}
nic:
  mtu: 1024
  congestion-control: dcqcn-hpcc
  dcqcn-hpcc: {additive-rate: 40Mbps, hyper-rate: 100Mbps, min-rate: 100Mbps}
  ack-priority: 7
  nak-interval: 4us
  nak-cuts: true
  irn: {recovery: all}
  timeout: 10
traffic:
  - poisson: {sizes: alistorage2019.txt, load: 0.25, stop: 4ms}
YAML
stop=$([ "$quick" = 1 ] && echo 200us || echo 4ms)
for mode in $(pick modes lossless "lossless irn"); do
    if [ "$mode" = irn ]; then
        options=(--set nic.transport=irn --set switch.pfc.enabled=false)
    else
        options=()
    fi
    for load in $(pick loads 50 "50 80"); do
        nr=0 best_mean=1e9 best_p99=1e9
        for scheme in $(pick schemes "ecmp conweave" "ecmp letflow conga drill conweave"); do
            nr=$((nr + 1))
            "$program" run "$out/conweave.yaml" -o "$out/run" --quiet "${options[@]}" \
                --set "switch.load-balancing=$scheme" --set "traffic[0].poisson.load=$(calc "$load / 200")" \
                --set "traffic[0].poisson.stop=$stop" "${more[@]}" >"$out/run.log" 2>&1 ||
                { cat "$out/run.log" >&2 && exit 1; }
            summary=$out/run/summary.json
            mean=$(value flows.slowdown.mean) p99=$(value flows.slowdown.p99)
            gains=-,-,-,-
            if [ "$scheme" = conweave ]; then
                read -r theirs_mean theirs_p99 < <(published "$mode" "$load")
                gains=$(calc "100 * (1 - $mean / $best_mean)"),$theirs_mean
                gains+=,$(calc "100 * (1 - $p99 / $best_p99)"),$theirs_p99
            else
                best_mean=$(calc "$mean < $best_mean ? $mean : $best_mean")
                best_p99=$(calc "$p99 < $best_p99 ? $p99 : $best_p99")
            fi
            put "$mode-$load" "$scheme" $nr "$mean" "$p99" "$gains" "$(value reordering.packets)"
        done
    done
done
labels=1 axis=3 draw scheme mean p99
