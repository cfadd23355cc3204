#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/apps/test_app_cut.sh - rates of a run that is cut short are those of the time that was measured.
#
# Goal: with an end (until) in the middle of what an application measures, as with a signal, its rate is that
# of the whole run within 15 %, and not what was done until then by a time that never passed; before the
# measuring begins it is 0. No number wraps round.
# Method: HERD, DrTM-KV, the sequencer, verbs-rate, reads from all to all (200 us each), the Transfer Engine.
# Not pinned: the rates themselves.
set -u
. tests/script.sh
start_forks

rate() { # FIELD SCENARIO UNTIL: of apps[0]
    rocesim run "$work/$2.yaml" -o "$work/out" --quiet --until "$3" >"$work/log" 2>&1 ||
        fail "$2: $(cat "$work/log")"
    awk -F, -v field="$1" '$3 == "" && $5 == field { print $6 }' "$work/out/apps.csv"
}
check() { # NAME FIELD TRAFFIC [WITHIN BEFORE]: times within what is measured, and before it
    cat >"$work/$1.yaml" <<END
topology: {star: {hosts: 4, rate: 100Gbps, delay: 300ns}}
nic: {model: detailed, congestion-control: none}
traffic: [$3]
END
    local whole half early
    whole=$(rate "$2" "$1" 10ms)
    half=$(rate "$2" "$1" "${4-400us}")
    early=$(rate "$2" "$1" "${5-250us}")
    awk -v whole="$whole" -v half="$half" 'BEGIN {
        exit !(whole > 0 && half / whole > 0.85 && half / whole < 1.15) }' ||
        fail "$1: $2 of $half in a run that was cut, of $whole in a whole one"
    [ "$(awk -v early="$early" 'BEGIN { print early + 0 }')" = 0 ] || fail "$1: $2 of $early before it began"
}
span="server: host0, clients-on: \"host[1-3]\", clients: 6, warm-up: 300us, measure: 200us"
check herd mops "{herd: {keys: 4096, workers: 2, window: 4, preset: sigcomm-2014, $span}}"
check pilaf mops "{herd: {system: pilaf, keys: 4096, workers: 2, window: 4, preset: sigcomm-2014, $span}}"
check drtm-kv mops "{drtm-kv: {items: 1000, $span}}"
check sequencer mops "{sequencer: {$span}}"
check spec mops "{sequencer: {version: spec, $span}}"
check verbs-rate mops '{verbs-rate: {from: host1, to: host0, warm-up: 300us, measure: 200us}}'
check reads mops_min '{all-to-all-reads: {warm-up: 300us, measure: 200us}}'
check bench gbytes_per_s '{mooncake-bench: {threads: 2, batch: 16, block: 4KiB, warm-up: 500us,
    duration: 1ms}}' 2200us 1200us
check total gbytes_per_s '{mooncake-bench: {threads: 2, batch: 16, block: 4KiB, total: 10MB}}' 1700us 900us
exit $((failures > 0))
