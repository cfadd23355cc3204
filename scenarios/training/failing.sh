#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# failing - what does a failing NIC or cable do to its job, and to the other job on the fabric?
#
# This is a script, since runs may end stalled, and both jobs of a run are rows.
# Two jobs of two servers, interleaved. At 7 ms, in the exchange of gradients, the cable of one of
# host0's NICs, or one between switches, fails: for 2 ms or for good. The transport gives up after 7
# timeouts; the job then waits for ever, as one without checkpoints does, and the other one goes on.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" case,nr,job,outcome,iteration_ms,dp_ms,messages_failed,resent
job="sequence-parallel: true, model: gpt-22b, layers: 1, tp: 8, microbatches: 2, overlap: none"
at=$(pick 500us 7ms)
nr=0
for case in $(pick cases "even nic-lost" "even nic-2ms nic-lost cable-2ms cable-lost"); do
    nr=$((nr + 1))
    settings=()
    case $case in
    nic-2ms) settings=("faults[0]={part: host0/nic0, at: $at, until: 9ms}") ;;
    nic-lost) settings=("faults[0]={part: host0/nic0, at: $at}") ;;
    cable-2ms) settings=("faults[0]={part: leaf0--spine0, at: $at, until: 9ms}") ;;
    cable-lost) settings=("faults[0]={part: leaf0--spine0, at: $at}") ;;
    esac
    attempt gpt.yaml gpus=32 per_leaf=2 spines=4 topology=leaf-spine cc=dcqcn "${settings[@]}" \
        "traffic[0]={training: {$job, hosts: \"host[0,2]\", dp: 2}}" \
        "traffic[1]={training: {$job, hosts: \"host[1,3]\", dp: 2}}"
    for i in 0 1; do
        outcome=finished
        [ "$(value "apps[$i].ranks_finished")" = "$(value "apps[$i].ranks")" ] || outcome=stalled
        iteration=- # a job that stalled has none
        [ $outcome = stalled ] || iteration=$(calc "$(value "apps[$i].iteration_ms")")
        put "$case" $nr "$i" $outcome "$iteration" \
            "$(calc "$(value "apps[$i].exposed_ms.dp")")" "$(value "apps[$i].messages_failed")" \
            "$(value retransmitted_packets)"
    done
done
labels=1 draw case iteration_ms dp_ms
