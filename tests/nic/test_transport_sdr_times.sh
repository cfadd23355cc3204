#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/nic/test_transport_sdr_times.sh - how long messages take with the transport sdr, one by one.
#
# Goal: mean and 99.9th percentile over thousands of messages are those of SDR-RDMA's formula, within
# 5 %, where a message is shorter than the time-out; of longer ones no mean is below the formula's
# bound, and mean and 90th percentile are within 5 % of a Monte Carlo of the protocol, written again here.
# Method: one message after another, each on a queue pair of its own, on a link that loses data packets
# alone; flows.csv has their times. docs/models/sdr.md
# Not pinned: chunks of several packets; what codes do where they do not suffice.
. tests/script.sh

command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
cat > "$work/messages.yaml" <<'END'
name: messages
until: 10000s
parameters:
  loss: links.host0--border1.loss-rate
  rtt: topology.wan.rtt
  bytes: traffic[0].incast.bytes
  every: traffic[0].incast.every
  stop: traffic[0].incast.stop
topology: {wan: {direct: on, rate: 400Gbps, rtt: 100us, host-rate: 400Gbps, host-delay: 1ns}}
links: {host0--border1: {loss-rate: 0.001, loss-packets: data, loss-direction: forward}}
switch: {pfc: {enabled: false}, ecn: {enabled: false}}
nic: {transport: sdr, congestion-control: none, mtu: 4096, timeout: 15}
traffic: [{incast: {from: host0, to: host1, bytes: 1MB, every: 10ms, stop: 1s}}]
END
cat > "$work/times.py" <<'PY'
import csv, heapq, math, random, sys
name, chunks, loss, rto, rtt = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:6])
frame = 4096 + 58 + 16 + 24  # each says where it belongs
T = frame * 8 / 400e9
R = rtt + 2e-9 + 2 * T       # until the ACK is back
W = rto * (rtt + 2e-9 + 2 * T) + 3 * T
told = sorted((float(row["fct_ns"]) if "fct_ns" in row else float(row["fct_us"]) * 1e3) / 1e9
              for row in csv.DictReader(open(name)))
mean = sum(told) / len(told)
def at(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]
def sure(x):  # the chance that all chunks are there by x, of the bound
    if x < chunks * T:
        return 0.0
    log, high, k = 0.0, chunks, 0
    while high > 0 and k < 60:
        low = max(0, math.ceil((x - (k + 1) * W) / T - 1e-9))
        if high > low:
            log += (high - low) * math.log1p(-loss ** (k + 1))
            high = low
        k += 1
    return math.exp(log)
begin, steps = chunks * T, 4000
step = 12 * W / steps
bound = begin + R - T + sum((1 - sure(begin + i * step)) * step for i in range(steps))
def quantile(share):
    low, high = begin, begin + 12 * W
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if sure(middle) >= share else (middle, high)
    return high + R - T
if chunks * T <= rto * rtt:
    want, tail, share = bound, quantile(0.999), 0.999
else:
    draw, taken = random.Random(7), []
    for _ in range(100):
        due, t, new, end = [], 0.0, 0, 0.0
        while new < chunks or due:
            if due and (due[0] <= t or new == chunks):
                t = max(t, heapq.heappop(due))
            else:
                new += 1
            t += T
            if draw.random() < loss:
                heapq.heappush(due, t + W - T)
            else:
                end = t + R - T
        taken.append(end)
    taken.sort()
    want, tail, share = sum(taken) / len(taken), at(taken, 0.9), 0.9
# The distribution has steps: shares of messages beyond the percentile, with the noise of so many.
above = sum(x > 1.05 * tail for x in told) / len(told)
below = sum(x > 0.95 * tail for x in told) / len(told)
noise = 4 * math.sqrt((1 - share) / len(told))
print(f"{chunks} chunks, loss {loss}, rto {rto}: mean {mean*1e6:.1f} us of {want*1e6:.1f}, "
      f"bound {bound*1e6:.1f}; p{100*share:g} {tail*1e6:.1f} us, "
      f"{100*above:.2f} % beyond 1.05 of it, {100*below:.2f} % beyond 0.95")
bad = (abs(mean / want - 1) > 0.05 or mean < bound * 0.99 or above > 1 - share + noise or
       below < 1 - share - noise)
sys.exit(bad)
PY
# check CHUNKS LOSS RTO MESSAGES EVERY_US
check() {
    "$ROCESIM" run "$work/messages.yaml" --quiet -o "$work/out" --set "loss=$2" --set "bytes=$(($1 * 4096))" \
        --set "nic.sdr.rto=$3" --set "every=${5}us" --set "stop=$(($4 * $5))us" > "$work/log" ||
        fail "the run: $(tail -n 3 "$work/log")"
    python3 "$work/times.py" "$work/out/flows.csv" "$1" "$2" "$3" 1e-4 || fail "off: $*"
}
# With parity behind each 32 chunks a message takes (M + M m / k) T and a round trip, where it suffices.
coded() {
    "$ROCESIM" run "$work/messages.yaml" --quiet -o "$work/out" --set "loss=$2" --set bytes=40960000 \
        --set "nic.sdr.code=$1" --set every=6000us --set stop=240000us > "$work/log" || fail "the run: $*"
    awk -F, -v what="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 { sum += $at["fct_ns"]; n++ }
        END { told = sum / n / 1e3; want = 10000 * 1.25 * 4194 * 8 / 400e3 + 100 + 0.2
              printf "%s: mean %.1f us of %.1f\n", what, told, want
              exit n != 40 || told / want > 1.01 || told / want < 0.99 }' "$work/out/flows.csv" ||
        fail "off: $*"
}
coded mds 0.01
coded mds 0.0001
coded xor 0.0001
check 500 0.001 3 1500 2000
check 500 0.01 1 1500 2000
check 10000 0.001 3 40 6000
check 10000 0.01 1 40 6000
((failures == 0))
