#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_observe_limits.sh - what observes a run needs no more memory than what it may keep.
#
# Goal: samples over idle time need no memory, whatever series-max says; the rows that are kept and the number
# of those that are not are the same with every series-max, number of threads and order of ties; `check` says
# what series and captures take, and refuses too much.
# Method: 40 ms of idle time at 100 ns under a limit of memory that one record a sample would exceed; counts
# by hand; series of all kinds with several limits.
# Not pinned: the sizes that check estimates, but their order.
set -u
. tests/script.sh
start_forks

# value NAME FILE: the first number of that name in a summary.
value() {
    sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$2" | head -n 1
}

cat >"$work/idle.yaml" <<'END'
topology: {star: {hosts: 3}}
nic: {congestion-control: none}
traffic: [flows: {list: [host0 host1 10KB 40ms]}]
observe: [{series: "port[*->*].queue_bytes", every: 100ns}]
outputs: {series-max: 1000}
END
limit=$(($(start_kb) + 130000))
case $BUILD_DIRECTORY in *asan | *tsan) limit=unlimited ;; esac
for ties in hash insertion; do
    (ulimit -v $limit && exec "$ROCESIM" run "$work/idle.yaml" -o "$work/idle" --quiet --set ties=$ties) \
        >"$work/out" 2>"$work/err" || fail "idle time, ties $ties: status $?: $(head -n 1 "$work/err")"
    rows=$(value rows <(grep -A2 '"series_csv"' "$work/idle/summary.json"))
    left_out=$(value left_out <(grep -A3 '"series_csv"' "$work/idle/summary.json"))
    end_ps=$(value sim_time_ps "$work/idle/summary.json")
    # Six ports, at every 100 ns before the end.
    expected=$((6 * ((end_ps + 99999) / 100000)))
    [ "$rows" = 1000 ] && [ $((rows + left_out)) = $expected ] ||
        fail "idle time, ties $ties: $rows rows and $left_out left out, expected $expected together"
    rm -rf "$work/idle"
done

# bulk watches its NICs once in a microsecond: a time without its traffic needs no memory either.
cat >"$work/bulk.yaml" <<'END'
topology: {star: {hosts: 4, rate: 10Gbps, delay: 300ns}}
traffic:
  - bulk: {from: host0, to: host1, bytes: 10MB}
  - flows: {list: [host2 host3 10KB 2s]}
END
limit=$(($(start_kb) + 60000))
case $BUILD_DIRECTORY in *asan | *tsan) limit=unlimited ;; esac
(ulimit -v $limit && exec "$ROCESIM" run "$work/bulk.yaml" --quiet) >"$work/out" 2>"$work/err" ||
    fail "bulk before idle time: $(head -n 1 "$work/err")"
cat >"$work/moments.yaml" <<'END'
topology: {star: {hosts: 4}}
traffic:
  - mooncake-bench: {from: host0, to: host1, metadata: {host: host2}, interval: 1us, duration: 1000s}
END
rocesim check "$work/moments.yaml" >"$work/out" 2>&1
[ $? -eq 2 ] && grep -q 'more than 1000000 intervals, expected a longer interval' "$work/out" ||
    fail "10^9 intervals of mooncake-bench: $(head -n 1 "$work/out")"

cat >"$work/kinds.yaml" <<'END'
topology: {star: {hosts: 4, rate: 25Gbps}}
nic: {congestion-control: dcqcn}
traffic: [{flows: {list: [host0 host3 100KB 0us, host1 host3 100KB 0us, host2 host3 30KB 2ms]}}]
observe:
  - {series: "port[*->*].utilisation", every: 1us}
  - {series: "nic[*].tx_packets", every: 700ns, start: 3us}
  - {series: "qp[*:*].rate_bps", every: 900ns}
  - {series: "switch[*].buffer_bytes", every: 1100ns}
  - {series: "port[switch0->host3].queue_bytes", on: change}
END
# kinds NAME [OPTION]...
kinds() {
    rocesim run "$work/kinds.yaml" -o "$work/$1" --quiet "${@:2}" >"$work/out" 2>"$work/err" ||
        fail "kinds $*: $(head -n 1 "$work/err")"
}
kinds all
all=$(value rows <(grep -A2 '"series_csv"' "$work/all/summary.json"))
[ "$all" -gt 20000 ] || fail "only $all rows"
for most in 0 1 77 5000 20000; do
    for threads in 1 2; do
        kinds some --set outputs.series-max=$most --threads $threads
        rows=$(value rows <(grep -A2 '"series_csv"' "$work/some/summary.json"))
        left_out=$(value left_out <(grep -A3 '"series_csv"' "$work/some/summary.json"))
        [ "$rows" = $most ] && [ $((rows + left_out)) = "$all" ] ||
            fail "series-max $most, $threads threads: $rows rows, $left_out left out, of $all"
        head -n $((most + 1)) "$work/all/series.csv" | cmp -s - "$work/some/series.csv" ||
            fail "series-max $most, $threads threads: the rows are not the first ones"
        rm -rf "$work/some"
    done
done

# check WORDS OPTION...: `check` prints the words
check() {
    rocesim check "$work/idle.yaml" "${@:2}" >"$work/out" 2>"$work/err"
    cat "$work/out" "$work/err" | grep -q -- "$1" ||
        fail "check ${*:2}: no '$1' in $(grep observe "$work/out")"
}
check 'observe *0 captures, 1 series of 6 metrics, at least 2400000 rows (1000 of them in series.csv'
check '1 series of 6 metrics and 0 captures take some .* of memory.*expected at most 1.000 MB' \
    --set observe[0].every=1ns --set memory-max=1MB
check 'rows of series.csv take some .* to write, expected at most 1 s' \
    --set outputs.series-max=100000000000 --set observe[0].every=1ns --set time-max=1s
rocesim run "$work/idle.yaml" -o "$work/refused" --set observe[0].every=1ns --set memory-max=1MB \
    >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && [ ! -e "$work/refused" ] || fail "run does not refuse series that need too much memory"
cat >>"$work/idle.yaml" <<'END'
captures: [{ports: "*->*"}]
END
check 'of frames without filters' --set traffic[0].flows.list='host0 host1 10MB 0us'
check 'and 1 capture take some .* of memory' --set topology.star.rate=10Tbps --set memory-max=1MB
[ $failures -eq 0 ]
