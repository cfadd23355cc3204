#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clients - the rate by the number of clients, with windows of 4 and 16 (figure 12, Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
for window in 4 16; do
    for clients in 12 36 51 150 260 300 372 558; do
        herd "$clients-$window" "clients=$clients" "window=$window" keys=65536
        measure "$clients clients of $window" "$(mops "$clients-$window")"
    done
done
expect "36 clients saturate the server" \
    "$(mops 36-4)" ">" "$(awk -v a="$(mops 51-4)" 'BEGIN { print 0.95 * a }')"
expect "558 clients are too many" "$(mops 558-4)" "<" "$(mops 372-4)"
expect "wider windows suffer less" "$(mops 558-16)" ">" "$(mops 558-4)"
report
