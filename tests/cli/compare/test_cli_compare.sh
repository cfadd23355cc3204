#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_compare.sh - `rocesim compare`: columns, means and intervals over seeds, the CSV.
#
# Goal: the numbers printed are those of the folders, their spread is Student's, a star stands where
# paired differences leave 0 out and nowhere else, runs share a column only if they should.
# Method: folders written here with values worked out by hand; a real run with two kinds of traffic,
# whose per-traffic percentiles are worked out again from flows.csv.
# Not pinned: which rows there are and in which order; widths.
set -u
. tests/script.sh
start_forks

# folder NAME SEED MTU P99 [LINE OF SCENARIO]
folder() {
    mkdir -p "$work/$1"
    echo "{\"seed\": $2, \"tie_seed\": 0, \"ecn_marked\": $4, \"sim_time_ps\": 12345678901234,
           \"flows\": {\"count\": 10, \"completed\": 10, \"fct_us\": {\"p99\": $4}}}" >"$work/$1/summary.json"
    printf 'name: %s\nseed: %s\n%s\nnic: {mtu: %s, congestion-control: none}\n' \
        "${1##*/}" "$2" "${5:-until: never}" "$3" >"$work/$1/scenario.yaml"
}

# compare STATUS OPTIONS...
compare() {
    expected=$1
    shift
    rocesim compare "$@" >"$work/stdout" 2>"$work/stderr"
    status=$?
    [ "$status" -eq "$expected" ] || {
        fail "compare $*: exit status $status, expected $expected"
        head -n 5 "$work/stderr"
    }
}


# expect_row LABEL CELLS
expect_row() {
    grep -E "^$1 +[^ ]" "$work/stdout" | sed "s/^$1//" | tr -s ' ' | sed 's/^ //; s/ $//' >"$work/row"
    [ "$(cat "$work/row")" = "$2" ] || fail "row $1 is '$(cat "$work/row")', expected '$2'"
}

# column FILE NAME LINE: a cell of a CSV without quotes
column() {
    awk -F, -v name="$2" -v line="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR == line { print at ? $at : "no column " name }' "$1"
}

cd "$work" || exit 1
# Three scenarios. The second differs from the first by 1.0, 1.1, 0.9, seed by seed; the third has
# the values of the second with other seeds.
i=0
for value in "10 11" "12 13.1" "14 14.9"; do
    i=$((i + 1))
    set -- $value
    folder "a/$i" "$i" 1024 "$1"
    folder "b-s$i" "$i" 2048 "$2"
    folder "c/1$i" "1$i" 4096 "$2"
done

# -- a column per run

compare 0 a/1 b-s1
expect_row "nic.mtu" "1024 2048"
grep -q "^seed" stdout && fail "a seed that is equal has a row"
grep -q "until" stdout && fail "a parameter that is equal has a row"
expect_row "ECN marks" "10 11"
compare 0 a/1 a/2
expect_row "seed" "1 2"
head -n 1 stdout | grep -qE '^ +a/1 +a/2$|^ +1 +2$' || fail "names: $(head -n 1 stdout)"

# -- a column per scenario: t(2) = 4.303; a: mean 12, s 2, half 4.969; the differences: mean 1, s 0.1

compare 0 --seeds a/* b-s* c/*
head -n 1 stdout | grep -qE '^ +a +b +c *$' || fail "names of columns: $(head -n 1 stdout)"
expect_row "runs" "3 3 3"
expect_row "nic.mtu" "1024 2048 4096"
expect_row "ECN marks" "12 +-41 % 13 +-37 % * 13 +-37 %"
# The other way round the sign changes, the star stays; compared with other seeds there is none.
compare 0 --seeds b-s* a/*
expect_row "ECN marks" "13 +-37 % 12 +-41 % *"
compare 0 --seeds c/* a/*
expect_row "ECN marks" "13 +-37 % 12 +-41 %"
# Folders by seed: the scenario's name comes last.
folder s1/x 1 1024 10
folder s2/x 2 1024 12
folder s1/y 1 2048 10
folder s2/y 2 2048 12
compare 0 --seeds s*/*
head -n 1 stdout | grep -qE '^ +x +y *$' || fail "names of columns: $(head -n 1 stdout)"
# A number at the end of a name is the name's, not the seed's.
for q in 1 8; do
    for seed in 1 2; do folder "q$q/$seed" "$seed" "$((q * 256))" 10; done
done
compare 0 --seeds q*/*
head -n 1 stdout | grep -qE '^ +q1 +q8 *$' || fail "names of columns: $(head -n 1 stdout)"
# One run has no spread.
compare 0 --seeds a/1 b-s1
expect_row "ECN marks" "10 11"
# What is written changes no result; what is run does.
folder w/1 1 1024 10 "observe: []"
folder w/2 2 1024 12 "outputs: {flows: false}"
folder w/3 3 1024 12 "until: 1ms"
compare 0 --seeds w/1 w/2
expect_row "runs" "2"
compare 0 --seeds w/1 w/2 w/3
expect_row "runs" "2 1"

# -- CSV

compare 0 --csv --seeds a/* b-s* c/*
[ "$(column stdout ecn_marked 2)" = 12 ] || fail "csv: mean $(column stdout ecn_marked 2)"
[ "$(column stdout ecn_marked_stddev 2)" = 2 ] || fail "csv: $(column stdout ecn_marked_stddev 2)"
column stdout ecn_marked_ci95 2 | grep -q '^4\.968' || fail "csv: $(column stdout ecn_marked_ci95 2)"
[ "$(column stdout ecn_marked_diff 2)" = "" ] || fail "csv: the first row differs from itself"
[ "$(column stdout ecn_marked_diff 3)" = 1 ] || fail "csv: $(column stdout ecn_marked_diff 3)"
column stdout ecn_marked_diff_ci95 3 | grep -q '^0\.248' ||
    fail "csv: $(column stdout ecn_marked_diff_ci95 3)"
[ "$(column stdout ecn_marked_diff 4)" = "" ] || fail "csv: a difference without common seeds"
[ "$(column stdout nic.mtu 4)" = 4096 ] || fail "csv: $(column stdout nic.mtu 4)"
compare 0 --csv a/1 a/2
[ "$(column stdout seed 3)" = 2 ] || fail "csv: seed $(column stdout seed 3)"
[ "$(column stdout sim_time_ps 3)" = 12345678901234 ] || fail "csv: not in full"
[ "$(column stdout folder 2)" = a/1 ] || fail "csv: folder $(column stdout folder 2)"

# -- refused

compare 2 --seeds a/1 a/1
grep -q "the same run with the same seed" stderr || fail "the same run twice"
many=()
for i in $(seq 17); do
    folder "m/$i" "$i" 1024 1
    many+=("m/$i")
done
compare 2 "${many[@]}"
grep -q -- "--seeds" stderr || fail "17 columns: no way out is named"
compare 0 --seeds "${many[@]}"
expect_row "runs" "17"
compare 2 --app poisson a/1
grep -q "0 of the 0 traffic entries" stderr || fail "no traffic: $(cat stderr)"

# -- traffic by traffic, from a real run

cat >mixed.yaml <<'EOF'
topology: {star: {hosts: 6}}
traffic:
  - poisson: {sizes: fbhadoop, load: 0.5, stop: 300us}
  - incast: {to: host0, bytes: 20KB, every: 100us, stop: 300us}
EOF
rocesim run mixed.yaml -o mixed --quiet >/dev/null || fail "mixed.yaml"
for kind in poisson incast; do
    compare 0 --csv --app "$kind" mixed
    theirs=$(awk -F, -v kind="$kind" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 && $at["app"] == kind && $at["slowdown"] != "" { print $at["slowdown"] }' mixed/flows.csv |
        sort -g |
        awk '{ v[NR] = $1 }
             END { r = int(NR * 99 / 100); r += r < NR * 99 / 100; printf "%d %s\n", NR, v[r] }')
    ours=$(printf '%d %.6f' "$(column stdout flows.completed 2)" "$(column stdout flows.slowdown.p99 2)")
    [ "$ours" = "$theirs" ] || fail "$kind: count and 99th percentile '$ours', flows.csv has '$theirs'"
done
[ "${ours%% *}" -eq 15 ] || fail "3 bursts of 5 senders are 15 flows, not ${ours%% *}"
compare 0 --csv --app 1 mixed
[ "$(column stdout flows.completed 2)" = 15 ] || fail "--app by its number"
compare 2 --app permutation mixed
compare 2 --app 2 mixed

# -- what differs is told once, small numbers in the unit of their name

cat >ok.yaml <<'EOF'
topology: {star: {hosts: 3}}
traffic: [flows: {list: [host0 host1 1B 0s, host0 host1 1B 1s]}]
EOF
{
    cat ok.yaml
    echo 'faults: [{part: host0--switch0, kind: bit-errors, bit-error-rate: 2.5e-7}]'
} >faulty.yaml
rocesim run ok.yaml -o ok --quiet >said || fail "ok.yaml"
grep -q 'goodput_gbps 1.[56][0-9]*e-08$' said || fail "a small goodput: $(grep goodput_gbps said)"
rocesim run faulty.yaml -o faulty --quiet >/dev/null || fail "faulty.yaml"
compare 0 ok faulty
grep -qE '^faults +' stdout && fail "a row for an empty list: $(grep '^faults ' stdout)"
grep -qE '^faults\[0\]\.bit-error-rate +- +2.5e-7$' stdout || fail "a small ratio: $(grep bit-error stdout)"

[ "$failures" -eq 0 ] || {
    echo "rerun: ctest --test-dir build/release -R '^test_cli_compare$' --output-on-failure"
    exit 1
}
