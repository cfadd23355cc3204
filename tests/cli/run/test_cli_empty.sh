#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_empty.sh - what was asked for and is empty is explained.
#
# Goal: a series without a row, a capture without a frame, traffic that plans nothing and no traffic at
# all are named with their reason, on the terminal and in summary.json; what is there is not.
# Method: one transfer on a network with tagged frames, observed in ways that match and that cannot.
set -u
. tests/script.sh
start_forks

cat >"$work/empty.yaml" <<'END'
topology: {star: {hosts: 3}}
network: {tagged: true}
traffic: [flows: {list: [host0 host1 100KB 0us]}]
nic: {congestion-control: none}
observe:
  - {series: "qp[host0->host1].rate_bps", every: 1us}
  - {series: "qp[host1->host2].rate_bps", every: 1us}
  - {series: "qp[host1->host0].window_bytes", every: 1us}
  - {series: "qp[host0->host1:99].rate_bps", on: change}
  - {series: "qp[host0->host1].byte_stage", every: 1us}
  - {series: "port[switch0->host1].queue_bytes", every: 1us, start: 10ms}
captures:
  - {ports: host0->switch0, filter: udp port 4791, file: tag.pcap}
  - {ports: host0->switch0, filter: vlan and tcp, file: tcp.pcap}
  - {ports: host0->switch0, filter: vlan and udp port 4791, file: some.pcap}
  - {ports: host2->switch0, file: idle.pcap}
END
rocesim run "$work/empty.yaml" -o "$work/out" --quiet >"$work/said" || fail "run: exit status $?"
sed -n 's/^  empty     //p' "$work/said" | sort >"$work/lines"
tag="no frame in captures/tag.pcap: its filter takes none of 50; data are tagged here, "
tag+="'vlan and (udp port 4791)' looks behind the tag"
stage="no row of qp[host0->host1].byte_stage: its queue pairs sent nothing, "
stage+="or their congestion control has no such number"
sort >"$work/expected" <<END
no row of qp[host1->host2].rate_bps: no queue pair connected these
no row of qp[host1->host0].window_bytes: its queue pairs sent nothing
no row of qp[host0->host1:99].rate_bps: no queue pair connected these
$stage
no row of port[switch0->host1].queue_bytes: it starts when the run is over
$tag
no frame in captures/tcp.pcap: its filter, vlan and tcp, takes none of 50
no frame in captures/idle.pcap: none passed its ports
END
diff "$work/expected" "$work/lines" || fail "what is said of empty series and captures"
sed -n '/^  "notes": \[$/,/^  \]/s/^    "\(.*\)",\{0,1\}$/\1/p' "$work/out/summary.json" | sort |
    diff "$work/expected" - || fail "notes of summary.json"

# warned FILE TEXT: both check and run say so before anything is simulated.
warned() {
    for command in check run; do
        rocesim "$command" "$work/$1" >"$work/said" 2>&1 || fail "$command $1: exit status $?"
        grep -q "^warning: $2" "$work/said" || fail "$command $1: $(cat "$work/said")"
    done
}
echo 'topology: {star: {hosts: 3}}' >"$work/nothing.yaml"
warned nothing.yaml "no traffic: nothing is sent"
cat >"$work/stopped.yaml" <<'END'
topology: {star: {hosts: 3}}
until: 1ms
traffic: [flows: {list: [host0 host1 1KB 0us]}, poisson: {start: 100us, stop: 50us}]
END
rocesim check "$work/stopped.yaml" >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q "poisson.start: 100us, expected at most 50us" "$work/said" ||
    fail "a start after the stop: $(cat "$work/said")"
sed -i 's/start: 100us/start: 50us/' "$work/stopped.yaml"
warned stopped.yaml "traffic 1 (poisson) plans no transfer: expected a start before its stop"

# Messages of 98 packets over two links that lose 5 % each: 1 / (0.95^2)^98 = 23,300 attempts.
cat >"$work/zero.yaml" <<'END'
topology: {star: {hosts: 3}}
nic: {retransmission: go-back-0}
link: {loss-rate: 5%}
until: 1ms
traffic: [incast: {to: host0, bytes: 400KB}]
END
warned zero.yaml "with nic.retransmission: go-back-0 .* one takes about 23000 attempts"
rocesim check "$work/zero.yaml" --set traffic[0].incast.bytes=400MB 2>&1 |
    grep -q "one takes more than 1000000000000 attempts" || fail "attempts without end"
for less in link.loss-rate=0.1% nic.retransmission-chunk=16KiB nic.retransmission=go-back-n; do
    rocesim check "$work/zero.yaml" --set $less 2>&1 | grep -q "attempts" && fail "$less: a warning"
done
exit $((failures > 0))
