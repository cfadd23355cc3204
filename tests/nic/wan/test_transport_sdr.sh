#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_transport_sdr.sh - SDR-RDMA's selective repeat against its closed form.
#
# Goal: the mean completion time of messages shorter than a time-out is that of the paper's bound,
# E[max (i T + O (Y_i - 1))] + RTT, within 5 %.
# Method: 600 messages of 500 chunks, one after another over one lossy link, for several losses and
# time-outs; the bound is integrated numerically here.
# Not pinned: the distribution beyond its mean.
. tests/script.sh

cat > "$work/bound.py" <<'PY'
import json, math, sys
chunks, loss, rto = 500, float(sys.argv[2]), float(sys.argv[3])
chunk_s = (4096 + 82 + 16) * 8 / 100e9
rtt_s = 100e-6 + 2 * 2e-9 + 2 * chunk_s
wait_s = rto * rtt_s + 3 * chunk_s
def sure(x):  # the chance that all chunks are there by x
    if x < chunks * chunk_s:
        return 0
    log, high, k = 0.0, chunks, 0
    while high > 0 and k < 60:
        low = max(0, math.ceil((x - (k + 1) * wait_s) / chunk_s - 1e-9))
        if high > low:
            log += (high - low) * math.log1p(-loss ** (k + 1))
            high = low
        k += 1
    return math.exp(log)
begin, steps = chunks * chunk_s, 6000
step = 12 * wait_s / steps
mean = begin + rtt_s + sum((1 - sure(begin + i * step)) * step for i in range(steps))
told = json.load(open(sys.argv[1]))["apps"][0]["fct_ns"][0] / 1e9 / 600
print(f"loss {loss} rto {rto}: {told * 1e6:.2f} us, bound {mean * 1e6:.2f} us")
sys.exit(abs(told / mean - 1) > 0.05)
PY
command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
for loss in 0.0001 0.001 0.01; do
    for rto in 3 1; do
        "$ROCESIM" run scenarios/wan/goodput.yaml --quiet -o "$work/out" --set transport=sdr \
            --set rtt=100us --set loss=$loss --set bytes=2048000 --set nic.sdr.chunk=4096 \
            --set nic.sdr.rto=$rto --set 'traffic[0].bulk.messages=600' \
            --set 'traffic[0].bulk.depth=1' > "$work/log" || fail "the run: $(cat "$work/log")"
        python3 "$work/bound.py" "$work/out/summary.json" $loss $rto || fail "off the bound"
    done
done
((failures == 0))
