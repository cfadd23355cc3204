#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_copies.sh - copies within a host take the time that engine.copy-rate says, and the report
# tells what each thread did.
#
# Goal: a benchmark whose target is the submitting host moves copy-rate, alone and beside another target; a
# prompt whose blocks lie on its own prefill node waits for their copies; each worker's bytes are its own and
# its rate is that of cpu.post and cpu.poll; the headline numbers stand on the terminal and in compare.
# Method: closed forms. 64 KiB in 1 us are 65.536 GB/s.
# Not pinned: which worker a lane belongs to.
set -u
. tests/script.sh
bench='traffic[0].mooncake-bench'
value() {
    sed -n 's/^ *"'"$1"'": \([0-9.]*\),*$/\1/p' "$work/out/summary.json" | head -n 1
}
near() { # WHAT GOT EXPECTED PERCENT
    awk -v a="$2" -v b="$3" -v p="$4" \
        'BEGIN { d = a - b; d = d < 0 ? -d : d; exit !(a != "" && d <= b * p / 100) }' ||
        fail "$1: $2, expected $3 within $4 %"
}
run() { # SCENARIO SETTINGS...
    local scenario=$1 settings=() setting
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    "$ROCESIM" run "$scenario" -o "$work/out" --quiet "${settings[@]}" >"$work/printed" 2>&1 ||
        fail "$*: $(cat "$work/printed")"
    grep -q '"unverified_bytes": 0' "$work/out/summary.json" || fail "$*: something arrived wrong"
    grep -q '"failed": 0' "$work/out/summary.json" || fail "$*: requests failed"
}
for rate in 80 8; do
    run scenarios/mooncake/bench.yaml "$bench.to=host0" "$bench.engine.copy-rate=${rate}Gbps" batch=8
    near "copies at $rate Gbps" "$(value gbytes_per_s)" "$((rate / 8))" 1
done
# Both targets at once: half of the threads copy, half use the NIC.
run scenarios/mooncake/bench.yaml "$bench.to='host[0-1]'" nics=1 batch=8
near "copies beside a NIC" "$(value gbytes_per_s)" 34.51 1
# A file on the submitting host: its drive is slower than the copies.
run scenarios/mooncake/bench.yaml "$bench.to=host0" "$bench.file=1GiB" batch=8
near "a file at home" "$(value gbytes_per_s)" 7 3

cat >"$work/trace.jsonl" <<'END'
{"timestamp": 0, "input_length": 2048, "output_length": 3, "hash_ids": [1, 2, 3, 4]}
{"timestamp": 1000, "input_length": 2048, "output_length": 3, "hash_ids": [1, 2, 3, 4]}
END
trace='traffic[0].mooncake-trace'
for rate in 1 10; do
    run scenarios/mooncake/trace.yaml "trace=$work/trace.jsonl" prefill=1 decode=1 hosts=3 \
        kv_bytes_per_token=1024 "$trace.engine.copy-rate=${rate}Gbps"
    value wait_ms >>"$work/waits"
    [ "$(value copied_bytes)" = 2097152 ] || fail "copied $(value copied_bytes) bytes"
done
# The second prompt waits for 2 MiB at the rate; the mean is over two. The look-up of segments takes as long
# in both runs.
near "waits for copies differ by" "$(awk 'NR == 1 { slow = $1 } END { print slow - $1 }' "$work/waits")" \
    "$(awk 'BEGIN { print 16.777216 * (1 - 0.1) / 2 }')" 0.1

for word in ttft_ms: token_hit_rate block_hit_rate transfer_ms: wait_ms; do
    grep -q "$word" "$work/printed" || fail "the terminal does not tell $word: $(cat "$work/printed")"
done
"$ROCESIM" compare "$work/out" "$work/out" >"$work/compared" || fail "compare"
for field in token_hit_rate ttft_ms.p99 transfer_ms.mean; do
    grep -q "^0, mooncake-trace: $field" "$work/compared" || fail "compare does not tell $field"
done

run scenarios/mooncake/bench.yaml nics=2 selection=random batch=8 "$bench.engine.workers=3" \
    "$bench.engine.cpu.post=1us" "$bench.engine.cpu.poll=100ns"
grep -q '^Test completed: ' "$work/printed" || fail "the benchmark's own line is missing"
grep -q 'traffic .*gbytes_per_s' "$work/printed" || fail "the terminal does not tell gbytes_per_s"
! grep -q token_hit_rate "$work/printed" || fail "a benchmark has no hit rate"
awk '/"part":/ { sub(/.*": "/, ""); sub(/".*/, ""); part = $0 }
     /"gbytes_per_s":/ { rate[part] = $2 + 0 }
     /"bytes":/ && part != "" { bytes[part] += $2 + 0; part = "" }
     END { for (p in bytes) print p, rate[p], bytes[p] }' \
    < <(sed -n '/"parts"/,/"records"/p' "$work/out/summary.json") | sort >"$work/parts"
for nic in 0 1; do
    polled=$(awk -v n="mlx5_$nic" '$1 == n && $3 == 0 { print $5 }' "$work/parts")
    posted=$(awk -v n="mlx5_$nic" '$1 == n && $3 > 0 { n2++; sum += $5; if ($5 >= most) most = $5 }
        END { printf "%d %.0f %.0f", n2, sum, most }' "$work/parts")
    read -r posters sum most <<<"$posted"
    [ "$posters" = 2 ] || fail "mlx5_$nic: $posters posting threads: $(cat "$work/parts")"
    [ "$sum" -ge "$polled" ] && [ "$most" -lt "$polled" ] || fail "mlx5_$nic: $polled polled, $posted posted"
done
while read -r worker rate; do
    near "worker $worker" "$rate" "$([ "$worker" = 0 ] && echo 655.36 || echo 65.536)" 0.1
done < <(awk '{ print $3, $4 }' "$work/parts")
echo "$failures failures"
[ "$failures" -eq 0 ]
