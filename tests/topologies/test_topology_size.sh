#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/topologies/test_topology_size.sh - how large a network will be is known before it is built.
#
# Goal: a network beyond memory-max is refused at once with its size, at its place, and nothing is
# written; the sizes are those of the network that is built; a higher limit or --yes is enough. So are
# transfers beyond it, and runs beyond time-max; the packet-hops of an estimate are those that a run has.
# Method: limits of 100 KB, and 8 GB against a fat-tree of four million hosts, with 2 GB of address space.
set -u
. tests/script.sh

# refused EXPECTED TOPOLOGY
refused() {
    printf 'memory-max: 100KB\ntopology: %s\n' "$2" >"$work/large.yaml"
    "$ROCESIM" run "$work/large.yaml" -o "$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "$2: exit status"
    grep -q "large.yaml:2:.*: $1 take some .* of memory, expected at most 100.0 KB" "$work/err" ||
        fail "$2: $(cat "$work/err")"
    [ ! -e "$work/out" ] || fail "$2: a folder"
    # What was said is what is built.
    sed -i 's/^memory-max: 100KB/memory-max: 1GB/' "$work/large.yaml"
    hosts=${1#*: } && hosts=${hosts%% hosts*}
    switches=${1#* hosts, } && switches=${switches%% switch*}
    links=${1#* and } && links=${links%% links*}
    "$ROCESIM" check "$work/large.yaml" 2>/dev/null |
        grep -q "  network   $hosts hosts with .*, $switches switche\?s\?, $links links" ||
        fail "$2: $("$ROCESIM" check "$work/large.yaml" 2>&1 | grep network)"
}
refused "topology.fat-tree: 128 hosts, 80 switches and 384 links" "{fat-tree: {k: 8}}"
refused "topology.fat-tree: 96 hosts, 80 switches and 448 links" \
    "{fat-tree: {k: 8, hosts-per-edge: 3, nics-per-host: 2}}"
refused "topology.star: 200 hosts, 1 switch and 400 links" "{star: {hosts: 200, nics-per-host: 2}}"
refused "topology.leaf-spine: 128 hosts, 10 switches and 160 links" \
    "{leaf-spine: {leaves: 8, spines: 2, hosts-per-leaf: 16, links-per-spine: 2}}"
rails="nics-per-host: 4, rails: true, links-per-spine: 2"
refused "topology.leaf-spine: 64 hosts, 12 switches and 320 links" \
    "{leaf-spine: {leaves: 8, spines: 4, hosts-per-leaf: 32, $rails}}"

refused "topology.dumbbell: 70 hosts, 2 switches and 141 links" \
    "{dumbbell: {left: 30, right: 40, nics-per-host: 2}}"
refused "topology.parking-lot: 120 hosts, 4 switches and 123 links" "{parking-lot: {hosts-per-switch: 30}}"
refused "topology.wan: 210 hosts, 3 switches and 213 links" "{wan: {sites: 3, hosts: 70}}"
for ((i = 0; i < 150; ++i)); do echo "h$i"; done >"$work/names"
{
    echo 'memory-max: 100KB'
    echo "topology: {graph: {nodes: [{switch: s}, {host: [$(paste -sd, "$work/names")]}], links: ["
    sed "s/.*/  s--&,/" "$work/names"
    echo '  ]}}'
} >"$work/graph.yaml"
"$ROCESIM" check "$work/graph.yaml" >"$work/out.txt" 2>"$work/err"
[ $? -eq 2 ] && grep -q "150 hosts, 1 switch and 150 links take some .* at most 100.0 KB" "$work/err" ||
    fail "a graph: $(cat "$work/err")"
"$ROCESIM" check "$work/graph.yaml" --yes >"$work/out.txt" 2>"$work/err" || fail "--yes: $(cat "$work/err")"

# Transfers take memory, and their packets time.
printf 'memory-max: 2MB\n%s\ntraffic: [all-to-all: {bytes: 1KB}]\n' 'topology: {star: {hosts: 200}}' \
    >"$work/flows.yaml"
"$ROCESIM" check "$work/flows.yaml" >"$work/out.txt" 2>"$work/err"
[ $? -eq 2 ] && grep -q "flows.yaml:3:.*more than 27397 transfers of 73 bytes each" "$work/err" ||
    fail "transfers: $(cat "$work/err")"
printf 'topology: {fat-tree: {k: 4}}\ntraffic: [permutation: {bytes: 1TB, messages: %d}]\n' 100 \
    >"$work/long.yaml"
for command in check run; do
    within 60 "$ROCESIM" $command "$work/long.yaml" >"$work/out.txt" 2>"$work/err"
    [ $? -eq 2 ] || fail "$command of a long one"
    told="16 interfaces and 16 transfers of 1.600 PB: .* days on one thread, expected at most 10 hours"
    grep -q "long.yaml:2:.*: $told" "$work/err" || fail "$command: $(cat "$work/err")"
done
"$ROCESIM" check "$work/long.yaml" --yes >"$work/out.txt" 2>&1 ||
    fail "check --yes: $(tail -n 1 "$work/out.txt")"
# What the estimate says is what is run, where nothing is lost and nobody waits; and no more than
# links can carry before the end.
estimate() {
    "$ROCESIM" check "$1" 2>/dev/null | sed -n 's/.* packets; \([0-9.e+]*\) packet-hops.*/\1/p'
}
for until in never 100us; do
    cat >"$work/exact.yaml" <<END
topology: {fat-tree: {k: 4}}
nic: {congestion-control: none}
until: $until
traffic: [flows: {list: [host0 host15 4MB 0us, host4 host5 1MB 0us, host8 host10 3MB 0us], verb: write}]
END
    told=$(estimate "$work/exact.yaml")
    ran=$("$ROCESIM" run "$work/exact.yaml" --quiet --json |
        sed -n 's/^  *"packet_hops": \([0-9]*\),/\1/p' | head -n 1)
    awk -v told="$told" -v ran="$ran" 'BEGIN { exit !(ran > 0 && told / ran > 0.95 && told / ran < 1.1) }' ||
        fail "until $until: $told packet-hops estimated, $ran run"
done

echo 'topology: {fat-tree: {k: 256}}' >"$work/huge.yaml"
(
    case $BUILD_DIRECTORY in
    *asan | *tsan) ;; # their runtime needs more than any such limit
    *) ulimit -v 2000000 ;;
    esac
    within 60 "$ROCESIM" check "$work/huge.yaml" 2>"$work/err"
    [ $? -eq 2 ] && grep -q "4194304 hosts, 81920 switches and 12582912 links" "$work/err"
) || fail "a huge one: $(cat "$work/err")"
exit $((failures > 0))
