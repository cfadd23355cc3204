#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/apps/test_app_faults_end.sh - every run with a fault ends by itself and says why.
#
# Goal: each kind of fault, for good or with an end, with nothing outstanding, with transfers that all fail
# and with transfers that stay blocked: the run ends long before 106 days, "done" or "stalled", the same on
# two threads. A storm of pauses does not keep a run alive; nor do the pauses that switches repeat for ever
# because of packets whose senders have given up.
# Method: a table of faults and loads; a limit of processor time; how the run ended and when; digests.
# Not pinned: what gets through.
# labels: slow
set -u
. tests/script.sh
start_forks

topology='topology: {leaf-spine: {leaves: 2, spines: 1, hosts-per-leaf: 4, host-rate: 10Gbps}}'
# Without a window, and with patience: packets pile up behind a stopped port before anything fails.
quick='nic: {congestion-control: none, timeout: 6, retry-count: 1}'
ever='nic: {congestion-control: none, timeout: 14, retry-count: 7}'
into='host0 host7 4MB 0us, host1 host7 4MB 0us, host4 host7 4MB 0us'

# load NAME NIC FLOWS [SWITCH]
load() {
    printf '%s\nswitch: {buffer: 1MB%s}\n%s\ntraffic: [{flows: {list: [%s]}}]\n' \
        "$topology" "${4:-}" "$2" "$3" >"$work/$1.load"
    loads="$loads $1"
}
loads=""
load none "$quick" 'host1 host2 10KB 0us'
load failed "$quick" "$into"
load some "$ever" "$into, host1 host2 10KB 0us"
load later "$quick" "$into, host1 host2 10KB 3ms"
# All packets are in switches when a storm begins. Their sender gives up; the switches repeat their pauses.
load given-up "$quick" 'host0 host7 90KB 0us, host1 host2 10KB 0us' ', pfc: {threshold: 40KB}'

# fault NAME TEXT
fault() {
    printf 'faults: [{part: host7, %s}]\n' "$2" >"$work/$1-good.fault"
    printf 'faults: [{part: host7, %s, at: 20us, until: 500us}]\n' "$2" >"$work/$1-end.fault"
    faults="$faults $1-good $1-end"
}
faults=""
fault down 'kind: down'
fault degraded 'kind: degraded, rate: 1Mbps'
fault errors 'kind: bit-errors, loss-rate: 1'
fault slow 'kind: slow-receiver, rate: 1Mbps'
fault storm 'kind: pause-storm'

# value NAME FILE: a number or word of a summary.
value() {
    sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2" | head -n 1
}

# run LOAD FAULT THREADS [OPTION]...: leaves the summary in $work/THREADS.
run() {
    local status=0
    cat "$work/$1.load" "$work/$2.fault" >"$work/s.yaml"
    within 20 rocesim run "$work/s.yaml" --quiet --json --threads "${@:3}" >"$work/$3" 2>"$work/err" ||
        status=$?
    [ $status -eq 0 ] || { [ $status -eq 1 ] && grep -q '"ended": "stalled"' "$work/$3"; } ||
        fail "$*: status $status: $(head -n 3 "$work/err")"
}

for load in $loads; do
    for fault in $faults; do
        sometimes 3 || continue
        run "$load" "$fault" 1
        ended=$(value ended "$work/1")
        seconds=$(awk "BEGIN { printf \"%d\", $(value sim_time_ps "$work/1") / 1e12 }")
        echo "$load $fault: $ended after $(value sim_time_ps "$work/1") ps, $(value events "$work/1") events"
        case $load-$fault-$ended in
        none-*-done | *-end-done | *-down-good-done | *-errors-good-done | *-slow-good-done) ;;
        some-degraded-good-stalled | *-degraded-good-done) ;;
        given-up-storm-good-stalled)
            grep -q '^stalled: no work is left' "$work/err" || fail "$load, $fault: $(head -n 1 "$work/err")"
            ;;
        none-*) fail "$load, $fault: ended '$ended'" ;;
        *-storm-good-stalled)
            grep -q '^stalled: [1-9].* work are left' "$work/err" ||
                fail "$load, $fault: $(head -n 1 "$work/err")"
            ;;
        *) fail "$load, $fault: ended '$ended'" ;;
        esac
        [ "$load" != none ] || [ "$(value sim_time_ps "$work/1")" -lt 100000000 ] ||
            fail "$load, $fault: the fault keeps the run alive"
        [ "$seconds" -lt 30 ] || fail "$load, $fault: ended after $seconds s"
        run "$load" "$fault" 2
        [ "$(value digest "$work/1")" = "$(value digest "$work/2")" ] || fail "$load, $fault: threads differ"
    done
done
[ $failures -eq 0 ]
