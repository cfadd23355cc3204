#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# put-share - the rate of HERD and of stores read by READs, by the share of PUTs (figure 9, Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
for system in herd pilaf farm farm-var; do
    for puts in 5 50 100; do
        herd "$system-$puts" "system=$system" "update_percentage=$puts"
        measure "$system $puts %" "$(mops "$system-$puts")"
    done
done
expect "HERD above Pilaf at 5 %" "$(mops herd-5)" ">" "$(mops pilaf-5)"
expect "HERD above FaRM at 5 %" "$(mops herd-5)" ">" "$(mops farm-5)"
expect "FaRM above its variable form" "$(mops farm-5)" ">" "$(mops farm-var-5)"
expect "FaRM's variable form above Pilaf" "$(mops farm-var-5)" ">" "$(mops pilaf-5)"
report
