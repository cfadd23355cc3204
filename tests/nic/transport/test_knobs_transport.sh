#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_knobs_transport.sh - every knob of the transports, and of what links do to packets, matters.
#
# Goal: each attribute of nic.adamap., nic.irn. and nic.sdr., those of links that lose, reorder and double,
# and go-back-N's of NAKs change what happens in a run or what is told of it. An attribute that is added
# must get a row here.
# Method: a short run of scenarios/wan/goodput.yaml for each, with another value; its digest or its report
# must differ from those of the run without.
# Not pinned: that what it changes is right.
set -eu
. tests/script.sh
start_forks

# told OPTIONS...: the digest of a run, and what the application tells of its transport
told() {
    local set=()
    for option in "$@"; do set+=(--set "$option"); done
    rocesim run scenarios/wan/goodput.yaml --quiet -o "$work/run" --set rtt=200us --set bytes=6MB \
        "${set[@]}" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
    grep '^ *digest' "$work/log"
    sed -n '/"transport": {/,/}/p' "$work/run/summary.json"
}
tried=" "
# knob CONTEXT ATTRIBUTE VALUE: in that context the value changes something. Contexts: options with commas.
knob() {
    local context=${1//,/ } with without
    tried+="$2 "
    sometimes 5 || return 0
    # shellcheck disable=SC2086
    without=$(told $context) && with=$(told $context "$2=$3") || { fail "$2=$3: the run"; return 0; }
    [ "$with" != "$without" ] || fail "$2=$3 changes nothing ($1)"
}
lossy=loss=0.03,qps=3
small=$lossy,nic.adamap.cached=1,nic.adamap.watermark=0
knob $lossy nic.adamap.bits 64
knob $lossy nic.adamap.cached 8
knob $lossy,loss=0.2,bits=64 nic.adamap.resend-entries 1
knob $lossy,loss=0.2,qps=1,nic.adamap.read-latency=20us nic.adamap.late-requests 1
knob $lossy,loss=0.2,nic.adamap.bits=2,nic.adamap.cached=8 nic.adamap.watermark 7
knob $lossy,loss=0.2 nic.adamap.table-cache 0
knob $lossy,loss=0.2 nic.adamap.scan-interval 1ms
knob $lossy,loss=0.2 nic.adamap.expire-after 3ms
knob loss=0.3 nic.adamap.close-after 200us
knob loss=0.5,links.host0--border1.loss-packets=all,links.host0--border1.loss-direction=both \
    nic.adamap.timeout 5ms
knob $small nic.adamap.read-latency 20us
knob $small nic.adamap.dma-rate 10Mbps
knob $small nic.adamap.insert-time 100us
knob $small nic.adamap.return-time 100us
knob $small nic.adamap.chain known
knob $lossy,nic.adamap.bits=1 nic.adamap.run-blocks 8
slow=$small,nic.adamap.read-latency=20us,nic.adamap.wait-packets=0
knob $small,nic.adamap.read-latency=20us nic.adamap.wait-packets 0
knob $slow nic.adamap.drain-rate 105Gbps
knob $slow nic.adamap.stall-buffer 8KiB
knob $small,nic.host.sockets=2,nic.host.socket-link-latency=5us nic.adamap.location far
knob $small nic.adamap.blocks 3
knob $small nic.adamap.block-align 256
knob $small nic.adamap.chunk-blocks 1000
knob $small nic.adamap.sample-interval 1ms
irn=transport=irn,$lossy
knob $irn nic.irn.window 20KB
knob $irn nic.irn.bits 5
knob $irn nic.irn.recovery all
knob transport=irn,loss=0.3 nic.irn.rto-low 5ms
knob transport=irn,loss=0.3 nic.irn.rto-high 5ms
knob transport=irn,loss=0.3 nic.irn.rto-low-packets 100
sdr=transport=sdr,$lossy
knob $sdr nic.sdr.chunk 64KiB
knob $sdr nic.sdr.rto 1
knob $sdr nic.sdr.nack on
knob $sdr nic.sdr.code mds
knob $sdr,nic.sdr.code=xor nic.sdr.code-data 8
knob $sdr,nic.sdr.code=xor nic.sdr.code-parity 2
knob $sdr,nic.sdr.code=xor,loss=0.2 nic.sdr.fallback 3
gbn=transport=go-back-n,loss=0.02
knob $gbn nic.nak-interval 0s
knob $gbn nic.nak-once off
knob $gbn nic.nak-ends on
link=links.host0--border1
knob loss=0 $link.loss-rate 0.1
knob $lossy $link.loss-model bursts
knob $lossy,$link.loss-direction=backward $link.loss-packets all
knob $lossy $link.loss-direction backward
knob $lossy,loss_model=bursts $link.loss-burst 3
knob $lossy,loss_model=gilbert-elliott $link.loss-bad-rate 0.5
knob loss=0 $link.reorder-rate 0.1
knob loss=0,$link.reorder-rate=0.1 $link.reorder-delay 50us
knob loss=0 $link.duplicate-rate 0.1
knob $gbn nic.recovery-delay 500us

for prefix in adamap irn sdr; do
    for attribute in $(rocesim params nic.$prefix | grep -o "^nic\.$prefix\.[a-z-]*"); do
        [[ $tried == *" $attribute "* ]] || fail "no row for $attribute"
    done
done
for attribute in $(rocesim params link | grep -oE '^link\.(loss|reorder|duplicate)[a-z-]*'); do
    [[ $tried == *"$link.${attribute#link.} "* ]] || fail "no row for $attribute"
done
exit $((failures > 0))
