#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/pcap-out/test_wireshark.sh - the profile for Wireshark installs and tells the truth.
#
# Goal: tools/wireshark-profile puts a profile and a post-dissector where Wireshark finds them; every
# button and colour is a filter that Wireshark takes; CNPs have their name; the ICRC of every frame is
# called good, and bad after one bit of payload changed; the gap that a lost packet leaves and what is
# sent again are seen; INT and PINT behind a frame are read; payload is not taken for other protocols.
# Method: tshark with that profile on captures of small runs, over IPv4 and IPv6, tagged and not.
# Not pinned: what it looks like.
set -u
. tests/script.sh
if ! tshark -v 2>/dev/null | grep -q 'with Lua'; then
    echo "skip: tshark with Lua is not installed"
    exit 77
fi
export WIRESHARK_CONFIG_DIR=$work/wireshark
tools/wireshark-profile >/dev/null || fail "the profile is not installed"
# What tshark complains of is put together in one file.
shark() {
    tshark -n -C rocesim "$@" 2>"$work/err"
    grep -v 'Running as user' "$work/err" >>"$work/complaints"
}

# run NAME LINES [OF THE CAPTURE [VERB]]: three hosts send to one
run() {
    cat >"$work/$1.yaml" <<END
seed: 3
topology: {dumbbell: {left: 3, right: 3, host-rate: 100Gbps, bottleneck-rate: 100Gbps}}
switch: {ecn: {kmin: 5KB, kmax: 50KB}, pfc: {priorities: [3], alpha: 1/16}}
traffic: [{incast: {to: host3, from: "host[0-2]", bytes: 300KB, verb: ${4:-write}}}]
captures: [{ports: "host3->*", file: all.pcap${3:-}}]
$2
END
    "$ROCESIM" run "$work/$1.yaml" -o "$work/$1" --quiet >/dev/null || fail "run $1"
}
# count NAME FILTER
count() {
    shark -r "$work/$1/captures/all.pcap" -Y "$2" -T fields -e frame.number | wc -l
}

run v4 'links: {"switch0--switch1": {loss-rate: 0.01}}'
run v6 'network: {ipv6: true, tagged: true}'
run int 'nic: {congestion-control: hpcc}' ', telemetry: true'
for name in v4 v6 int; do
    all=$(count $name 'udp.dstport == 4791')
    good=$(count $name 'rocesim.icrc.good == 1')
    [ "$all" -gt 100 ] && [ "$all" = "$good" ] || fail "$name: ICRC good in $good of $all frames"
done
[ "$(count v4 'rocesim.cnp')" = "$(count v4 'infiniband.bth.opcode == 0x81')" ] || fail "CNPs"
shark -r "$work/v4/captures/all.pcap" | grep -q 'CNP QP=0x' || fail "no CNP by name"
[ "$(count v4 'rocesim.psn.gap')" -gt 0 ] || fail "no gap where packets were lost"
[ "$(count v6 'rocesim.psn.gap || rocesim.psn.again')" = 0 ] || fail "a gap where none was lost"
# Every hop that a data packet of HPCC passed wrote its record.
shark -r "$work/int/captures/all.pcap" -Y 'infiniband.bth.opcode == 7' -T fields -e rocesim.int.hops |
    sort -u >"$work/hops"
grep -qx 2 "$work/hops" || fail "INT of two switches: $(tr '\n' ' ' <"$work/hops")"

# What selective transports put behind the standard's headers: every WRITE that begins nowhere else says
# where it belongs, what is sent again its round, a NAK its map; our own parser reads the same.
for transport in adamap irn sdr; do
    run $transport 'links: {"switch0--switch1": {loss-rate: 0.02}}
nic: {transport: '$transport'}'
    [ "$(count $transport 'rocesim.icrc.good == 1')" -gt 100 ] || fail "$transport: ICRC"
    for kind in 7 8; do
        all=$(count $transport "infiniband.bth.opcode == $kind")
        there=$(count $transport "infiniband.bth.opcode == $kind && rocesim.selective.address")
        [ "$all" = "$there" ] || fail "$transport: opcode $kind: $there of $all"
    done
    [ "$(count $transport 'rocesim.selective.round > 0 && infiniband.bth.opcode != 17')" -gt 0 ] ||
        fail "$transport: no retransmission tells its round"
    maps=$(count $transport 'infiniband.bth.opcode == 17 && rocesim.selective.count > 0')
    naks=$(count $transport 'infiniband.bth.opcode == 17 && infiniband.aeth.syndrome == 0x60')
    [ "$maps" -gt 0 ] && [ "$maps" = "$naks" ] || fail "$transport: $maps maps in $naks NAKs"
    tools/check-captures "$work/$transport/captures/all.pcap" >"$work/verdict" ||
        fail "$transport: $(cat "$work/verdict")"
done

# SENDs, READ responses and parity, lost and sent again: every frame is read, none is malformed.
for kind in "adamap send" "adamap read" "irn send" "sdr read" "sdr write mds"; do
    read -r transport verb code <<<"$kind none"
    name=$transport-$verb
    run "$name" 'links: {"switch0--switch1": {loss-rate: 0.02}}
nic: {transport: '"$transport"', sdr: {code: '"${code%% *}"'}}' '' "$verb"
    all=$(count "$name" 'udp.dstport == 4791')
    good=$(count "$name" 'rocesim.icrc.good == 1 && !_ws.malformed && !_ws.lua.error')
    [ "$all" -gt 100 ] && [ "$all" = "$good" ] || fail "$name: $good of $all frames are read"
done

# Payload of programs is data: nobody takes HERD's answers or Mooncake's messages for other protocols.
for program in "herd: {clients: 6, workers: 2, keys: 500, warm-up: 0s, measure: 20us}" \
    "mooncake-bench: {total: 4MiB, threads: 1}"; do
    cat >"$work/program.yaml" <<END
topology: {star: {hosts: 4, rate: 100Gbps, delay: 300ns}}
traffic: [{$program}]
captures: [{ports: "host*->*", file: all.pcap}]
END
    "$ROCESIM" run "$work/program.yaml" -o "$work/program" --quiet >/dev/null || fail "run $program"
    all=$(count program 'udp.dstport == 4791')
    good=$(count program 'rocesim.icrc.good == 1 && !_ws.malformed')
    [ "$all" -gt 100 ] && [ "$all" = "$good" ] || fail "$program: $good of $all frames are read"
done

# A bit of the payload of the first frame: only the ICRC can tell.
cp -r "$work/v4" "$work/broken"
printf '\x01' | dd of="$work/broken/captures/all.pcap" bs=1 seek=$((24 + 16 + 200)) conv=notrunc 2>/dev/null
[ "$(count broken 'rocesim.icrc.good == 0')" = 1 ] || fail "a wrong ICRC was not found"

awk -F'","' 'NF > 2 { print $3 }' pcap-out/wireshark/profile/dfilter_buttons >"$work/filters"
grep -v '^#' pcap-out/wireshark/profile/colorfilters | cut -d@ -f3 >>"$work/filters"
while read -r filter; do
    tshark -C rocesim -r "$work/v4/captures/all.pcap" -c 1 -Y "$filter" \
        >/dev/null 2>"$work/err" || fail "a filter that Wireshark refuses: $filter: $(tail -n 2 "$work/err")"
done <"$work/filters"
[ "$(wc -l <"$work/filters")" -gt 15 ] || fail "no filters"
[ ! -s "$work/complaints" ] || fail "tshark complains: $(head -n 2 "$work/complaints")"
[ $failures -eq 0 ]
