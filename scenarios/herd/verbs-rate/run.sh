#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# verbs-rate - the rates of inbound and outbound verbs of a card by their size (figures 3 and 4, Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
# rate KEY METRIC SETTING...: measures the rate of one verb
rate() {
    local key=$1 metric=$2 setting run
    local -a settings=()
    run=${key// /-}
    shift 2
    for setting in "$@"; do settings+=(--set "$setting"); done
    simulate "$run" ../rates.yaml "${settings[@]}" >/dev/null
    measure "$key" "$(field "$run" "$metric")"
}
read="verb=read transport=rc signal_every=1 window=16"
# The window equals the number of WQEs that the card caches.
out_of="from=host0 to=host[1-16] threads=8 window=32"
for bytes in 4 64 128 256 512 1024; do
    inline=$([ "$bytes" -le 256 ] && echo on || echo off)
    rate "WRITE in $bytes B" mops_received "bytes=$bytes" "inline=$inline"
    rate "READ in $bytes B" mops $read "bytes=$bytes" align=1
done
rate "READ in 128 B aligned" mops $read bytes=128
for bytes in 4 28 32 88 92 148 152 208 212; do
    rate "WRITE out $bytes B" mops_received $out_of "bytes=$bytes"
done
for bytes in 60 64 120 124 180 184; do
    rate "SEND out $bytes B" mops_received $out_of verb=send transport=ud "bytes=$bytes"
done
rate "READ out 4 B" mops $read $out_of window=16 bytes=4
rate_of() { field "$1" mops_received; }
expect "a second line of a WQE costs a third" "$(rate_of WRITE-out-32-B)" "<" \
    "$(awk -v a="$(rate_of WRITE-out-28-B)" 'BEGIN { print 0.75 * a }')"
expect "READs at any address are slower than aligned ones" "$(field READ-in-128-B mops)" "<" \
    "$(field READ-in-128-B-aligned mops)"
report
