#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/topologies/test_topology_size.sh - how large a network will be is known before it is built.
#
# Goal: a network beyond memory-max is refused at once with its size, at its place, and nothing is
# written; the sizes are those of the network that is built; a higher limit is enough.
# Method: limits of 1 MB, and 8 GB against a fat-tree of two million hosts, with 2 GB of address space.
set -u
. tests/script.sh

# refused EXPECTED TOPOLOGY
refused() {
    printf 'memory-max: 1MB\ntopology: %s\n' "$2" >"$work/large.yaml"
    "$ROCESIM" run "$work/large.yaml" -o "$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "$2: exit status"
    grep -q "large.yaml:2:.*: $1 take some .* of memory, expected at most 1.000 MB" "$work/err" ||
        fail "$2: $(cat "$work/err")"
    [ ! -e "$work/out" ] || fail "$2: a folder"
    # What was said is what is built.
    sed -i 's/^memory-max: 1MB/memory-max: 1GB/' "$work/large.yaml"
    hosts=${1#*: } && hosts=${hosts%% hosts*}
    switches=${1#* hosts, } && switches=${switches%% switches*}
    links=${1#* and } && links=${links%% links*}
    "$ROCESIM" check "$work/large.yaml" 2>/dev/null |
        grep -q "  network   $hosts hosts with .*, $switches switches, $links links" ||
        fail "$2: $("$ROCESIM" check "$work/large.yaml" 2>&1 | grep network)"
}
refused "topology.fat-tree: 128 hosts, 80 switches and 384 links" "{fat-tree: {k: 8}}"
refused "topology.fat-tree: 96 hosts, 80 switches and 448 links" \
    "{fat-tree: {k: 8, hosts-per-edge: 3, nics-per-host: 2}}"
refused "topology.star: 200 hosts, 1 switches and 400 links" "{star: {hosts: 200, nics-per-host: 2}}"
refused "topology.leaf-spine: 128 hosts, 10 switches and 160 links" \
    "{leaf-spine: {leaves: 8, spines: 2, hosts-per-leaf: 16, links-per-spine: 2}}"
rails="nics-per-host: 4, rails: true, links-per-spine: 2"
refused "topology.leaf-spine: 64 hosts, 12 switches and 320 links" \
    "{leaf-spine: {leaves: 8, spines: 4, hosts-per-leaf: 32, $rails}}"

echo 'topology: {fat-tree: {k: 200}}' >"$work/huge.yaml"
(
    case $BUILD_DIRECTORY in
    *asan | *tsan) ;; # their runtime needs more than any such limit
    *) ulimit -v 2000000 ;;
    esac
    timeout 20 "$ROCESIM" check "$work/huge.yaml" 2>"$work/err"
    [ $? -eq 2 ] && grep -q "2000000 hosts, 50000 switches and 6000000 links" "$work/err"
) || fail "a huge one: $(cat "$work/err")"
exit $((failures > 0))
