#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/nic/transport/test_slow_links.sh - no transport repeats what only waits on a slow link.
#
# Goal: four senders share a link of 100 or 10 Mbps whose queue holds their windows. Nothing is lost, so at
# most one packet is sent again, and the transfers take the time of their bytes. Method: a run for each.
# Not pinned: losses (test_transport_torture.c), fast links.
. tests/script.sh
start_forks
cat >"$work/slow.yaml" <<'YAML'
topology: {star: {hosts: 5, delay: 1us}}
switch: {ecn: {kmin: 1MB, kmax: 2MB}, trim: {scale: false}}
traffic: [{incast: {to: host0, from: "host[1-4]", bytes: 200KB}}]
YAML
for rate in 100 10; do
    for transport in go-back-n irn uec-rud uec-rod mrc; do
        options=(--set "nic.transport=$transport" --set "topology.star.rate=${rate}Mbps" --quiet)
        case $transport in
        uec* | mrc) options+=(--set nic.priority=1 --set nic.ack-priority=6 --set switch.mmu=trimming) ;;
        esac
        within 10 rocesim run "$work/slow.yaml" -o "$work/out" "${options[@]}" >"$work/said" 2>&1 ||
            fail "$transport at $rate Mbps: $(tail -1 "$work/said")"
        python3 - "$work/out/summary.json" "$rate" >"$work/said" <<'PY' ||
import json, sys
summary = json.load(open(sys.argv[1]))
again = summary["transport"]["retransmitted"] if "transport" in summary else summary["retransmitted_packets"]
flows = summary["flows"]
ideal_us = 800e3 * 8 / float(sys.argv[2])
print(f"{again} sent again, {flows['completed']} done, at {flows['fct_us']['max']} us of {ideal_us:.0f}")
sys.exit(not (again <= 1 and flows["completed"] == 4 and flows["fct_us"]["max"] < 1.1 * ideal_us))
PY
            fail "$transport at $rate Mbps: $(cat "$work/said")"
    done
done

# With a queue for less than a packet, everything that waits is trimmed, and arrives in the end.
within 10 rocesim run "$work/slow.yaml" -o "$work/out" --quiet --set nic.transport=uec-rud \
    --set nic.priority=1 --set nic.ack-priority=6 --set switch.mmu=trimming --set switch.trim.scale=true \
    --set topology.star.rate=100Mbps >"$work/said" 2>&1 && grep -q ' 4 of 4 completed' "$work/said" ||
    fail "no queue: $(tail -1 "$work/said")"
exit $((failures > 0))
