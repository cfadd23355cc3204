#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_cache_applications.sh - HERD, Mooncake, training and serving on NICs with a tiered cache.
#
# Goal: scenarios/cache/applications.yaml has the results that docs/cache-studies.md states: with CXL
# memory, few entries of L1 are enough for all four; without it, HERD, Mooncake and training are far
# slower with few entries, and equal with enough. The digest does not depend on threads and ranks.
# Method: runs of each application, and the rows of the study.
# Does not pin: absolute rates.
set -eu
. tests/script.sh

scenarios/cache/run -o "$work/out" --set "entries=16 256" applications >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"

# speed CURVE X LEAST MOST: fails unless the row's speed is between the two.
speed() {
    awk -F, -v c="$1" -v x="$2" -v least="$3" -v most="$4" '
        $1 == c && $2 == x { found = 1; if ($3 < least || $3 > most) bad = 1; got = $3 }
        END { if (!found || bad) { print c ", " x " entries: speed " got; exit 1 } }' \
        "$work/out/applications/data.csv" || failures=$((failures + 1))
}
speed "herd three-tier" 16 0.95 1.05
speed "herd two-tier" 16 0.01 0.15
speed "herd two-tier" 256 0.95 1.05
speed "herd flat" 16 0.25 0.5
speed "mooncake three-tier" 16 0.97 1.03
speed "mooncake two-tier" 16 0.25 0.5
speed "mooncake two-tier" 256 0.97 1.03
speed "training three-tier" 16 0.95 1.01
speed "training two-tier" 16 0.5 0.85
speed "training two-tier" 256 0.95 1.01
speed "serving two-tier" 16 0.97 1.03

# Each queue pair's token is expanded once if L2 has room for it: the server's 204 connections and 6
# workers.
grep -q '^herd three-tier,16,[^,]*,[^,]*,[^,]*,[^,]*,210,' "$work/out/applications/data.csv" ||
    fail "HERD's server does not expand each of its 210 contexts once"

digest() {
    "$ROCESIM" run scenarios/cache/applications.yaml --set app=training --set l1=16 --quiet \
        -o "$work/one" "$@" | sed -n 's/^ *digest *//p'
}
one=$(digest)
[ -n "$one" ] || fail "there is no digest"
[ "$(digest --threads 2)" = "$one" ] || fail "two threads have another digest"
[ "$(digest --ranks 2)" = "$one" ] || fail "two ranks have another digest"

exit $((failures > 0))
