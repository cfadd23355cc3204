#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# machines - why do 4 x 200G move 87 GB/s and 8 x 400G 190 GB/s, and how long do 1 to 100 GB take?
#
# This is a script, since published figures stand beside its runs.
# Both machines write 64 requests of 128 KiB at a time, as published, with NICs chosen at random as
# shipped. They use the memory of both sockets and read it in completions of 64 bytes. That size is
# the only fitted constant. It is fitted to the 87 GB/s at 40 GB, without regard to the other rows.
#   4 x 200G  one NIC at each of four root ports, PCIe 4.0 x16: 31.5 GB/s, of which 22.7 are payload
#   8 x 400G  two NICs behind each of four PCIe switches, as on HGX boards; an uplink is PCIe 5.0 x16,
#             63 GB/s, of which likewise 72 % are payload: 363 Gbps for two NICs of 400
# The third curve has 8 NICs of 400 Gbps without switches, each with its own PCIe 5.0 x16.
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve gbytes seconds gbytes_per_s published_s published_gbytes off_percent busiest
both="'cpu:0, cpu:1'"
card='model: detailed, profile: connectx-6, mtu: 4096, congestion-control: none'
four="nic={$card, detailed: {pcie: {completion-max: 64}}, host: {sockets: 2}}"
lanes='completion-max: 64, lane-rate: 31504Mbps'
uplinks='nics-per-switch: 2, switch-uplink: 363Gbps'
eight="nic={$card, detailed: {pcie: {$lanes}}, host: {sockets: 2, $uplinks}}"
alone="nic={$card, detailed: {pcie: {$lanes}}, host: {sockets: 2}}"

machine() { # CURVE GB PUBLISHED_SECONDS PUBLISHED_GBYTES PERCENT SETTING...
    local curve=$1 gb=$2 seconds=$3 rate=$4 percent=$5 off=- ours
    shift 5
    go "$curve-$gb" bench.yaml selection=random operation=write threads=64 batch=1 block_bytes=128KiB \
        "total=${gb}GB" "$bench.source-location=$both" "$bench.target-location=$both" "$@"
    ours=$(value 'apps[0].seconds')
    if [ "$seconds" != - ]; then
        off=$(rounded 1 "100 * ($ours / $seconds - 1)")
        held "$curve $gb GB, seconds" "$ours" "$seconds" "$percent"
    elif [ "$rate" != - ]; then
        off=$(rounded 1 "100 * ($(gbytes) / $rate - 1)")
        held "$curve $gb GB, GB/s" "$(gbytes)" "$rate" "$percent"
    fi
    row "$curve" "$gb" "$(rounded 4 "$ours")" "$(gbytes)" "$seconds" "$rate" "$off" "$(busiest)"
}

while read -r gb seconds; do
    [[ " $(pick "1 5" "1 5 10 20 30 40 50 60 70 80 90 100") " == *" $gb "* ]] || continue
    rate=$([ "$gb" = 40 ] && echo 87 || echo -)
    machine 4x200G "$gb" "$seconds" "$rate" 15 nics=4 nic_rate=200Gbps "$four"
done <<'END'
1 .013
5 .059
10 .114
20 .227
30 .340
40 .451
50 .553
60 .671
70 .774
80 1.047
90 .992
100 1.103
END
for gb in $(pick 1 "1 10 40"); do
    machine 8x400G "$gb" - "$([ "$gb" = 1 ] && echo - || echo 190)" 10 nics=8 nic_rate=400Gbps "$eight"
done
for gb in $(pick 1 "1 10"); do
    machine 8x400G-alone "$gb" - - 10 nics=8 nic_rate=400Gbps "$alone"
done
figure GB seconds gbytes_per_s
exit "$status"
