#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# test_cache_zipf.sh - the tiered cache against closed forms, with scenarios/cache/zipf.yaml.
#
# Goal: under independent draws by Zipf's law, L1's hits are within 1 % of Che's approximation with LRU, of
# Gelenbe's with FIFO and random, and within 2 % of the mass of the C most popular with LFU; L1 and L2
# together are an LRU of both; Belady is below none. Accesses are hits and expands, one an operation; where
# nothing queues the mean access time is the sum over paths of share x latency by the attributes; bytes are
# those of the structs; an L2 that is not there and one that holds everything are the ends of all this.
# Waiting, adaptation and threads: the same results on one thread and two.
# Does not pin: which policy is best.
set -eu
. tests/script.sh
start_forks

# run NAME NAME=VALUE...
run() {
    local name=$1 set=()
    shift
    for option in "$@"; do set+=(--set "$option"); done
    rocesim run scenarios/cache/zipf.yaml -o "$work/$name" --quiet \
        --set nodes.host0.nic.host.iommu.use=off "${set[@]}" >/dev/null
}
# cache NAME FIELD: the first field of that name in the cache's report
cache() {
    sed -n '/"cache": {/,$p' "$work/$1/summary.json" |
        sed -n 's/^ *"'"$2"'": \([-0-9.e+]*\),\{0,1\}$/\1/p' | head -n 1
}
# of NAME OBJECT FIELD
of() {
    sed -n '/"cache": {/,$p' "$work/$1/summary.json" | sed -n '/"'"$2"'": {/,/}/p' |
        sed -n 's/^ *"'"$3"'": \([-0-9.e+]*\),\{0,1\}$/\1/p' | head -n 1
}
# near WHAT VALUE EXPECTED SHARE
near() {
    awk -v a="$2" -v b="$3" -v share="$4" 'BEGIN { exit !(a - b <= share * b && b - a <= share * b) }' ||
        fail "$1: $2, expected $3"
}
equal() { [ "$2" = "$3" ] || fail "$1: $2, expected $3"; }

# forms TOKENS SKEW L1 TOTAL: hit rates by lru of L1, of L1 and L2 together, fifo or random, and lfu
forms() {
    awk -v n="$1" -v s="$2" -v c="$3" -v t="$4" '
        function held(T, kind,   i, sum) {
            for (i = 1; i <= n; i++) sum += kind == "lru" ? 1 - exp(-p[i] * T) : p[i] * T / (1 + p[i] * T)
            return sum
        }
        function hits(room, kind,   low, high, m, k, i, sum) {
            if (room >= n) return 1
            low = 0; high = 1e12
            for (k = 0; k < 100; k++) {
                m = (low + high) / 2
                if (held(m, kind) < room) low = m; else high = m
            }
            for (i = 1; i <= n; i++) {
                sum += p[i] * (kind == "lru" ? 1 - exp(-p[i] * m) : p[i] * m / (1 + p[i] * m))
            }
            return sum
        }
        BEGIN {
            for (i = 1; i <= n; i++) total += p[i] = i ^ -s
            for (i = 1; i <= n; i++) { p[i] /= total; if (i <= c) top += p[i] }
            print hits(c, "lru"), hits(t, "lru"), hits(c, "random"), top
        }'
}

for at in "2000 0.99 200 25200 1120" "1500 0.6 400 0 0"; do
    read -r tokens skew l1 l2 l2_tokens <<<"$at"
    read -r lru both random lfu <<<"$(forms "$tokens" "$skew" "$l1" $((l1 + l2_tokens)))"
    for policy in lru fifo random lfu sieve; do
        name=$tokens-$policy
        run "$name" "policy=$policy" "tokens=$tokens" "skew=$skew" "l1_entries=$l1" "l2_bytes=$l2" \
            warm_up=40000 operations=150000
        accesses=$(cache "$name" accesses) l1_hits=$(cache "$name" l1_hits) l2_hits=$(cache "$name" l2_hits)
        expands=$(of "$name" expands urgent)
        equal "$name: accesses" "$accesses" 150000
        equal "$name: sum" $((l1_hits + l2_hits + expands)) "$accesses"
        rate=$(cache "$name" l1_hit_rate)
        case $policy in
        lru) near "$name: Che" "$rate" "$lru" 0.01 ;;
        fifo | random) near "$name: Gelenbe" "$rate" "$random" 0.01 ;;
        lfu) near "$name: most popular" "$rate" "$lfu" 0.02 ;;
        esac
        awk -v own="$rate" -v best="$(cache "$name" belady_hit_rate)" 'BEGIN { exit own > best }' ||
            fail "$name: better than Belady"
        equal "$name: bytes of L1" "$(cache "$name" l1_bytes_peak)" $((28 * l1))
        # Buckets of 64 bytes with 4 entries, half of which at most hold a queue pair, 3 CQs, an MR or the PD.
        buckets=16
        while [ $((2 * buckets)) -lt $((tokens + 5)) ]; do buckets=$((2 * buckets)); done
        equal "$name: directory" "$(cache "$name" directory_bytes)" $((64 * buckets))
    done
    name=$tokens-lru
    l1_lru=$(cache "$name" l1_hits) l2_lru=$(cache "$name" l2_hits) x_lru=$(of "$name" expands urgent)
    if [ "$l2" != 0 ]; then
        near "$name: L1 and L2" "$(awk -v a="$(cache "$name" l1_hits)" -v b="$(cache "$name" l2_hits)" \
            'BEGIN { print (a + b) / 150000 }')" "$both" 0.01
        equal "$name: bytes of L2" "$(cache "$name" l2_bytes_peak)" $((360 * 70)) # pages of 8 + 16 x 22
        # L1: 5 ns and a swap of 2. L2: 5 + (buckets of the directory + 1) x (250 + 64 bytes at 26 GB/s).
        # Expand: docs/models/tiered-cache.md.
        lines=$(awk -v a="$(cache "$name" directory_lines)" -v b="$(cache "$name" directory_reads)" \
            'BEGIN { print a / b }')
        # At this load, theory has 1.05 (tests/nic/store/test_cache_directory.c).
        near "$name: buckets of a look-up" "$lines" 1.05 0.02
        l2_ns=$(of "$name" l2_ns mean) expand_ns=$(of "$name" expand_ns mean)
        near "$name: L2 by attributes" "$l2_ns" \
            "$(awk -v lines="$lines" 'BEGIN { print 5 + (lines + 1) * (250 + 64 / 26) }')" 0.01
        near "$name: expand by attributes" "$expand_ns" "$(awk -v lines="$lines" 'BEGIN {
            byte = 8 / (16 * 7.8768) * 1.033
            print 5 + lines * (250 + 64 / 26) + (400 + 90 * byte) + 300 + 250 + 20 + 400 + \
                (420 + (232 + 2 * 22) * byte) }')" 0.005
        near "$name: mean" "$(of "$name" access_ns mean)" \
            "$(awk -v a="$l1_lru" -v b="$l2_lru" -v c="$x_lru" -v l2="$l2_ns" -v x="$expand_ns" \
                'BEGIN { print (7 * a + l2 * b + x * c) / (a + b + c) }')" 0.001
    else
        equal "$name: no L2" "$(cache "$name" l2_bytes_peak) $(cache "$name" l2_hits)" "0 0"
    fi
done

# The hybrid policy: waiting, adaptation, and two threads.
small="tokens=1000 l1_entries=100 warm_up=5000 operations=30000 outstanding=8"
for how in "waiting=wait" "waiting=optimistic" "adaptive=true"; do
    # shellcheck disable=SC2086
    run "$how" policy=hybrid $small $how
    equal "$how: accesses" "$(cache "$how" accesses)" \
        $(($(cache "$how" l1_hits) + $(cache "$how" l2_hits) + $(of "$how" expands urgent)))
done
# shellcheck disable=SC2086
run "waiting=wait" policy=hybrid $small waiting=wait
rocesim run scenarios/cache/zipf.yaml -o "$work/two" --quiet --threads 2 \
    --set nodes.host0.nic.host.iommu.use=off --set policy=hybrid \
    --set tokens=1000 --set l1_entries=100 --set warm_up=5000 --set operations=30000 \
    --set outstanding=8 --set waiting=wait >/dev/null
equal "two threads" "$(grep '"digest"' "$work/two/summary.json")" \
    "$(grep '"digest"' "$work/waiting=wait/summary.json")"
for name in "waiting=wait" two; do
    sed -n '/"cache": {/,/"types"/p' "$work/$name/summary.json" >"$work/$name.cache"
done
cmp "$work/waiting=wait.cache" "$work/two.cache" || fail "two threads count otherwise"

[ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }
