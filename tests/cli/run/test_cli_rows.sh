#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_rows.sh - rows of flows that are cut into several queue pairs (traffic.flows.qps).
#
# Goal: the parts carry the row's bytes, each on a path of its own; what is told of rows is when their
# last part ends, against the time of one transfer of all bytes.
# Method: an idle network, where a row over eight queue pairs takes as long as over one; two rows into
# one link, which take twice as long; the parts in flows.csv against the rows' values.
# Not pinned: which path a part takes.
set -u
. tests/script.sh
start_forks

# value PATH: of the traffic entry
value() {
    rocesim compare out --csv | awk -F, -v name="apps[0].$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == 2 && column { print $column }'
}

# run OPTIONS...
run() {
    rocesim run rows.yaml -o out --quiet "$@" >log 2>&1 || {
        fail "run $*"
        cat log
    }
}

# near NAME VALUE SHARE
near() {
    awk -v a="$(value "$1")" -v b="$2" -v s="$3" 'BEGIN { exit !(a >= b * (1 - s) && a <= b * (1 + s)) }' ||
        fail "$1 is $(value "$1"), expected $2"
}

cd "$work" || exit 1
cat >rows.yaml <<'EOF'
topology: {star: {hosts: 3, rate: 400Gbps, delay: 500ns}}
nic: {congestion-control: none}
traffic: [flows: {list: [host0 host1 16MiB 0us, host2 host1 1000003B 1ms], qps: 8}]
EOF
run --set 'traffic[0].flows.qps=auto'
[ -z "$(value rows.fct_us.max)" ] || fail "rows are told of where they are transfers"
alone=$(sed -n 2p out/flows.csv | cut -d, -f8) # ns
run --set 'traffic[0].flows.qps=1'
near rows.fct_us.max "$(awk -v ns="$alone" 'BEGIN { print ns / 1000 }')" 0.00001
run
[ "$(value rows.count)" = 2 ] && [ "$(value rows.completed)" = 2 ] || fail "rows: $(value rows.count)"
near rows.fct_us.max "$(awk -v ns="$alone" 'BEGIN { print ns / 1000 }')" 0.001
near rows.slowdown.max 1 0.002
awk -F, 'NR > 1 { n++; bytes[$2] += $5; port[$4]++; if ($5 > 125001 && $2 == "host2") bad++ }
    END { for (p in port) ports++
          exit !(n == 16 && bytes["host0"] == 16777216 && bytes["host2"] == 1000003 && ports == 16 &&
                 !bad) }' \
    out/flows.csv || fail "parts: $(cut -d, -f2,4,5 out/flows.csv | tr '\n' ' ')"
# A row ends with its last part.
last=$(awk -F, '$2 == "host0" && $7 > last { last = $7 } END { print last / 1000 }' out/flows.csv)
near rows.fct_us.max "$last" 0.00001

run --set 'traffic[0].flows.list=[host0 host1 4MiB 0us, host2 host1 4MiB 0us]'
near rows.slowdown.max 2 0.02
near rows.goodput_gbps.min 195 0.02 # half of what 400 Gbps carry of payload

# A row that does not end has no values, the others have.
run --until 500us --set 'traffic[0].flows.list=[host0 host1 1MiB 0us, host2 host1 64MiB 100us]'
[ "$(value rows.completed)" = 1 ] || fail "an unfinished row: $(value rows.completed) completed"

rocesim run rows.yaml --quiet --set 'traffic[0].flows.list=[host0 host1 7B 0us]' >log 2>&1
[ $? -eq 2 ] && grep -q "7 bytes for 8 queue pairs" log || fail "too small a row: $(cat log)"
printf 'Nodes 3\nConnections 1\n0->1 start 0 size 1000\n' >x.cm
sed 's/list: .*\], qps/file: x.cm, qps/' rows.yaml >x.yaml
rocesim run x.yaml --quiet >log 2>&1
[ $? -eq 2 ] && grep -q "qps: .*another simulator" log || fail "another simulator's file: $(cat log)"

[ "$failures" -eq 0 ] || {
    echo "rerun: ctest --test-dir build/release -R '^test_cli_rows$' --output-on-failure"
    exit 1
}
