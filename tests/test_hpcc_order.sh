#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/test_hpcc_order.sh - one order of events, however the engine gets there.
#
# Goal: with ties by insertion and the HPCC simulator's random numbers, which depend on the order of
# all events, results are the same whether nodes run apart in windows or one event after the other,
# and on one thread or two; over long links, unequal ones, and such as are shorter than a window.
# Method: bytes of fct.txt, pfc.txt and qlen.txt, and digests, of `ties: list` against `insertion`,
# on inputs made here: 2 leaves and 2 spines, DCQCN with random marks, pauses, a link that goes down,
# many flows of one instant; and with losses instead, of all links alike and of some by rates of
# their own. That marks were drawn, pauses sent and frames lost is looked at, too.
# Not pinned: the results themselves (tests/test_hpcc_agreement.sh).
set -u
. tests/script.sh

# Hosts 0 to 7, leaves 8 and 9, spines 10 and 11.
# make_input HOST-DELAYS FABRIC-DELAYS BUFFER: delays in turn. In its rules the headroom of a short
# link holds no packet, so with these the buffer is large: what is lost last is never sent again.
make_input() {
    echo 0 >"$work/trace.txt"
    sed -e 's/^ENABLE_QCN .*/ENABLE_QCN 1/' -e "s/^BUFFER_SIZE .*/BUFFER_SIZE $3/" \
        -e 's/^KMAX_MAP .*/KMAX_MAP 2 25000000000 600 100000000000 600/' \
        -e 's/^KMIN_MAP .*/KMIN_MAP 2 25000000000 5 100000000000 5/' \
        -e 's/^PMAX_MAP .*/PMAX_MAP 2 25000000000 0.1 100000000000 0.1/' \
        -e 's/^LINK_DOWN .*/LINK_DOWN 2000040 8 10/' \
        -e 's/^QLEN_MON_START .*/QLEN_MON_START 2000000000/' \
        -e 's/^QLEN_MON_END .*/QLEN_MON_END 2000100000/' \
        tests/hpcc/pauses/config.txt >"$work/config.txt"
    awk -v hosts="$1" -v fabric="$2" 'BEGIN {
        h = split(hosts, host, " ")
        f = split(fabric, core, " ")
        print "12 4 12\n8 9 10 11"
        for (i = 0; i < 8; i++)
            print i, i < 4 ? 8 : 9, "25Gbps", host[i % h + 1] "ns", 0
        for (i = 0; i < 4; i++)
            print 8 + i % 2, i < 2 ? 10 : 11, "100Gbps", core[i % f + 1] "ns", 0
    }' >"$work/topology.txt"
    awk 'BEGIN {
        print 21
        for (i = 1; i < 8; i++) # to one; to the next; and some that come later
            printf "%d 0 3 100 %d 2.0\n", i, 300000 + 1000 * i
        for (i = 0; i < 8; i++)
            printf "%d %d 3 100 40000 2.0\n", i, (i + 3) % 8
        for (i = 1; i < 7; i++)
            printf "%d %d 3 100 %d 2.00002\n", i, (i * 5 + 1) % 8 == i ? 0 : (i * 5 + 1) % 8, 30000
    }' >"$work/flow.txt"
}

# run NAME OPTIONS: results in $work/NAME.
run() {
    local name=$1
    shift
    (cd "$work" && "$ROCESIM" hpcc config.txt -o "$name" --quiet "$@" >"$name.out" 2>&1) || {
        fail "$name: exit status $?"
        tail -n 3 "$work/$name.out"
    }
}

number() { # of a key of summary.json, its first
    grep -m 1 "\"$1\":" "$work/$2/summary.json" | tr -dc '0-9'
}

# compare_ways LINKS: `ties: list`, and `insertion` on one thread and on two.
compare_ways() {
    local links=$1 other file
    rm -rf "$work"/list "$work"/one "$work"/two
    run list --set ties=list
    run one
    run two --threads 2
    for other in one two; do
        for file in fct.txt pfc.txt qlen.txt; do
            cmp -s "$work/list/$file" "$work/$other/$file" ||
                fail "$links: $file of ties: list and of insertion ($other) differ"
        done
        [ "$(grep '"digest"' "$work/list/summary.json")" = \
            "$(grep '"digest"' "$work/$other/summary.json")" ] ||
            fail "$links: digests of ties: list and of insertion ($other) differ"
    done
}

# compare HOST-DELAYS FABRIC-DELAYS BUFFER PAUSES: at least so many.
compare() {
    local links="hosts $1, fabric $2"
    make_input "$1" "$2" "$3"
    compare_ways "$links"
    [ "$(number ecn_marked list)" -gt 20 ] || fail "$links: hardly a mark"
    [ "$(wc -l <"$work/list/pfc.txt")" -ge "$4" ] || fail "$links: pauses are missing"
    [ "$(wc -l <"$work/list/fct.txt")" = 21 ] || fail "$links: flows are missing"
}

# compare_lossy HOST-DELAYS FABRIC-DELAYS RATE OWN-RATE: of all links; of those of spine 10. What is
# lost last is never sent again: these inputs are such that all flows end.
compare_lossy() {
    local links="hosts $1, fabric $2, losses $3, $4"
    make_input "$1" "$2" 32
    sed -i -e 's/^LINK_DOWN .*/LINK_DOWN 0 0 0/' "$work/config.txt"
    echo "ERROR_RATE_PER_LINK $3" >>"$work/config.txt"
    sed -i -e "/^[89] 10 /s/ 0\$/ $4/" "$work/topology.txt"
    compare_ways "$links"
    local lost
    lost=$(awk -F': *' '/link-loss|link_loss/ { print }' "$work/one.out" | tr -dc '0-9 ' |
        awk '{ print $1 }')
    [ "${lost:-0}" -gt 3 ] || fail "$links: hardly a frame is lost (${lost:-none})"
    ! grep -q 'ties: list' "$work/one/scenario.yaml" || fail "$links: ties: list is not needed"
}

compare "1000" "1000" 1 10
compare "700 1000 3000" "1500 500" 1 10
compare "20 1000 50" "1000 30" 32 0
compare "10" "10" 32 0
compare "100" "6000 1000" 32 0
compare_lossy "1000" "1000" 0.002 0
compare_lossy "700 1000 3000" "15000 500" 0.001 0.01
compare_lossy "300 1000 500" "1000 700" 0 0.005

[ "$failures" = 0 ]
