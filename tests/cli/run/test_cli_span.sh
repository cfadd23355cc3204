#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_span.sh - rates and utilisation are of the same span, whatever the tail.
#
# Goal: goodput and utilisation count from the first start to the last where transfers follow one
# another, to the end where they start together, and to outputs.rates-until where it says; the whole
# run's stand beside them; figures and compare take them; nothing of it changes what happens.
# Method: 20 transfers of 50 KB, 10 us apart, with payload and frames counted by hand; one that begins
# with them and goes on for long.
set -u
. tests/script.sh

{
    echo 'topology: {star: {hosts: 4, rate: 100Gbps, delay: 1us}}'
    echo 'nic: {congestion-control: none, mtu: 4096}'
    echo 'traffic:'
    echo '  - flows:'
    echo '      list:'
    for i in $(seq 0 19); do
        echo "        - host0 host1 50KB $((i * 10))us"
    done
} >"$work/arrive.yaml"
{
    cat "$work/arrive.yaml"
    echo '        - host2 host3 20MB 0us'
} >"$work/tail.yaml"
run() {
    local folder=$1
    shift
    "$ROCESIM" run "$@" -o "$work/$folder" --quiet >"$work/said" || fail "run $folder: exit status $?"
}
# number FOLDER NAME: of summary.json
number() {
    sed -n "s/^ *\"$2\": \([0-9.e+-]*\),\{0,1\}\$/\1/p" "$work/$1/summary.json" | head -n 1
}
# near A B SHARE
near() {
    awk -v a="$1" -v b="$2" -v share="$3" \
        'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= share * b) }'
}
# used FOLDER PORT
used() {
    awk -F, -v port="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "utilisation") column = i }
                          $1 == port { print $column }' "$work/$1/ports.csv"
}

# 19 of the 20 lie within 190 us: 950 KB of payload, 4.08 us of 10 on the link.
run arrive "$work/arrive.yaml"
[ "$(number arrive until_ps)" = 190000000 ] || fail "the span ends at $(number arrive until_ps) ps"
near "$(number arrive goodput_gbps)" 40 0.001 || fail "goodput of arrivals: $(number arrive goodput_gbps)"
near "$(used arrive 'host0->switch0')" 0.4082 0.01 || fail "used: $(used arrive 'host0->switch0')"

# Its tail of 1.6 ms takes nothing from these.
run tail "$work/tail.yaml"
[ "$(number tail until_ps)" = 190000000 ] || fail "with a tail the span ends at $(number tail until_ps) ps"
near "$(used tail 'host0->switch0')" 0.4082 0.01 || fail "used with a tail: $(used tail 'host0->switch0')"
near "$(used tail 'host2->switch0')" 1 0.001 || fail "the long one: $(used tail 'host2->switch0')"
near "$(number tail goodput_gbps)" 137.5 0.02 || fail "goodput with a tail: $(number tail goodput_gbps)"
near "$(number tail run_goodput_gbps)" 102 0.02 || fail "of the whole run: $(number tail run_goodput_gbps)"
grep -q '^  rates .* while transfers start; .* to the end$' "$work/said" || fail "said: $(cat "$work/said")"
"$ROCESIM" compare "$work/arrive" "$work/tail" >"$work/compared" || fail "compare"
grep -q "^goodput while transfers start, Gbps  *40  *13" "$work/compared" ||
    fail "compare: $(cat "$work/compared")"

# One go has no arrivals: the whole run. A time that was asked for is taken, at most the end.
sed 's/ [0-9]*us$/ 0us/' "$work/arrive.yaml" >"$work/once.yaml"
run once "$work/once.yaml"
[ "$(number once until_ps)" = "$(number once sim_time_ps)" ] || fail "one go: $(number once until_ps)"
run asked "$work/tail.yaml" --set outputs.rates-until=100us
[ "$(number asked until_ps)" = 100000000 ] || fail "asked for 100 us: $(number asked until_ps)"
run late "$work/tail.yaml" --set outputs.rates-until=1s
[ "$(number late until_ps)" = "$(number late sim_time_ps)" ] || fail "after the end: $(number late until_ps)"
for folder in asked late; do
    cmp "$work/tail/flows.csv" "$work/$folder/flows.csv" || fail "flows of $folder"
    grep '"digest"' "$work/tail/summary.json" | diff - <(grep '"digest"' "$work/$folder/summary.json") ||
        fail "digest of $folder"
done
exit $((failures > 0))
