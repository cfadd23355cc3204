#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scenarios/demo/run.sh [FOLDER] - what do PFC alone and PFC with DCQCN each do to real traffic?
#
# This is a script, since it prints a comparison and draws two figures of its runs.
# Runs demo.yaml twice: without congestion control into FOLDER/pfc-only, with DCQCN into
# FOLDER/dcqcn (FOLDER is out/demo by default). Compares both runs and draws a figure if gnuplot is
# installed. Each run leaves a capture of its most congested port. ROCESIM names the program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=${ROCESIM:-$root/build/release/rocesim}
out=${1:-out/demo}
scenario=$here/demo.yaml
capture=most-congested-port.pcap.gz

if [ ! -x "$program" ]; then
    echo "the program $program does not exist: run make first" >&2
    exit 1
fi

# Prints the port with the longest queue: the first field "port" of summary.json.
hottest_port() {
    sed -n 's/^ *"port": "\(.*\)",$/\1/p' "$1/summary.json" | head -n 1
}

digest() {
    sed -n 's/^ *"digest": "\(.*\)",$/\1/p' "$1/summary.json"
}

# run NAME CONTROL: runs the scenario to find the most congested port, then again with a capture of
# it.
run() {
    echo "== Run $1: nic.congestion-control=$2"
    "$program" run "$scenario" -o "$out/$1" --set "nic.congestion-control=$2" >/dev/null
    port=$(hottest_port "$out/$1")
    before=$(digest "$out/$1")
    echo "   The most congested port is $port. The same run follows with a capture of this port."
    "$program" run "$scenario" -o "$out/$1" --set "nic.congestion-control=$2" \
        --set "captures=[{ports: \"$port\", file: $capture}]"
    if [ "$before" != "$(digest "$out/$1")" ]; then
        echo "the capture changed the result: the digest was $before and is $(digest "$out/$1")" >&2
        exit 1
    fi
    echo
}

run pfc-only none
run dcqcn dcqcn

echo "== Both runs side by side"
echo "   Goodput while transfers start shows how much the loaded network carries. Goodput to the end"
echo "   of the run is lower where the last large flows end late, when the network is idle."
"$program" compare "$out/pfc-only" "$out/dcqcn"

if command -v gnuplot >/dev/null 2>&1; then
    echo
    echo "== Figures of both runs"
    "$program" plot "$out/pfc-only" "$out/dcqcn" -o "$out/demo.svg"
fi

echo
echo "== Captures of the most congested ports: Wireshark opens these files"
ls -l "$out"/*/captures/*.pcap.gz
if command -v tshark >/dev/null 2>&1; then
    echo
    echo "tshark -q -z io,phs -r $out/pfc-only/captures/$capture"
    tshark -q -z io,phs -r "$out/pfc-only/captures/$capture" 2>/dev/null
fi
