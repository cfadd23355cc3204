#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_cli_live.sh - rocesim run --live: real tools watch a running simulation.
#
# Goal: the tree of /sys, OpenMetrics, COUNTERS_DB and the captures of an extcap program show a run while it
# goes on and the totals of its results at its end; the digest is that of a run that nobody watches;
# node_exporter, redis-cli and tshark read them, where they are installed; bad targets are refused.
# Method: a paced incast of 2 ms; its totals are those of ports.csv and nics.csv.
# Does not pin: which counters exist besides those that are compared.
set -u
. tests/script.sh

cat >"$work/s.yaml" <<'END'
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2}}
link: {rate: 100Gbps, delay: 500ns}
nic: {congestion-control: none}
switch: {buffer: 1MB}
until: 2ms
traffic:
  - incast: {to: host0, senders: 3, bytes: 10MB}
END
targets=(--live "sysfs:$work/sys" --live http:0 --live "extcap:$work/cap")
redis=
if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then
    port=$((20000 + RANDOM % 20000))
    redis-server --port $port --bind 127.0.0.1 --save '' >"$work/redis" 2>&1 &
    redis=$!
    for _ in $(seq 50); do
        redis-cli -p $port ping >/dev/null 2>&1 && break
        sleep 0.1
    done
    targets+=(--live "redis:$port@leaf0")
fi
"$ROCESIM" run "$work/s.yaml" -o "$work/out" --quiet --pace 500us "${targets[@]}" >"$work/said" \
    2>"$work/err" &
run=$!
for _ in $(seq 100); do
    grep -q metrics "$work/err" && [ -e "$work/cap/ports" ] && break
    sleep 0.1
done
url=$(sed -n 's/^live: //p' "$work/err")
python3 - "$url" <<'END' || fail "metrics: $url: $(cat "$work/err")"
import sys, time, urllib.request
seen = set()
for _ in range(100):
    text = urllib.request.urlopen(sys.argv[1], timeout=5).read().decode()
    assert text.endswith("# EOF\n")
    seen.add([line for line in text.split("\n") if line.startswith("rocesim_time")][0])
    if len(seen) > 2:
        break
    time.sleep(0.1)
assert len(seen) > 2, seen
families = [line.split()[2] for line in text.split("\n") if line.startswith("# TYPE")]
assert len(families) == len(set(families)) and "rocesim_port_queue_bytes" in families
# The dashboard asks for metrics that there are.
import json, re
names = {family + end for family in families for end in ("", "_total")}  # also of a metric without samples
asked = re.findall(r"rocesim_\w+", json.dumps(json.load(open("examples/live/grafana.json"))))
assert len(asked) >= 8 and set(asked) <= names, set(asked) - names
END
extcap=examples/live/rocesim-extcap
ROCESIM_LIVE=$work/cap $extcap --extcap-interfaces >"$work/list"
grep -q '^interface {value=rocesim0}{display=leaf0->host0}$' "$work/list" ||
    fail "extcap: $(cat "$work/list")"
wait $run || fail "the run failed: $(cat "$work/err")"
digest() { sed -n 's/^ *"digest": "\(.*\)",$/\1/p' "$1/summary.json" | head -n 1; }
"$ROCESIM" run "$work/s.yaml" -o "$work/plain" --quiet >/dev/null 2>&1
[ "$(digest "$work/out")" = "$(digest "$work/plain")" ] || fail "a run that is watched has another digest"

# column FILE KEY COLUMN: prints a cell of a table of results.
column() {
    python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if sys.argv[2] in (row.get("port"), row.get("nic")):
        print(row[sys.argv[3]])' "$work/out/$1" "$2" "$3"
}
counters=$work/sys/class/infiniband/host0/ports/1
[ "$(cat "$counters/counters/port_rcv_data")" = $(($(column ports.csv 'host0->leaf0' rx_bytes) / 4)) ] ||
    fail "port_rcv_data is $(cat "$counters/counters/port_rcv_data")"
# Nanoseconds, as in the files of a program's host (docs/models/programs.md).
waited=$(cat "$work/sys/class/infiniband/host1/ports/1/counters/port_xmit_wait")
paused=$(column ports.csv 'host1->leaf0' paused_prio3_ns)
[ "$waited" -gt 0 ] && [ "$waited" = "${paused%.*}" ] ||
    fail "port_xmit_wait is $waited"
[ "$(cat "$counters/hw_counters/rx_data_bytes")" = "$(column nics.csv host0 rx_data_bytes)" ] ||
    fail "rx_data_bytes is $(cat "$counters/hw_counters/rx_data_bytes")"
if [ -n "$redis" ]; then
    ask() { redis-cli -p $port -n 2 "$@"; }
    oid=$(ask HGET COUNTERS_PORT_NAME_MAP Ethernet0)
    [ "$(ask HGET "COUNTERS:$oid" SAI_PORT_STAT_IF_OUT_OCTETS)" = \
        "$(column ports.csv 'leaf0->host0' tx_bytes)" ] ||
        fail "redis: $(ask HGETALL "COUNTERS:$oid")"
    [ "$(ask HGET "COUNTERS:$(ask HGET COUNTERS_QUEUE_NAME_MAP Ethernet0:3)" SAI_QUEUE_STAT_BYTES)" = \
        "$(column ports.csv 'leaf0->host0' tx_prio3_bytes)" ] || fail "redis: queues"
    kill $redis
fi
if command -v prometheus-node-exporter >/dev/null; then
    port=$((20000 + RANDOM % 20000))
    prometheus-node-exporter --path.sysfs="$work/sys" --collector.disable-defaults --collector.infiniband \
        --web.listen-address=127.0.0.1:$port >"$work/exporter" 2>&1 &
    exporter=$!
    python3 - $port "$(cat "$counters/counters/port_rcv_data")" <<'END' || fail "$(cat "$work/exporter")"
import sys, time, urllib.request
for _ in range(100):
    try:
        url = f"http://127.0.0.1:{sys.argv[1]}/metrics"
        text = urllib.request.urlopen(url, timeout=5).read().decode()
        break
    except OSError:
        time.sleep(0.1)
name = 'node_infiniband_port_data_received_bytes_total{device="host0",port="1"} '
values = [float(line[len(name):]) for line in text.split("\n") if line.startswith(name)]
assert values == [4 * float(sys.argv[2])], values
END
    kill $exporter
fi
mkfifo "$work/fifo"
ROCESIM_LIVE=$work/cap $extcap --capture --extcap-interface rocesim0 --fifo "$work/fifo" &
cat "$work/fifo" >"$work/captured"
cmp -s "$work/captured" "$work/cap/0.pcap" || fail "extcap gives other bytes than the capture"
if command -v tshark >/dev/null; then
    [ "$(tshark -r "$work/captured" -c 3 2>/dev/null | wc -l)" -eq 3 ] || fail "tshark reads no frames"
fi

# Times shifted so that the run begins now: each frame is as much later as the others.
before=$(date +%s)
"$ROCESIM" run "$work/s.yaml" --quiet --until 20us --live "extcap:$work/now@now" >"$work/said" 2>&1 ||
    fail "@now: $(cat "$work/said")"
"$ROCESIM" run "$work/s.yaml" --quiet --until 20us --live "extcap:$work/then" >"$work/said" 2>&1 ||
    fail "without @now: $(cat "$work/said")"
python3 - "$work" "$before" "$(date +%s)" <<'END' || fail "times of @now"
import struct, sys
def times(path):
    data, at, out = open(path, "rb").read(), 24, []
    while at < len(data):
        seconds, nanoseconds, size = struct.unpack_from("<III", data, at)
        out.append(seconds * 10**9 + nanoseconds)
        at += 16 + size
    return out
now, then = times(sys.argv[1] + "/now/0.pcap"), times(sys.argv[1] + "/then/0.pcap")
shifts = {a - b for a, b in zip(now, then)}
assert len(now) == len(then) > 0 and len(shifts) == 1, (len(now), len(then), shifts)
assert int(sys.argv[2]) * 10**9 <= shifts.pop() <= int(sys.argv[3]) * 10**9
END

# A wrong value is refused before anything is written.
refused() { # TEXT OPTION...
    "$ROCESIM" run "$work/s.yaml" --quiet -o "$work/none" "${@:2}" >"$work/said" 2>&1
    [ $? -eq 2 ] && grep -q -- "$1" "$work/said" && [ ! -e "$work/none" ] ||
        fail "${*:2}: $(cat "$work/said")"
}
refused 'expected sysfs:DIR' --live "$work"
refused 'expected sysfs:DIR' --live sysfs:
refused 'expected 0 to 65535' --live http:x
refused 'expected 0 to 65535' --live http:65536
refused 'expected 1 to 65535' --live redis:127.0.0.1:x
refused 'expected 1 to 65535' --live "sysfs:$work/never" --live redis:x@leaf0
[ ! -e "$work/never" ] || fail 'a target was opened although the next one is wrong'
refused "no switch 'leaf9'" --live redis:1@leaf9
refused "no switch 'host0'" --live redis:1@host0
refused 'expected at most 256' --live "extcap:$work/never" \
    --set topology.leaf-spine.hosts-per-leaf=70 --set switch.buffer=64MB
refused 'expected the simulated time' --pace fast
refused 'expected the simulated time' --pace 0s
refused 'expected no --ranks\|needs MPI' --pace 1ms --ranks 2

# A window of the simulation may last longer at the pace than any wait: 6 us at 2 us in a second.
cat >"$work/slow.yaml" <<'END'
topology: {star: {hosts: 2}}
link: {rate: 100Gbps, delay: 2us}
until: 6us
traffic:
  - flows: {list: host0 host1 1MB 0us}
END
begun=$(date +%s%N)
"$ROCESIM" run "$work/slow.yaml" --quiet --pace 2us >"$work/said" 2>&1 || fail "slow: $(cat "$work/said")"
took_ms=$((($(date +%s%N) - begun) / 1000000))
[ $took_ms -ge 1900 ] || fail "6 us at 2 us in a second took $took_ms ms"
exit $((failures > 0))
