#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_rnic_connections.sh - READ rates of a ConnectX-5 by number of connections.
#
# Goal: the profile connectx-5, fitted at 125 and 5000 connections, is within 15 % of the rates measured at
# each of six numbers of connections (Kalia's thesis, figure 3.3).
# Method: scenarios/cache/connectx-5.yaml.
# Does not pin: any other rate of that card.
set -eu
. tests/script.sh

for at in 125:43.0 500:35.5 875:33.5 1250:30.8 2500:28.0 5000:23.0; do
    "$ROCESIM" run scenarios/cache/connectx-5.yaml -o "$work/out" --quiet --set "tokens=${at%:*}" >/dev/null
    mops=$(sed -n 's/^ *"mops": \([0-9.]*\),*$/\1/p' "$work/out/summary.json" | head -n 1)
    echo "${at%:*} connections: $mops M/s, measured ${at#*:}"
    awk -v a="$mops" -v b="${at#*:}" 'BEGIN { exit !(a > 0.85 * b && a < 1.15 * b) }' ||
        fail "${at%:*} connections: $mops M/s, measured ${at#*:}"
done
[ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }
