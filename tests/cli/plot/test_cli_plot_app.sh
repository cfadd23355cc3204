#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_plot_app.sh - figures of what applications tell: bandwidth over time, distributions.
#
# Goal: a curve has the numbers of summary.json, a NIC that goes down is marked where it did; distributions
# rise from 0 to 1 and end with the largest; folders without either are refused with what is missing.
# Method: scripts for gnuplot of a flap and of a trace; the pictures where gnuplot is installed.
# Not pinned: how they look.
set -u
. tests/script.sh
"$ROCESIM" run scenarios/mooncake/flap.yaml -o "$work/flap" --quiet --set duration=14ms >/dev/null ||
    fail "flap"
"$ROCESIM" run scenarios/mooncake/trace.yaml -o "$work/trace" --quiet --set requests=60 >/dev/null ||
    fail "trace"

"$ROCESIM" plot "$work/flap" --kind app-rate -o "$work/rate.gnuplot" >"$work/out" || fail "app-rate"
grep -q 'bandwidth of applications' "$work/out" || fail "said: $(cat "$work/out")"
points=$(awk '/^\$c0/ { on = 1; next } /^EOD/ { on = 0 } on' "$work/rate.gnuplot" | wc -l)
moments=$(grep -c '"time_us"' "$work/flap/summary.json")
[ "$points" -gt 20 ] && [ "$points" -le "$moments" ] || fail "$points points of $moments moments"
grep -q "set arrow from 5, graph 0" "$work/rate.gnuplot" || fail "the link down at 5 ms is not marked"
grep -q "set arrow from 12, graph 0" "$work/rate.gnuplot" || fail "nor that it came back at 12 ms"
[ "$(grep -c 'set arrow' "$work/rate.gnuplot")" -eq 2 ] || fail "other marks than two"

"$ROCESIM" plot "$work/trace" --kind app-cdf -o "$work/cdf.gnuplot" >"$work/out" || fail "app-cdf"
for panel in ttft transfer; do
    grep -q "set xlabel '$panel (ms)'" "$work/cdf.gnuplot" || fail "no panel of $panel"
done
awk '/^\$c/ { x = 0; y = -1; on = 1; curves++; next }
     /^EOD/ { on = 0; if (y != 1) bad = 1 }
     on { if ($1 < x || $2 <= y) bad = 1; x = $1; y = $2 }
     END { exit !(curves == 2 && !bad) }' "$work/cdf.gnuplot" || fail "a distribution does not rise"
most=$(sed -n '/"ttft_ms"/,/}/s/^ *"max": \([0-9.]*\),*$/\1/p' "$work/trace/summary.json" | head -n 1)
last=$(awk '/^\$c0/ { on = 1; next } /^EOD/ { if (on) print x; on = 0 } on { x = $1 }' "$work/cdf.gnuplot")
awk -v a="$most" -v b="$last" 'BEGIN { exit !(a - b < a / 1e6 && b - a < a / 1e6) }' ||
    fail "the last point is $last, the largest is $most"

"$ROCESIM" plot "$work/flap" "$work/trace" --kind app-rate,app-cdf -o "$work/both.gnuplot" >"$work/out" ||
    fail "two runs"
"$ROCESIM" plot "$work/trace" --kind app-rate -o "$work/none.svg" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'expected one with an interval' "$work/err" || fail "no bandwidth: $(cat "$work/err")"
sed 's/"gbytes_per_s": [0-9.]\+/"gbytes_per_s": "much"/' "$work/flap/summary.json" >"$work/trace/summary.json"
"$ROCESIM" plot "$work/trace" --kind app-rate -o "$work/none.svg" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'objects with numbers' "$work/err" || fail "no numbers: $(cat "$work/err")"
if command -v gnuplot >/dev/null; then
    "$ROCESIM" plot "$work/flap" --kind app-rate -o "$work/rate.svg" >/dev/null
    grep -q '</svg>' "$work/rate.svg" || fail "no picture"
fi
echo "$failures failures"
[ "$failures" -eq 0 ]
