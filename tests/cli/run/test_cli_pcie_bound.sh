#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_pcie_bound.sh - a NIC whose PCIe link is slower than its network link.
#
# Goal: data comes in no faster than PCIe carries it to memory, by WRITE and by READ; what PCIe
# cannot take waits in the receive buffer, which pauses the network and loses nothing.
# Method: one flow of 20 MB through PCIe links of 4, 8 and 16 lanes against the closed form: a packet
# of 4096 bytes is 16 writes of 256 + 26 bytes, 3.3 % more time for the link layer, 7.8768 Gbps a lane.
# Not pinned: how full the buffer gets, how often it pauses.
set -u
. tests/script.sh

cd "$work" || exit 1
cat >slow.yaml <<'EOF'
topology: {star: {hosts: 2, rate: 100Gbps}}
nic: {congestion-control: none}
nodes: {host0: {nic: {model: detailed, profile: connect-ib}}}
traffic: [flows: {list: [host1 host0 20MB 0us]}]
EOF

# value NAME: the first number of that name in the summary
value() {
    sed -n 's/^ *"'"$1"'": \([-0-9.e+]*\),\{0,1\}$/\1/p' summary | head -n 1
}

for lanes in 4 8 16; do
    for verb in write read; do
        flow="host1 host0"
        [ $verb = read ] && flow="host0 host1"
        "$ROCESIM" run slow.yaml --quiet --json --set "nodes.host0.nic.detailed.pcie.lanes=$lanes" \
            --set "traffic[0].flows.list=[$flow 20MB 0us]" --set "traffic[0].flows.verb=$verb" \
            >summary || fail "$verb over $lanes lanes: the run failed"
        goodput=$(value goodput_gbps)
        pauses=$(value pauses_sent)
        # The network's 100 Gbps carry 4096 bytes in 4178 (WRITE and READ responses, some more for the
        # first and last); 1 % for the way there and back, 0.1 % for what is acknowledged and still waits.
        awk -v goodput="$goodput" -v lanes="$lanes" 'BEGIN {
            pcie = 7.8768 * lanes * 4096 / (16 * (256 + 26) * 1.033)
            network = 100 * 4096 / 4178
            bound = pcie < network ? pcie : network
            exit !(goodput < 1.001 * bound && goodput > 0.99 * bound) }' ||
            fail "$verb over $lanes lanes: $goodput Gbps"
        [ "$(value dropped)" = 0 ] || fail "$verb over $lanes lanes: $(value dropped) drops"
        if [ "$lanes" -eq 16 ]; then
            [ "$pauses" -eq 0 ] || fail "$verb: $pauses pauses where PCIe is the faster link"
        else
            [ "$pauses" -gt 0 ] || fail "$verb over $lanes lanes: the NIC does not pause the network"
            grep -q '"port": "host0"' summary || fail "$verb: the pauses do not begin at host0"
        fi
    done
done

# Without a limit on what waits for PCIe there would be no pause: the knob does something.
"$ROCESIM" run slow.yaml --quiet --json --set nodes.host0.nic.detailed.pcie.lanes=8 \
    --set nodes.host0.nic.detailed.pcie.posted-max=1MiB --set 'traffic[0].flows.list=[host1 host0 1MB 0us]' \
    >summary || fail "posted-max: the run failed"
[ "$(value pauses_sent)" -eq 0 ] || fail "1 MB fits into 1 MiB of writes that wait, and the NIC pauses"

[ "$failures" -eq 0 ] || {
    echo "rerun: ctest --test-dir build/release -R '^test_cli_pcie_bound$' --output-on-failure"
    exit 1
}
