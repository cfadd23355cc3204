#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# conweave - how much lower are slowdowns with ConWeave than with ECMP, CONGA, LetFlow and DRILL?
#
# This is a script, since published figures stand beside its runs.
# Published: Song et al., SIGCOMM 2023, section 4.1: improvement over the best of the others, mean and
# p99 slowdown, lossless (go-back-N with PFC) and IRN, loads 50 and 80 %. 8 leaves and 8 spines, 128
# hosts, 100 Gbps, 1 us, AliStorage2019, DCQCN, 9 MB switches, alpha 1/16. The paper's absolute curves
# are drawn only. sim_mean and sim_p99 are what the published simulator (conweave-ns3) gave another
# group (lucabord/conweave-reproduction), for 100 ms of flows; their report reads those of 80 % from a
# figure. Rules and constants here are those of that simulator: frames of 1000 bytes with 48 more, ACKs
# of 60 bytes before data, DCQCN with 40 and 100 Mbps of increase, a NAK each 4 us that cuts the rate,
# IRN that sends everything again that is not known to have come, CONGA's own form, balancers' headers of
# 0 bytes, held packets that take no room, pauses that end at their threshold. The first twentieth of
# `length` ms (10) of flows does not count, as published (5 of 100 ms). The load of the hosts' links is
# half the stated one, since uplinks are oversubscribed 2:1.
set -eu
. "$(dirname "$0")/fabrics_lib.sh"
columns=case,scheme,nr,mean,p99,sim_mean,sim_p99,mean_gain_percent,theirs_mean,p99_gain_percent
begin "$1" $columns,theirs_p99,reordered
published() {
    case $1-$2 in
    lossless-50) echo "23.3 45.8" ;;
    lossless-80) echo "17.6 35.8" ;;
    irn-50) echo "12.7 46.2" ;;
    irn-80) echo "42.3 66.8" ;;
    esac
}
of_simulator() {
    case $1-$2-$3 in
    lossless-50-ecmp) echo 1.94,10.88 ;;
    lossless-50-letflow) echo 1.93,10.57 ;;
    lossless-50-conga) echo 1.69,8.10 ;;
    lossless-50-conweave) echo 1.47,5.35 ;;
    lossless-80-ecmp | lossless-80-letflow) echo 7,40 ;;
    lossless-80-conga) echo 4.5,26 ;;
    lossless-80-conweave) echo 2.8,13 ;;
    *) echo -,- ;;
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
network: {framing: bare}
switch:
  buffer: 9MiB
  pfc: {alpha: 1/16, xon-offset: 0, response: 0ps}
  ecn: {kmin: 100KB, kmax: 400KB, pmax: 0.2}
  conga: {rules: conweave-ns3, header-bytes: 0, samples: 4}
  conweave: {header-bytes: 0, reply: 8us, wait-extra: 16us, held: free}
nic:
  mtu: 1000
  frames: bare
  bare: {header: 48, ack: 60}
  congestion-control: dcqcn-hpcc
  dcqcn-hpcc: {additive-rate: 40Mbps, hyper-rate: 100Mbps, min-rate: 100Mbps}
  ack-priority: 7
  nak-interval: 4us
  nak-cuts: true
  irn: {recovery: all, window: 104000, rto-low: 100us, rto-high: 320us}
  timeout: 10
traffic:
  - poisson: {sizes: alistorage2019.txt, load: 0.25, stop: 4ms}
YAML
length=$(pick length 1 10)

# after_warm_up: prints the mean and the p99 of the slowdowns of flows that start after the warm-up
after_warm_up() {
    awk -F, -v from="$(calc "$length * 5e4")" 'NR > 1 && $6 > from && $7 != "" { print $10 }' \
        "$out/run/flows.csv" | sort -g |
        awk '{ value[NR] = $1; sum += $1 }
            END { if (NR) printf "%.4g %.4g\n", sum / NR, value[int(NR * 0.99) + 1] }'
}
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
                --set "traffic[0].poisson.stop=${length}ms" "${more[@]}" >"$out/run.log" 2>&1 ||
                { cat "$out/run.log" >&2 && exit 1; }
            summary=$out/run/summary.json
            read -r mean p99 < <(after_warm_up)
            gains=-,-,-,-
            if [ "$scheme" = conweave ]; then
                read -r theirs_mean theirs_p99 < <(published "$mode" "$load")
                gains=$(calc "100 * (1 - $mean / $best_mean)"),$theirs_mean
                gains+=,$(calc "100 * (1 - $p99 / $best_p99)"),$theirs_p99
            else
                best_mean=$(calc "$mean < $best_mean ? $mean : $best_mean")
                best_p99=$(calc "$p99 < $best_p99 ? $p99 : $best_p99")
            fi
            put "$mode-$load" "$scheme" $nr "$mean" "$p99" "$(of_simulator "$mode" "$load" "$scheme")" \
                "$gains" "$(value reordering.packets)"
        done
    done
done
labels=1 axis=3 draw scheme mean p99
