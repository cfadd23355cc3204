#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: clang plain
# tests/test_hpcc_order.sh - one order of events, however the engine gets there.
#
# Goal: with ties by insertion and the HPCC simulator's random numbers, which depend on the order of
# all events, results stay what they are: over long links, unequal ones, and such as are shorter than
# a window; for what is drawn as packets leave (marks), arrive (losses) and as ACKs come (PINT); and
# whatever is observed and however many threads are asked for.
# Method: bytes of fct.txt, pfc.txt and qlen.txt by their checksums, on inputs made here: 2 leaves and
# 2 spines, DCQCN with random marks, pauses, a link that goes down, many flows of one instant; with
# losses instead, of all links alike and of some by rates of their own; with PINT; with all nodes
# traced. The checksums are those of two engines that the one of today has replaced, a heap of all
# nodes and windows whose events were numbered afterwards; those of inputs without a link that goes
# down are of one list of all events, as all were before nodes ran in windows (order_apart). That
# marks were drawn, pauses sent and frames lost is looked at, too.
# Not pinned: that these results are right (tests/test_hpcc_agreement.sh).
set -u
. tests/script.sh
start_forks

# Hosts 0 to 7, leaves 8 and 9, spines 10 and 11.
# make_input HOST-DELAYS FABRIC-DELAYS BUFFER: delays in turn. In its rules the headroom of a short
# link holds no packet, so with these the buffer is large: what is lost last is never sent again.
make_input() {
    echo 0 >"$work/trace.txt"
    sed -e 's/^ENABLE_QCN .*/ENABLE_QCN 1/' -e "s/^BUFFER_SIZE .*/BUFFER_SIZE $3/" \
        -e 's/^KMAX_MAP .*/KMAX_MAP 2 25000000000 600 100000000000 600/' \
        -e 's/^KMIN_MAP .*/KMIN_MAP 2 25000000000 5 100000000000 5/' \
        -e 's/^PMAX_MAP .*/PMAX_MAP 2 25000000000 0.1 100000000000 0.1/' \
        -e "s/^LINK_DOWN .*/LINK_DOWN ${down:-2000040 8 10}/" \
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
    (cd "$work" && rocesim hpcc config.txt -o "$name" --quiet "$@" >"$name.out" 2>&1) || {
        fail "$name: exit status $?"
        tail -n 3 "$work/$name.out"
    }
}

number() { # of a key of summary.json, its first
    grep -m 1 "\"$1\":" "$work/$2/summary.json" | tr -dc '0-9'
}

# check_order SUM LINKS [OPTIONS]
check_order() {
    local expected=$1 links=$2 sum name
    shift 2
    rm -rf "$work/one" "$work/two"
    run one "$@"
    run two --threads 2 "$@"
    for name in one two; do
        sum=$(cd "$work/$name" && cat fct.txt pfc.txt qlen.txt | cksum | cut -d ' ' -f 1)
        [ "$sum" = "$expected" ] ||
            fail "$links, $name: fct.txt, pfc.txt and qlen.txt have checksum $sum, not $expected"
    done
    [ "$(grep '"digest"' "$work/one/summary.json")" = "$(grep '"digest"' "$work/two/summary.json")" ] ||
        fail "$links: digests differ where two threads are asked for"
}

# order SUM HOST-DELAYS FABRIC-DELAYS BUFFER PAUSES: at least so many.
order() {
    local links="hosts $2, fabric $3"
    make_input "$2" "$3" "$4"
    check_order "$1" "$links"
    [ "$(number ecn_marked one)" -gt 20 ] || fail "$links: hardly a mark"
    [ "$(wc -l <"$work/one/pfc.txt")" -ge "$5" ] || fail "$links: pauses are missing"
    [ "$(wc -l <"$work/one/fct.txt")" = 21 ] || fail "$links: flows are missing"
    # What a packet trace shows are marks as they are made.
    echo "12 0 1 2 3 4 5 6 7 8 9 10 11" >"$work/trace.txt"
    sed -i 's/^ENABLE_TRACE .*/ENABLE_TRACE 1/' "$work/config.txt"
    check_order "$1" "$links, traced"
    grep -q 'on one thread' "$work/two.out" || fail "$links: nothing says that it is one thread"
}

# The same where nothing asks for one list of all events: no link goes down, none is short.
order_apart() {
    down="0 0 0" order "$@"
    down="0 0 0" make_input "$2" "$3" "$4"
    check_order "$1" "hosts $2, fabric $3, in windows"
    grep -q 'on one thread' "$work/two.out" && fail "hosts $2, fabric $3: it says that it is one thread"
}

# Marks are drawn at the end of a window: what samples them within it sees them all the same. Here a
# listener to frames has all events in one list; the samples are the same without it.
order_sampled() {
    local links="hosts $1, fabric $2, marks sampled"
    down="0 0 0" make_input "$1" "$2" 1
    rm -rf "$work/one"
    run one
    (
        cd "$work" || exit
        sed -e 's/^observe: .*/observe:/' -e '/^captures:/d' one/scenario.yaml >sampled.yaml
        echo '  - {series: "port[*->*].ecn_marked", every: 300ns, start: 2s}' >>sampled.yaml
        cp sampled.yaml listened.yaml
        echo '  - {series: "port[switch8->host0].tx_packets", on: change, start: 2s}' >>listened.yaml
        for name in sampled listened; do
            rocesim run $name.yaml -o $name --until 2.0002s --threads 2 --quiet >$name.out 2>&1 || exit
            grep ecn_marked $name/series.csv >$name.marks
        done
    ) || fail "$links: exit status $?"
    [ "$(tail -n 48 "$work/sampled.marks" | grep -vc ',0$')" -gt 2 ] || fail "$links: hardly a mark"
    cmp -s "$work/sampled.marks" "$work/listened.marks" || fail "$links: samples are others than in one list"
}

# order_lossy SUM HOST-DELAYS FABRIC-DELAYS RATE OWN-RATE: of all links; of those of spine 10. What is
# lost last is never sent again: these inputs are such that all flows end.
order_lossy() {
    local links="hosts $2, fabric $3, losses $4, $5" lost
    make_input "$2" "$3" 32
    sed -i -e 's/^LINK_DOWN .*/LINK_DOWN 0 0 0/' "$work/config.txt"
    echo "ERROR_RATE_PER_LINK $4" >>"$work/config.txt"
    sed -i -e "/^[89] 10 /s/ 0\$/ $5/" "$work/topology.txt"
    check_order "$1" "$links"
    lost=$(awk -F': *' '/link-loss|link_loss/ { print }' "$work/one.out" | tr -dc '0-9 ' |
        awk '{ print $1 }')
    [ "${lost:-0}" -gt 3 ] || fail "$links: hardly a frame is lost (${lost:-none})"
}

# order_pint SUM HOST-DELAYS FABRIC-DELAYS
order_pint() {
    make_input "$2" "$3" 32
    sed -i -e 's/^CC_MODE .*/CC_MODE 10/' -e 's/^ENABLE_QCN .*/ENABLE_QCN 0/' "$work/config.txt"
    check_order "$1" "hosts $2, fabric $3, PINT"
}

order 2712931446 "1000" "1000" 1 10
order 1022461254 "700 1000 3000" "1500 500" 1 10
order 3507691939 "20 1000 50" "1000 30" 32 0
order 3624108394 "10" "10" 32 0
order 941296029 "100" "6000 1000" 32 0
order_apart 2712931446 "1000" "1000" 1 50
order_apart 3438676017 "1000 2000 1500" "1500 4000" 1 50
order_apart 2091253452 "1000" "40000" 32 0
order_sampled "1000" "1000"
order_lossy 4065403938 "1000" "1000" 0.002 0
order_lossy 3543593770 "700 1000 3000" "15000 500" 0.001 0.01
order_lossy 504076336 "300 1000 500" "1000 700" 0 0.005
order_pint 3326704093 "1000" "1000"
order_pint 1661448859 "700 1000 3000" "20 500"

[ "$failures" = 0 ]
