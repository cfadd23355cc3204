#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_powertcp.sh - the plug-in PowerTCP settles where its paper says, and the control "table" shares fairly.
#
# labels: plain
# Goal: N flows of either form of PowerTCP keep a queue of N beta (theorem 1 of the paper) within 4 %, and
# equal shares (theorem 3); the control "table" fills its link and shares it with the numbers of a JSON file.
# Method: N hosts send to one over a star, 25 Gbps, 20 us per link; the queue is sampled from 12 to 16 ms.
# beta counts payload and the queue frames: 1106 bytes on the wire for 1024 of payload.
# Not pinned: the way to that state, completion times (docs/models/powertcp.md).
# Rerun: ctest --test-dir build/release -R '^test_powertcp$' --output-on-failure
set -u
. tests/script.sh
export XDG_CACHE_HOME="$work/cache"
cat >"$work/star.yaml" <<END
plugins: [$PWD/examples/plugins/powertcp.c]
topology: {star: {hosts: 33, rate: 25Gbps, delay: 20us}}
nic: {congestion-control: powertcp, mtu: 1024}
traffic: [incast: {senders: 8, bytes: 1GB, to: host0}]
until: 16ms
observe: [{series: "port[switch0->host0].queue_bytes", every: 50us}]
END
cat >"$work/table.json" <<'END'
{"nic": {"congestion-control": "table",
  "table": {"factors": [1000, 1000, 1000, 980, 950, 900, 800, 600], "adds": [20, 10, 5, 2, 2, 2, 2, 2],
            "window": 2}}}
END
# judge FOLDER FLOWS QUEUE: QUEUE 0: the queue is of any length
cat >"$work/judge.py" <<'END'
import csv, sys
folder, flows, wanted = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
queue = [float(row[2]) for row in csv.reader(open(folder + "/series.csv")) if row[0].isdigit()
         and int(row[0]) >= 12_000_000]
sent = [float(row["delivered_bytes"]) for row in csv.DictReader(open(folder + "/flows.csv"))]
mean = sum(queue) / len(queue)
jain = sum(sent) ** 2 / len(sent) / sum(x * x for x in sent)
gbps = sum(sent) * 8 / 16e-3 / 1e9
good = jain > 0.98 and gbps > 20 and (wanted == 0 or abs(mean / wanted - 1) < 0.04)
print(f"{flows} flows: queue {mean / 1e3:.1f} KB, expected {wanted / 1e3:.1f};",
      f"Jain {jain:.4f}, {gbps:.2f} Gbps")
sys.exit(not good)
END

rtt_us=80.77 # 4 links of 20 us, a packet and its ACK on two links each
for control in powertcp theta-powertcp; do
    for flows in 2 8 32; do
        "$ROCESIM" run "$work/star.yaml" --set nic.congestion-control=$control --quiet -o "$work/out" \
            --set "traffic[0].incast.senders=$flows" >"$work/said" 2>&1 ||
            fail "$control: $(cat "$work/said")"
        queue=$(awk -v n=$flows -v rtt=$rtt_us \
            'BEGIN { print n / 10 * 25e9 / 8 * rtt * 1e-6 * 1106 / 1024 }')
        said=$(python3 "$work/judge.py" "$work/out" $flows "$queue") || fail "$control, $said"
    done
done

python3 - "$work" <<'END'
import json, sys
work = sys.argv[1]
json.dump({**json.load(open(work + "/table.json")), "until": "16ms",
           "topology": {"star": {"hosts": 9, "rate": "25Gbps", "delay": "2us"}},
           "traffic": [{"incast": {"senders": 8, "bytes": "1GB", "to": "host0"}}],
           "observe": [{"series": "port[switch0->host0].queue_bytes", "every": "50us"}]},
          open(work + "/table-run.json", "w"))
END
"$ROCESIM" run "$work/table-run.json" --quiet -o "$work/out" >"$work/said" 2>&1 ||
    fail "table: $(cat "$work/said")"
said=$(python3 "$work/judge.py" "$work/out" 8 0) || fail "table, $said"
"$ROCESIM" check "$work/table-run.json" --set nic.table.factors=0 >"$work/said" 2>&1 && fail "a factor of 0"
exit $((failures > 0))
