#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: clang
# tests/apps/workload/test_repeat.sh - a collective that starts again from idle runs as it did before.
#
# Goal: with ties: rotor and network.draws: packet, an all-to-all that is repeated from idle has the times of
# the first one to the picosecond, under contention, with every congestion control, marks, pauses and losses.
# The outcome digest is that of any number of threads and ranks, and another one when the outcome is another.
# Method: two equal collectives in one run, the second at a time that is no multiple of anything; flows.csv.
# With ties: hash, or with draws from streams, the second one must differ, else this test could not fail.
# Not pinned: collectives whose queue pairs keep a state from one call to the next.
set -u
. tests/script.sh
start_forks
start_ps=700000012345

# scenario CONTROL: writes $work/s.yaml.
scenario() {
    local all="kind: all-to-all, bytes: 512KiB, algorithm: direct, protocol: plain, queue-pairs: per-message"
    cat >"$work/s.yaml" <<END
seed: 3
ties: rotor
network: {draws: packet}
topology:
  leaf-spine: {leaves: 2, spines: 1, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps, delay: 1us}
switch:
  buffer: 4MB
  ecn: {enabled: true, kmin: 20KB, kmax: 200KB, pmax: 0.2}
nic: {mtu: 1024, congestion-control: $1}
traffic:
  - collective: {$all}
  - collective: {$all, start: ${start_ps}ps}
END
}

# run [OPTION]...: prints how many flows of the second collective have other times than the first one's.
run() {
    rm -rf "$work/out"
    within 60 rocesim run "$work/s.yaml" -o "$work/out" --quiet "$@" >"$work/log" 2>&1 ||
        fail "rocesim run $*: $(tail -n 1 "$work/log")"
    awk -F, -v later=$start_ps 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        { pair = $at["src"] " " $at["dst"]
          from = sprintf("%.0f", $at["start_ns"] * 1000); to = sprintf("%.0f", $at["end_ns"] * 1000) }
        from < later { first[pair] = from " " to; flows++; next }
        { flows2++; if (first[pair] != sprintf("%.0f %.0f", from - later, to - later)) differ++ }
        END { if (flows != 56 || flows2 != 56) print "flows: " flows " " flows2; else print differ + 0 }' \
        "$work/out/flows.csv"
}

# number NAME: the first value of that name in the summary.
number() {
    sed -n "s/^ *\"$1\": \"\?\([0-9a-z]*\).*/\1/p" "$work/out/summary.json" | head -n 1
}

# equal WHAT [OPTION]...
equal() {
    local what=$1 differ
    shift
    differ=$(run "$@")
    [ "$differ" = 0 ] || fail "$what $*: $differ flows of the second collective differ, expected none"
}

for control in none dcqcn dctcp hpcc hpcc-pint timely timely-patched swift; do
    scenario $control
    equal $control
    [ "$(number ecn_marked)" -gt 100 ] || fail "$control: $(number ecn_marked) marks, expected many"
done
scenario none
equal "with pauses and losses" --set switch.buffer=1MB --set link.loss-rate=0.002
[ "$(number pause_frames)" -gt 10 ] || fail "no pauses"
[ "$(number dropped)" -gt 10 ] || fail "no losses"
scenario hpcc
equal "with losses" --set link.loss-rate=0.002 --set nic.transport=irn
equal "with reordering" --set link.bit-error-rate=0.0000001 --set link.duplicate-rate=0.001 \
    --set link.reorder-rate=0.001

# What each part is for.
for option in ties=hash network.draws=stream; do
    scenario dcqcn
    differ=$(run --set $option)
    [ "$differ" -gt 10 ] || fail "$option: $differ flows differ, expected most: the test sees nothing"
done
differ=$(scenario hpcc && run --set network.draws=stream --set switch.ecn.enabled=false \
    --set "traffic[0].collective.bytes=2MiB" --set "traffic[1].collective.bytes=2MiB")
[ "$differ" -gt 10 ] || fail "INT's phases: $differ flows differ, expected most: the test sees nothing"

# The outcome digest.
scenario dcqcn
run >"$work/null"
one=$(number outcome_digest)
[ ${#one} -eq 16 ] || fail "outcome_digest is '$one', expected 16 digits"
for threads in 2 4; do
    run --threads $threads >"$work/null"
    [ "$(number outcome_digest)" = "$one" ] ||
        fail "$threads threads: outcome digest $(number outcome_digest), expected $one"
done
run --set seed=4 >"$work/null"
[ "$(number outcome_digest)" != "$one" ] || fail "another seed has the same outcome digest"
case $BUILD_DIRECTORY in
*asan* | *tsan*) ;; # the libraries of MPI leak
*)
    if "$ROCESIM" --version | grep -q 'with Open MPI' && command -v mpirun >/dev/null; then
        run --ranks 2 >"$work/null"
        [ "$(number outcome_digest)" = "$one" ] ||
            fail "2 ranks: outcome digest $(number outcome_digest), expected $one"
    fi
    ;;
esac
[ $failures -eq 0 ]
