#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/nic/device/test_near_hosts.sh - detailed NICs whose links are shorter than a window.
#
# Goal: below 100 ns, hosts run interleaved with their switches. No host passes the moment at which an
# answer to what it has just sent can arrive, so an end is as early as with longer links.
# Method: links of 99 ns (interleaved) and of 101 ns (not): ends differ by at most the difference of 8 links.
set -u
. tests/script.sh

for delay in 99 101; do
    cat >"$work/$delay.yaml" <<END
topology:
  leaf-spine: {leaves: 4, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps,
               delay: ${delay}ns}
nic: {model: detailed, mtu: 4096}
traffic:
  - flows:
      list: "host1 host15 100000B 0ps; host1 host15 1B 0ps; host15 host2 60000B 40us; host15 host1 5B 40us"
END
    within 20 "$ROCESIM" run "$work/$delay.yaml" -o "$work/$delay" --quiet >"$work/said" 2>&1 ||
        fail "$delay ns: $(cat "$work/said")"
done
paste -d, <(cut -d, -f7 "$work/99/flows.csv") <(cut -d, -f7 "$work/101/flows.csv") | tail -n +2 >"$work/ends"
awk -F, '{ d = $2 - $1; if (d < -16 || d > 16) exit 1 } END { if (NR != 4) exit 1 }' "$work/ends" ||
    fail "ends in ns with links of 99 and 101 ns: $(paste -sd' ' "$work/ends")"
[ "$failures" = 0 ]
