#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_hpcc_monitors.sh - SimAI's monitor files: bandwidth, rates, CNPs and queues.
#
# Goal: the files have SimAI's headers and columns, at its times, a line for what changed; bandwidths add
# up to the bytes that a port sent; rates are those of the series of the same run; CNPs are those that
# hosts count; a config without SimAI's keys keeps HPCC's queue file; bad intervals are refused.
# Method: two flows into one host, looks every few microseconds, sums of the files.
# Not pinned: the order of rows of one time, which the other simulator leaves to a hash table.
set -u
. tests/script.sh
. tests/cli/hpcc/small_config.sh

printf '2\n0 2 3 100 8000000 2.0\n1 2 3 100 8000000 2.00001\n' >flow.txt
config 'QLEN_MON_FILE qlen.txt'
cat >monitors.txt <<'END'
BW_MON_FILE bw.txt
RATE_MON_FILE rate.txt
CNP_MON_FILE cnp.txt
MON_START 2000000
MON_END 2100000
QP_MON_INTERVAL 2
BW_MON_INTERVAL 5
QLEN_MON_INTERVAL 10
END
cat config.txt monitors.txt >all.txt
"$program" hpcc all.txt -o out --quiet --set 'observe=[{series: "qp[*].rate_bps", on: change}]' \
    >/dev/null 2>err ||
    fail "a run: $(cat err)"
grep -q "unknown keys" err && fail "its keys are unknown: $(cat err)"
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
python3 - <<'END' || fail "the files of the monitors"
import csv, json
def rows(name, header):
    lines = open("out/" + name).read().splitlines()
    assert lines[0] == header, (name, lines[0])
    return [[float(cell) for cell in line.split(", ")] for line in lines[1:]]

summary = json.load(open("out/summary.json"))
ports = {r["port"]: int(r["tx_bytes"]) for r in csv.DictReader(open("out/ports.csv"))}
bw = rows("bw.txt", "time, node_id, port_id, bandwidth")
assert all(t >= 2e9 and (t - 2e9) % 5000 == 0 for t, *_ in bw)
for node, port, name in ((3, 3, "switch3->host2"), (0, 0, "host0->switch3"), (2, 0, "host2->switch3")):
    told = sum(gbps * 5000 / 8 for t, n, p, gbps in bw if (n, p) == (node, port))
    assert 0.97 * ports[name] <= told <= ports[name] + 1, (name, told, ports[name])

rate = rows("rate.txt", "time, src, dst, sport, dport, size, curr_rate")
assert all((t - 2e9) % 2000 == 0 for t, *_ in rate) and len(rate) > 20
changes = {0: [], 1: []}
for row in csv.DictReader(open("out/series.csv")):
    changes[int(row["path"][len("qp[host")])].append((float(row["time_ns"]), float(row["value"])))
for source in (0, 1):
    mine = [(t, value) for t, src, dst, sport, dport, size, value in rate if src == source]
    assert all((dst, sport, dport, size) == (2, 10000, 100, 8e6)
               for t, src, dst, sport, dport, size, value in rate if src == source)
    assert all(a[1] != b[1] for a, b in zip(mine, mine[1:])), "a line without a change"
    assert len(changes[source]) > 20
    for t, value in mine[1:]:
        before = [v for at, v in changes[source] if at < t]
        assert before and before[-1] == value, (source, t, value, before[-1:])

cnp = rows("cnp.txt", "time, src, dst, sport, dport, size, cnp_number")
last = {src: number for t, src, dst, sport, dport, size, number in cnp}
# Each mark comes back in the ACK of its packet; those of the last look's time are not in the file.
marked = summary["ecn_marked"]
assert 0.9 * marked <= sum(last.values()) <= marked and marked > 50, (last, marked)
assert [r[6] for r in cnp if r[1] == 0] == sorted(r[6] for r in cnp if r[1] == 0)

queue = rows("qlen.txt", "time, sw_id, port_id, q_id, q_len, port_len")
assert all((t - 2e9) % 10000 == 0 and n == 3 for t, n, *_ in queue)
for i in range(0, len(queue), 8):
    block = queue[i:i + 8]
    assert [r[3] for r in block] == list(range(8)) and len({r[0] for r in block}) == 1
    assert sum(r[4] for r in block) == block[0][5]
END

# Without -o the files are where the config says; the end is where the next look would lie beyond MON_END.
sed 's/MON_END 2100000/MON_END 2000021/' all.txt >end.txt
"$program" hpcc end.txt --quiet >/dev/null 2>err || fail "a run without -o: $(cat err)"
[ "$(tail -n 1 bw.txt | cut -d, -f1)" = 2000020000 ] || fail "the last look: $(tail -n 1 bw.txt)"
"$program" hpcc config.txt --quiet >/dev/null 2>err || fail "a config of HPCC: $(cat err)"
head -n 1 qlen.txt | grep -q '^time: ' || fail "HPCC's queue file: $(head -n 1 qlen.txt)"
sed 's/QP_MON_INTERVAL 2/QP_MON_INTERVAL 0/' all.txt >bad.txt
"$program" hpcc bad.txt >/dev/null 2>err && fail "an interval of 0"
grep -q "bad.txt:26:17: QP_MON_INTERVAL is 0, expected 1 to 1000000000 us" err ||
    fail "an interval of 0: $(cat err)"
exit $((failures > 0))
