#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# Goal: the studies of serving run, and their rows say what docs/serving-studies.md says.
# Method: scenarios/serving/run all --quick; directions of effects, not numbers.
# Does not pin: how large an effect is.
set -u
. tests/script.sh
scenarios/serving/run -o "$work" --quick all >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }

# cell STUDY CURVE X COLUMN: prints a cell of a study's data.csv
cell() {
    awk -F, -v curve="$2" -v x="$3" -v wanted="$4" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == wanted) column = i; next }
        $1 == curve && $2 == x { print $column }' "$work/$1/data.csv"
}
# point STUDY VARIANT LINK COLUMN: prints a cell of a sweep's points.csv
point() {
    awk -F, -v curve="$2" -v x="$3" -v wanted="$4" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == wanted) column = i; next }
        $2 == curve && $3 == x { print $column }' "$work/$1/points.csv"
}
# above A B TEXT: A is above B
above() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 > b + 0) }' ||
        fail "$3: $1, expected above $2"
}
above "$(cell ratio 7:1 60 factor)" 2 "packets / formula at a loaded decode node"
above "$(cell ratio 7:1 60 factor)" "$(cell ratio 4:4 60 factor)" "few decode nodes against many"
above "$(cell layers whole 100 kv_ms)" "$(cell layers layer 100 kv_ms)" "KV data whole against by layer"
alone=$(cell classes dcqcn serving kv_ms) one=$(cell classes dcqcn one kv_ms)
above "$one" "$alone" "KV data beside training against alone"
above "$one" "$(cell classes dcqcn kv-first kv_ms)" "one class against KV data first"
above "$(cell failure write 9999 failed)" 0 "failed requests without another NIC"
above 1 "$(cell failure fast 9999 failed)" "failed requests with another NIC"
above "$(point hosts tp 100Gbps "apps[0].ttft_ms.mean")" \
    "$(point hosts tp 400Gbps "apps[0].ttft_ms.mean")" "TTFT with slow all-reduces"
above "$(point hosts pp 400Gbps "apps[0].tpot_ms.mean")" \
    "$(point hosts tp 400Gbps "apps[0].tpot_ms.mean")" "tokens of two stages against two halves"
above "$(point hosts tp 100Gbps "apps[0].network_shares.tp")" 0.1 "share of all-reduces"
above 0.01 "$(point hosts pp 100Gbps "apps[0].network_shares.pp")" "share of activations between stages"
above "$(cell dual dual 1:1 gain)" 1.3 "gain by reading through decode nodes"
above 1.5 "$(cell dual dual 1:1 imbalance)" "imbalance of NICs for storage with two ways"
above "$(cell trace peers 3 hit_rate)" 0.5 "share of prompts in a cache"
above "$(cell trace none 3 ttft_ms)" "$(cell trace peers 3 ttft_ms)" "TTFT without a cache"
for study in dual formula layers ratio trace; do
    [ "$(wc -l <"$work/$study/compare.csv")" -gt 1 ] || fail "$study compares nothing"
done
awk -F, 'NR > 1 { rows++; far += $4 > 33 || $4 < -33 } END { exit !(rows == 2 && far == 0) }' \
    "$work/dual/compare.csv" || fail "dual is not within a third: $(cat "$work/dual/compare.csv")"
[ $failures = 0 ]
