#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_cli_series.sh - series.csv, sampled and on change.
#
# Goal: a series on change shows each value at the instant it came to be, once per instant, and
# nothing else; sampled and on change agree; neither depends on threads; limits hold.
# Method: two senders into one port, moments by hand (80 ps a byte, 1 us of delay); then every
# metric there is over a network with pauses, marks, losses and several queue pairs, both ways: the
# sample at t must be the last change before t.
# Not pinned: alpha and time paused between two events, which change without one.
set -u
. tests/script.sh
start_forks

# run FOLDER SCENARIO [OPTIONS]
run() {
    folder=$1
    shift
    rocesim run "$@" -o "$work/$folder" --quiet >"$work/stdout" 2>"$work/stderr" || {
        fail "run of $folder: exit status $?"
        head -n 5 "$work/stderr"
    }
}

# is FOLDER PATH: the rows of a path are those of the standard input.
is() {
    awk -F, -v path="$2" '$2 == path { print $1, $3 }' "$work/$1/series.csv" >"$work/rows"
    cat >"$work/expected"
    diff "$work/expected" "$work/rows" >"$work/diff" || {
        fail "$2: expected <, is >"
        head -n 12 "$work/diff"
    }
}

# -- ports by the names of NICs: the second NICs of host0, what the switches send to first NICs

cat >"$work/nics.yaml" <<'END'
until: 20us
topology: {leaf-spine: {leaves: 2, spines: 1, hosts-per-leaf: 2, nics-per-host: 2}}
traffic: [{incast: {to: host3/nic0, bytes: 10KB}}]
observe:
  - {series: "port[host0/nic1->*].tx_packets", every: 10us}
  - {series: "port[leaf*->host[1-2]/nic0].tx_packets", every: 10us}
END
run nics "$work/nics.yaml"
cut -d, -f2 "$work/nics/series.csv" | sort -u >"$work/rows"
printf '%s\n' path 'port[host0->leaf0#2].tx_packets' 'port[leaf0->host1].tx_packets' \
    'port[leaf1->host2].tx_packets' | sort | diff - "$work/rows" || fail "ports by NICs"

# -- moments by hand

# Two hosts write 3 packets each to a third at once, the first with a RETH: 4170, 4154 and 3866
# bytes (58 around 4096, 4096 and 3808 of 12000, 16 more in the first, no pad). On the link 24 more,
# of which the gap of 12 delays no arrival: each host starts its packets at 0, 335.52 and 669.76 ns;
# they reach the switch at 1334.56, 1668.8 and 1980 ns. The port of the third host is busy from
# the first arrival on: its packets take 335.52, 335.52, 334.24 (twice) and 311.2 ns (twice).
cat >"$work/hand.yaml" <<'END'
topology:
  star: {hosts: 3, rate: 100Gbps, delay: 1us}
nic: {congestion-control: none, mtu: 4096, ack-interval: 256}
switch: {ecn: {enabled: false}}
traffic:
  - flows: {list: [host0 host2 12000 0us, host1 host2 12000 0us]}
observe:
  - {series: "port[switch0->host2].queue_bytes[3]", on: change}
  - {series: "port[host0->switch0].tx_packets", on: change}
  - {series: "port[host1->switch0].tx_packets", on: change, start: 400ns}
  - {series: "switch[*].buffer_bytes", on: change}
  - {series: "qp[host0->host2].rate_bps", on: change}
  - {series: "qp[host0->host2:*].in_flight_bytes", on: change}
  - {series: "qp[host0:2].rtt_ps", on: change}
  - {series: "qp[host1->host*].rtt_ps", every: 2us}
  - {series: "port[switch0->host2].utilisation", every: 1us}
END
run hand "$work/hand.yaml"
is hand "port[switch0->host2].queue_bytes[3]" <<'END'
0 0
1334.560 4170
1668.800 12478
1670.080 8308
1980 16040
2005.600 11886
2339.840 7732
2674.080 3866
2985.280 0
END
is hand "switch[switch0].buffer_bytes" <<'END'
0 0
1334.560 4170
1668.800 12478
1670.080 8308
1980 16040
2005.600 11886
2339.840 7732
2674.080 3866
2985.280 0
END
is hand "port[host0->switch0].tx_packets" <<'END'
0 1
335.520 2
669.760 3
END
is hand "port[host1->switch0].tx_packets" <<'END'
400 2
669.760 3
END
# The last ACK leaves when all is there, at 4295.52 ns, and takes two hops of 1005.92. (Of the last two
# packets, that came at one instant, the one of host1 went first.) Then the queue pair is destroyed.
is hand "qp[host0->host2:2].rate_bps" <<'END'
0 100000000000
6307.360 0
END
# Bits on the link in each microsecond, of 1e5 that fit: from 1334.56 ns on 4194, 4194, then 4178
# twice and 3890 twice, as far as they are out by then; those of ACKs go the other way.
is hand "port[switch0->host2].utilisation" <<'END'
1000 0
2000 665440
3000 1000000
4000 296480
5000 0
6000 0
END

# -- a port that never rests is used wholly, here as in summary.json, by all its classes together

cat >"$work/full.yaml" <<'END'
topology: {star: {hosts: 3, rate: 100Gbps}}
nic: {congestion-control: none, priority: 3}
nodes: {host1: {nic: {priority: 4}}}
until: 400us
traffic: [flows: {list: [host1 host0 9MB 0us, host2 host0 9MB 0us]}]
observe:
  - {series: "port[switch0->host0].utilisation", every: 7us}
  - {series: "port[switch0->host0].utilisation[3]", every: 7us}
END
rocesim run "$work/full.yaml" -o "$work/full" --quiet >/dev/null
awk -F, '/utilisation,/ && $1 > 10000 { n++; wrong += $3 != 1000000 } /\[3\]/ && $3 > 1000000 { wrong++ }
         END { exit !(n > 50 && wrong == 0) }' "$work/full/series.csv" ||
    fail "full: $(grep -m 3 'utilisation,' "$work/full/series.csv") of a port that never rests"
awk '/"port": "switch0->host0"/ { mine = 1 }
     mine && /"utilisation"/ { sub(",", ""); exit !($2 > 0.996 && $2 <= 1) }' "$work/full/summary.json" ||
    fail "full: summary.json has $(grep -m 1 utilisation "$work/full/summary.json")"

# -- one meaning each: the largest queue, and queue pairs that only answer

cat >"$work/two.yaml" <<'END'
topology: {star: {hosts: 4, rate: 100Gbps}}
switch: {ecn: {enabled: false}}
nic: {congestion-control: none, priority: 3}
nodes: {host1: {nic: {priority: 4}}}
traffic:
  - flows:
      list: [host1 host0 200KB 0us, host2 host0 200KB 20us, host3 host0 200KB 0us, host0 host1 200KB 0us]
observe:
  - {series: "port[switch0->host0].queue_bytes", on: change}
  - {series: "qp[host0->*].rate_bps", on: change}
  - {series: "qp[host0->*].window_bytes", every: 1us}
  - {series: "qp[host0->*].state", every: 5us}
END
run two "$work/two.yaml"
column=$(head -n 1 "$work/two/ports.csv" | tr , '\n' | grep -n '^queue_bytes_max$' | cut -d: -f1)
told=$(awk -F, -v column="$column" '$1 == "switch0->host0" { print $column }' "$work/two/ports.csv")
seen=$(awk -F, '/queue_bytes,/ && $3 > most { most = $3 } END { print most }' "$work/two/series.csv")
[ "$told" = "$seen" ] || fail "largest queue of two classes: ports.csv says $told, series.csv $seen"
for metric in rate_bps window_bytes; do
    paths=$(grep -o "qp\[.*\].$metric" "$work/two/series.csv" | sort -u)
    [[ $paths == *'host0->host1:'* && $paths != *$'\n'* ]] || fail "$metric of host0: $paths"
done
[ "$(grep -o 'qp\[.*\].state' "$work/two/series.csv" | sort -u | wc -l)" -eq 4 ] ||
    fail "state of the four queue pairs of host0"

# -- every metric, both ways

cat >"$work/base.yaml" <<'END'
topology:
  leaf-spine:
    {leaves: 2, spines: 1, hosts-per-leaf: 3, host-rate: 100Gbps, fabric-rate: 100Gbps, delay: 1us}
switch: {buffer: 400KB, ecn: {kmin: 5KB, kmax: 50KB}}
nic: {mtu: 1024, window: 100KB, timeout: 5}
links: {"leaf1--spine0": {loss-rate: 1/100}}
traffic:
  - flows:
      list: [host0 host3 300KB 0us, host1 host3 300KB 1us, host2 host4 200KB 2us, host5 host3 300KB 0us]
  - flows: {list: [host4 host0 100KB 3us], verb: read}
until: 300us
observe:
END
# What the page says there is. These have no events of their own between which they stay, or belong to links
# with credits or retries.
metrics=$(rocesim params --outputs-markdown |
    sed -nE 's/^\| `((port|nic|qp|switch)\[.*\]\.[^`]*)` .*/\1/p' |
    grep -v -e '\.utilisation' -e '\.transport\.' -e '\.paused_ps' -e '\.alpha' \
        -e '\.credit' -e '\.cf_' -e '\.cc_[rt]x' -e '\.sets_lost' -e '\.llr_' -e '\.retr[iy]' |
    sort -u) # algorithms share names
[ "$(echo "$metrics" | wc -l)" -gt 40 ] || fail "fewer metrics than there are"
for on in "on: change" "every: 290ns"; do
    name=${on%%:*}
    cp "$work/base.yaml" "$work/$name.yaml"
    for metric in $metrics; do
        case $metric in
        port*) path="port[*->*]${metric#*]}" ;;
        switch*) path="switch[*]${metric#*]}" ;;
        nic*) path="nic[*]${metric#*]}" ;;
        *) path="qp[*:*]${metric#*]}" ;;
        esac
        echo "  - {series: \"${path//\[N\]/[3]}\", $on}" >>"$work/$name.yaml"
    done
done
# both [OPTIONS]: runs them both, compares.
both() {
    run on "$work/on.yaml" "$@"
    run every "$work/every.yaml" "$@"
    digests=$(sed -n 's/.*"digest": "\(.*\)".*/\1/p' "$work/on/summary.json" "$work/every/summary.json" |
        uniq | wc -l)
    [ "$digests" -eq 1 ] || fail "observing changes the digest ($*)"
    awk -F, '
        FNR == 1 { file++; next }
        file == 1 { count[$2]++; at[$2, count[$2]] = $1; value[$2, count[$2]] = $3 }
        file == 1 && count[$2] > 1 && value[$2, count[$2] - 1] == $3 { print "no change: " $0; bad++ }
        file == 1 && count[$2] > 1 && at[$2, count[$2] - 1] + 0 >= $1 + 0 { print "twice: " $0; bad++ }
        file == 2 {
            i = next_row[$2] + 0
            while (i < count[$2] && at[$2, i + 1] + 0 < $1 + 0) i++
            next_row[$2] = i
            # Before the first event nothing has changed since the row at the start.
            known = i > 0 ? value[$2, i] : $1 == 0 ? $3 : "none"
            if (known != $3) { print "sampled: " $0 ", last change: " known; bad++ }
            compared++
            if ($3 != "0") { busy[$2] = 1 }
        }
        bad > 10 { exit }
        END {
            for (path in busy) { paths++ }
            if (compared < 50000 || paths < 100) { print "compared " compared " of " paths; bad++ }
            exit bad > 0
        }' "$work/on/series.csv" "$work/every/series.csv" >"$work/differences" || {
        fail "sampled and on change differ ($*)"
        head -n 10 "$work/differences"
    }
}

both
for metric in 'rx_pause\[3\],[1-9]' 'ecn_marked\[3\],[1-9]' 'retransmitted_packets,[1-9]' 'discards,[1-9]' \
    'np_cnp_sent,[1-9]' 'paused\[3\],1' 'headroom_bytes,[1-9]' 'byte_stage,' 'rtt_ps,[1-9]'; do
    grep -q "\.$metric" "$work/on/series.csv" || fail "nothing happened: no row like $metric"
done

# Other algorithms tell of themselves when they are called; ties by insertion run as one unit.
for control in hpcc timely none; do
    both --set nic.congestion-control=$control
    cp "$work/on/series.csv" "$work/$control.csv"
done
grep -q ',qp\[.*\]\.utilization,[1-9]' "$work/hpcc.csv" || fail "no utilization of hpcc"
both --set ties=insertion

run on "$work/on.yaml"
for threads in 2 4; do
    run "t$threads" "$work/on.yaml" --threads $threads
    cmp -s "$work/on/series.csv" "$work/t$threads/series.csv" || fail "series depend on threads"
done

# -- limits

run few "$work/hand.yaml" --set outputs.series-max=5
[ "$(wc -l <"$work/few/series.csv")" -eq 6 ] || fail "series-max does not limit series.csv"
total=$(sed -n '/"series_csv"/,/}/s/.*"rows": \([0-9]*\).*/\1/p' "$work/hand/summary.json")
left=$(sed -n '/"series_csv"/,/}/s/.*"left_out": \([0-9]*\).*/\1/p' "$work/few/summary.json")
[ "$((5 + left))" -eq "$total" ] || fail "series-max: 5 written, $left left out, of $total"
grep -q "outputs.series-max" "$work/stdout" || fail "the report does not say that rows are missing"

[ "$failures" -eq 0 ]
