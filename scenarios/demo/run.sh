#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scenarios/demo/run.sh [FOLDER] - what do PFC alone and PFC with DCQCN each do to real traffic?
#
# Runs demo.yaml with congestion control off and on into FOLDER/pfc-only and FOLDER/dcqcn (out/demo),
# compares them, draws them where gnuplot is, and leaves a capture of the most congested port of
# each. ROCESIM names the program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=${ROCESIM:-$root/build/release/rocesim}
out=${1:-out/demo}
scenario=$here/demo.yaml
capture=most-congested-port.pcap.gz

if [ ! -x "$program" ]; then
    echo "$program is not there: run make first" >&2
    exit 1
fi

# The first field "port" of summary.json is that of the port with the longest queue.
hottest_port() {
    sed -n 's/^ *"port": "\(.*\)",$/\1/p' "$1/summary.json" | head -n 1
}

digest() {
    sed -n 's/^ *"digest": "\(.*\)",$/\1/p' "$1/summary.json"
}

# run NAME CONTROL: once to find the most congested port, once more with a capture there.
run() {
    echo "== $1: nic.congestion-control=$2"
    "$program" run "$scenario" -o "$out/$1" --set "nic.congestion-control=$2" >/dev/null
    port=$(hottest_port "$out/$1")
    before=$(digest "$out/$1")
    echo "   most congested port: $port; running again with a capture there"
    "$program" run "$scenario" -o "$out/$1" --set "nic.congestion-control=$2" \
        --set "captures=[{ports: \"$port\", file: $capture}]"
    if [ "$before" != "$(digest "$out/$1")" ]; then
        echo "the capture changed the result: digest $before became $(digest "$out/$1")" >&2
        exit 1
    fi
    echo
}

run pfc-only none
run dcqcn dcqcn

echo "== side by side"
"$program" compare "$out/pfc-only" "$out/dcqcn"

if command -v gnuplot >/dev/null 2>&1; then
    echo
    echo "== figures"
    "$program" plot "$out/pfc-only" "$out/dcqcn" -o "$out/demo.svg"
fi

echo
echo "== captures: open them in Wireshark"
ls -l "$out"/*/captures/*.pcap.gz
if command -v tshark >/dev/null 2>&1; then
    echo
    echo "tshark -q -z io,phs -r $out/pfc-only/captures/$capture"
    tshark -q -z io,phs -r "$out/pfc-only/captures/$capture" 2>/dev/null
fi
