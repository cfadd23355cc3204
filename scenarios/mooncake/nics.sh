#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nics - how many GB/s do 1, 2, 4 and 8 NICs move, near the memory, far from it, and out of a GPU's memory?
#
# This is a script, since published figures stand beside its runs.
# Each host has two sockets with half of the NICs each, joined by 500 Gbps (three links of 20.8
# GB/s). near: the memory is at the NICs' own socket. far: the memory is at the other socket, behind
# that link. both: threads use the sockets in turn, and the matrix "auto" gives each socket its own
# NICs. gpu: a NIC of 400 Gbps reads from a GPU behind PCIe 3.0 x16, with 14.4 GB/s of payload in
# TLPs of 256 bytes. Users reported 47 GB/s from DRAM and 15 from a GPU.
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve nics gbytes_per_s links_percent expected busiest
list() { # COUNT
    local i text=
    for ((i = 0; i < $1; i++)); do text="$text${text:+, }\"mlx5_$i\""; done
    echo "$text"
}
# moved CURVE NICS EXPECTED PERCENT: prints the last run's row and compares it with the rate of the
# bottleneck
moved() {
    row "$1" "$2" "$(gbytes)" "$(rounded 1 "100 * $(gbytes) / $line")" "$3" "$(busiest)"
    held "$1 $2" "$(gbytes)" "$3" "$4"
}
two='nic.host={sockets: 2, socket-link: 500Gbps}'
for rate in $(pick 200 "100 200 400"); do
    for count in $(pick counts "1 2" "1 2 4 8"); do
        line=$(rounded 2 "$count * $rate / 8 * 4096 / 4178")
        nics=$(list "$count")
        all="{\"cpu:0\": [[$nics]], \"cpu:1\": [[$nics]]}"
        for where in near far; do
            # The first half of the 2 x count NICs is at socket 0.
            go "$where-$rate-$count" bench.yaml nics=$((2 * count)) nic_rate=${rate}Gbps "$two" \
                switch.buffer=1GB "$bench.matrix='$all'" $bench.duration=2ms \
                "$bench.source-location='cpu:$([ $where = near ] && echo 0 || echo 1)'"
            expected=$([ $where = near ] && echo "$line" || rounded 2 "($line < 62.5 ? $line : 62.5)")
            moved "$where-${rate}G" "$count" "$expected" 3
        done
        if [ "$count" -gt 1 ]; then
            go "both-$rate-$count" bench.yaml nics=$count nic_rate=${rate}Gbps "$two" \
                switch.buffer=1GB $bench.duration=2ms "$bench.source-location='cpu:0, cpu:1'" \
                "$bench.target-location='cpu:0, cpu:1'"
            moved "both-${rate}G" "$count" "$line" 3
        fi
    done
done
line=50
for place in cpu:0 cuda:0; do
    go "gpu-$place" bench.yaml nics=1 nic_rate=400Gbps "nic.host={gpus: 1, gpu-link: 115.2Gbps}" \
        "$bench.source-location='$place'" $bench.duration=2ms
    moved "400G-$place" 1 "$([ $place = cpu:0 ] && echo 47 || echo 15)" 10
done
figure NICs gbytes_per_s links_percent
exit "$status"
