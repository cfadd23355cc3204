#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# adaptive - do adaptive thresholds beat the best fixed ones and plain policies when the load changes?
#
# This is a script, since it chooses the best of the fixed pairs for each load.
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
# Workloads: working sets that change often (1) and seldom (2), and Zipf's law (3), with fast links;
# then a slow link of L2 with Zipf's law (4), uniform draws (5) and working sets larger than L1 (6);
# then a slow link and a small L2, with a fast driver and Zipf's law (7) or working sets (8).
slow="l2_bytes=1MiB cache.l2.rate=4Gbps"
small="l1_entries=512 l2_bytes=32KiB cache.l2.rate=2Gbps cache.driver.work=20ns cache.driver.iommu=10ns
    cache.expand.decompress=1ns cache.neighbours=16"
loads=(
    "pattern=bursty load.working-set=500 load.phase=2000 l2_bytes=64KiB"
    "pattern=bursty load.working-set=500 load.phase=10000 l2_bytes=64KiB"
    "pattern=zipf l2_bytes=1MiB cache.driver.prestage=4"
    "pattern=zipf $slow"
    "pattern=uniform $slow"
    "pattern=bursty load.working-set=3000 load.phase=20000 $slow"
    "pattern=zipf skew=0.6 $small"
    "pattern=bursty load.working-set=3000 load.phase=20000 $small"
)
# try CURVE OPTIONS...: runs all workloads
try() {
    local curve=$1 x
    shift
    for x in $(pick workloads "2 4 7" "1 2 3 4 5 6 7 8"); do
        # shellcheck disable=SC2086
        row "$curve" "$x" $busy $length tokens=8192 l1_entries=1024 ${loads[x - 1]} "$@"
    done
}
for policy in lru sieve lfu; do
    try "$policy" "policy=$policy"
done
try document policy=hybrid adaptive=true
try shadow policy=hybrid adaptive=true cache.adaptive.rule=shadow
for l1 in $(pick l1-thresholds "8" "1 4 16 64 128"); do
    for l2 in $(pick l2-thresholds "2" "1 2 4 16"); do
        try "fixed $l1 $l2" policy=hybrid "cache.promote.l1=$l1" "cache.promote.l2=$l2"
    done
done
# An oracle that knows the future has the hits of Belady's policy: column oracle of these rows.
try "lru recorded" policy=lru cache.record=true
# Of each workload, the fixed pair with the highest rate stands for all.
sort -t, -k2,2n -k3,3rn "$out/data.csv" |
    awk -F, -v OFS=, '/^fixed/ && !seen[$2]++ { print > "/dev/stderr"; $1 = "best fixed pair"; print }' \
        >>"$out/best.csv"
sed -i '/^fixed/d' "$out/data.csv"
cat "$out/best.csv" >>"$out/data.csv"
rm "$out/best.csv"
draw "workload" mops l1_hit_rate access_ns_p99
