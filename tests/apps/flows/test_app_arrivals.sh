#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_app_arrivals.sh - flows that arrive at random are made as their time comes.
#
# Goal: a second of arrivals on 32 hosts is planned in a few MB, whatever their number; flows of a run
# are to the picosecond those of the same flows from a list, which are all held, and the same on two
# threads, with losses that bring packets for queue pairs long forgotten; so are the summaries.
# Method: check with little address space; flows.csv as a list for another run.
# Not pinned: how many flows are made together (some thousands).
set -u
. tests/script.sh

case $BUILD_DIRECTORY in
*asan | *tsan) ;; # their runtime needs more than any such limit
*)
    cat >"$work/second.yaml" <<'END'
topology: {star: {hosts: 32, rate: 100Gbps}}
until: 1s
traffic: [poisson: {load: 0.5, sizes: fbhadoop}]
END
    (ulimit -v $(($(start_kb) + 20000)) && "$ROCESIM" check "$work/second.yaml" >"$work/out" 2>"$work/err") ||
        fail "a second of arrivals: $(cat "$work/err")"
    grep -q 'poisson: 1659650 transfers planned' "$work/out" || fail "$(grep planned "$work/out")"
    ;;
esac

printf '1 1\n9000 90\n100000 100\n' >"$work/sizes.txt"
common='topology: {star: {hosts: 8, rate: 100Gbps}}
link: {loss-rate: 0.002}
nic: {timeout: 6, retry-count: 7}
until: 12ms'
cat >"$work/arrive.yaml" <<END
$common
traffic: [poisson: {load: 0.7, sizes: sizes.txt, messages: 2}]
END
"$ROCESIM" run "$work/arrive.yaml" -o "$work/arrive" --quiet >"$work/out" 2>&1 || fail "$(cat "$work/out")"
"$ROCESIM" run "$work/arrive.yaml" -o "$work/threads" --threads 2 --quiet >/dev/null 2>&1 || fail "threads"
cmp -s "$work/arrive/flows.csv" "$work/threads/flows.csv" || fail "two threads have other flows"
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { print $at["src"], $at["dst"], $at["bytes"] / 2, $at["start_ns"] "ns" }' "$work/arrive/flows.csv" \
    >"$work/list.txt"
[ "$(wc -l <"$work/list.txt")" -gt 15000 ] || fail "only $(wc -l <"$work/list.txt") flows"
cat >"$work/list.yaml" <<END
$common
traffic: [flows: {file: list.txt, messages: 2}]
END
"$ROCESIM" run "$work/list.yaml" -o "$work/list" --quiet >"$work/out" 2>&1 || fail "$(cat "$work/out")"
sed 's/poisson/flows/' "$work/arrive/flows.csv" | diff - "$work/list/flows.csv" >"$work/diff" ||
    fail "flows of a list differ: $(head -n 4 "$work/diff")"
for run in arrive list; do
    sed -n 's/"wall_[^,]*,//; s/poisson/flows/; /"flows": {/,/^  }/p; /"digest"/p' \
        "$work/$run/summary.json" >"$work/$run.txt"
done
grep -q digest "$work/arrive.txt" && diff "$work/arrive.txt" "$work/list.txt" >"$work/diff" ||
    fail "summaries differ: $(head -n 4 "$work/diff")"
exit $((failures > 0))
