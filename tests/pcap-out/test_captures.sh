#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/pcap-out/test_captures.sh - Wireshark finds nothing wrong with captures of a busy, lossy fabric.
#
# Goal: no malformed frame, no wrong checksum, no unknown opcode in any of the ways a network can be
# configured that change a frame's bytes; and that the checker itself can say no.
# Method: one scenario with every verb, loss, CNPs and PFC, run once per way, all of it through
# tshark. Then a frame of a good capture is broken, which must be found.
# Does not pin: ICRC, which tshark shows and does not check; test_frame and test_capture do.
set -eu

command -v tshark >/dev/null || { echo "skip: tshark is not installed" && exit 77; }
command -v mergecap >/dev/null || { echo "skip: mergecap is not installed" && exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# way_of SCENARIO NAME OPTION...: runs the scenario. check_ways looks at all captures so far in one run of
# tshark, and at each file by itself only if that finds something.
captured=()
way_of() {
    local scenario=$1 out=$scratch/$2 file
    shift 2
    "$ROCESIM" run "$scenario" -o "$out" --quiet "$@" >/dev/null
    for file in "$out"/captures/*; do
        [ "$(zcat -f "$file" | head -c 100 | wc -c)" -eq 100 ] || { echo "$file: no frames" && exit 1; }
        captured+=("$file")
    done
}
check_ways() {
    mergecap -a -F nsecpcap -w "$scratch/all.pcap" "${captured[@]}"
    tools/check-captures "$scratch/all.pcap" || { tools/check-captures "${captured[@]}" || exit 1; }
}
way() {
    way_of tests/scenarios/captures.yaml "$@"
}

way routed
way switched --set network.forwarding=switched
way tagged --set network.tagged=true --set network.vlan=42
way ipv6 --set network.ipv6=true --set nic.mtu=4096
way small --set nic.mtu=256 --set nic.ack-interval=4
way plain-int --set nic.congestion-control=hpcc
sed 's/file: [a-z]*.pcap[.gz]*/&, telemetry: true/' tests/scenarios/captures.yaml >"$scratch/with.yaml"
way_of "$scratch/with.yaml" int --set nic.congestion-control=hpcc --set network.int-reserved-hops=2
way_of "$scratch/with.yaml" pint --set nic.congestion-control=hpcc-pint --set network.ipv6=true

# Names of hosts and ports, given to tshark as the page says: no address is left.
for name in routed switched ipv6; do
    field=ip
    [ $name = ipv6 ] && field=ipv6
    mergecap -a -w "$scratch/$name.pcap" "$scratch/$name"/captures/*
    WIRESHARK_CONFIG_DIR=$scratch/$name tshark -N mn -r "$scratch/$name.pcap" -T fields \
        -e $field.src_host -e $field.dst_host -e eth.src_resolved 2>/dev/null >"$scratch/$name.names"
    awk '{ rows++; for (i = 1; i <= NF; i++) if ($i ~ /^(10\.|fd|02:)/) bad++ }
         END { exit !(rows > 50 && bad == 0) }' "$scratch/$name.names" ||
        { echo "$name: addresses without a name" && head -n 3 "$scratch/$name.names" && exit 1; }
done

# Programs on detailed NICs: atomics and READs over RC, immediates and payloads over UD.
kinds_of() {
    local scenario=scenarios/guidelines/$1.yaml name=$1 kind
    shift
    way_of "$scenario" "$name" "$@" \
        --set 'captures=[{ports: host0->switch0, direction: both, file: host0.pcap}]' \
        --set measure=20us --set warm_up=1us
    tshark -n -r "$scratch/$name/captures/host0.pcap" -T fields -e infiniband.bth.opcode \
        2>/dev/null | sort -u >"$scratch/$name.kinds"
    for kind in $kinds; do
        grep -qx "$kind" "$scratch/$name.kinds" ||
            { echo "$name: no frame of kind $kind" && exit 1; }
    done
}
kinds="12 16 18 20" kinds_of drtm-kv --set put_percent=30
kinds="42 101" kinds_of sequencer
kinds="101" kinds_of sequencer --set version=spec
kinds="12 16" kinds_of all-to-all-reads --set machines=3 --set threads_per_machine=2
check_ways

# Telemetry is what lies behind the packets: a byte, or 2 bytes and 8 per hop or reserved hop.
# (Else tshark guesses that the last four bytes are an FCS.)
tshark -n -o eth.fcs:Never -r "$scratch/int/captures/switches.pcap.gz" -T fields -e eth.trailer \
    2>/dev/null | awk '{ lengths[length($1) / 2]++ }
        END { exit !(lengths[18] > 100 && lengths[26] > 100) }' ||
    { echo "no frames of INT with trailers of 18 and 26 bytes" && exit 1; }

# A capture that does not ask for it has packets alone.
trailers=$(tshark -n -o eth.fcs:Never -r "$scratch/plain-int/captures/switches.pcap.gz" \
    -Y eth.trailer 2>/dev/null | wc -l)
[ "$trailers" = 0 ] || { echo "$trailers trailers without telemetry" && exit 1; }

# Each kind of frame was there to be looked at: PFC, CNP, ACK, WRITE, SEND, READ request.
tshark -n -r "$scratch/routed/captures/switches.pcap.gz" -T fields -e macc.opcode \
    -e infiniband.bth.opcode 2>/dev/null | sort | uniq -c >"$scratch/kinds"
for kind in 0x0101 129 17 7 1 12; do
    if ! grep -qw "$kind" "$scratch/kinds"; then
        echo "no frame of kind $kind among:" && cat "$scratch/kinds" && exit 1
    fi
done

# The 31st byte after the file's and the frame's header is in the IPv4 source address: its
# checksum is now wrong.
cp "$scratch/routed/captures/hosts.pcap" "$scratch/broken.pcap"
printf '\xee' | dd of="$scratch/broken.pcap" bs=1 seek=$((24 + 16 + 28)) conv=notrunc 2>/dev/null
if tools/check-captures "$scratch/broken.pcap" >"$scratch/verdict"; then
    echo "a wrong checksum was not found" && exit 1
fi
grep -q 'frame 1: expert' "$scratch/verdict"
echo "7 ways"
