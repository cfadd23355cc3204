#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/capture/test_cli_capture.sh - `rocesim capture` cuts, merges, splits, converts and follows.
#
# Goal: the file of a port that split makes is that of a capture of the port, byte by byte; merging the
# parts gives all frames back; nothing is lost by converting; followed packets take as long as hops.csv
# says, to the picosecond, with waits explained by frames and by pauses.
# Not pinned: the words of reasons.
set -u
. tests/script.sh
start_forks
cat >"$work/s.yaml" <<END
seed: 4
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 3}}
switch: {buffer: 4MB, pfc: {alpha: 1/64}}
links: {"leaf0--spine0": {loss-rate: 0.01}}
nic: {timeout: 4}
outputs: {hops-max: 1000000}
traffic: [incast: {to: host0, from: "host[1-5]", bytes: 200KB}]
captures: [{fabric: all.pcapng.gz}, {ports: "*->*", file: "{port}.pcap"}]
END
rocesim run "$work/s.yaml" -o "$work/s" --quiet >/dev/null || fail "run"
all=$work/s/captures/all.pcapng.gz
capture() { rocesim capture "$@" || fail "capture $*"; }

capture split "$all" -o "$work/parts"
for file in "$work/parts"/*.pcap; do
    cmp "$file" "$work/s/captures/$(basename "$file")" || fail "split: $(basename "$file")"
done
[ "$(ls "$work/parts" | wc -l)" -eq 20 ] || fail "parts: $(ls "$work/parts")"
capture merge "$work"/parts/*.pcap -o "$work/merged.pcapng"
capture convert "$work/merged.pcapng" -o "$work/merged.pcap"
capture convert "$all" -o "$work/all.pcap"
[ "$(stat -c %s "$work/merged.pcap")" = "$(stat -c %s "$work/all.pcap")" ] || fail "merge: other frames"
capture split --comments "$all" -o "$work/told"
capture merge "$work"/told/*.pcapng -o "$work/again.pcapng"
capture convert "$all" -o "$work/all.pcapng"
[ "$(grep -ac 'dropped: ' "$work/again.pcapng")" = "$(grep -ac 'dropped: ' "$work/all.pcapng")" ] ||
    fail "comments are lost"
capture convert "$work/parts/leaf0-host0.pcap" -o "$work/one.pcapng"
capture convert "$work/one.pcapng" -o "$work/one.pcap"
cmp "$work/one.pcap" "$work/parts/leaf0-host0.pcap" || fail "to pcapng and back"
capture cut "$all" --from 10us --to 20us -o "$work/cut.pcap"

python3 - "$work" "$ROCESIM" <<'END' || fail "contents"
import csv, decimal, json, struct, subprocess, sys
work, program = sys.argv[1:]
def times(path):
    data, at, found = open(path, "rb").read(), 24, []
    while at < len(data):
        s, ns, caplen, _ = struct.unpack_from("<IIII", data, at)
        found.append(s * 10**9 + ns)
        at += 16 + caplen
    return found
inside = [t for t in times(work + "/all.pcap") if 10000 <= t < 20000]
assert times(work + "/cut.pcap") == inside != [], "cut"

rows = [r for r in csv.DictReader(open(work + "/s/hops.csv")) if r["qp"]]
ps = lambda text: int(decimal.Decimal(text) * 1000)
paused = behind = lost = 0
data = [r for r in rows if r["kind"] == "data" and r["port"].startswith(r["src"] + "->")]
for first in data[::len(data) // 12]:
    mine = [r for r in rows if (r["src"], r["qp"], r["psn"], r["kind"]) ==
            (first["src"], first["qp"], first["psn"], "data")]
    told = json.loads(subprocess.run(
        [program, "capture", "follow", "--json", work + "/all.pcapng", "--packet",
         "%s QP %s PSN %s" % (first["src"], first["qp"], first["psn"])],
        capture_output=True, check=True).stdout)
    journeys = told["journeys"]
    assert len(journeys) == sum(r["port"].startswith(r["src"] + "->") for r in mine), "journeys"
    hops = [h for j in journeys for h in j["hops"]]
    for j in journeys:
        assert j["took_ps"] == sum(h["took_ps"] for h in j["hops"]), "the sum"
        lost += "dropped" in j.get("comment", "")
        if "dropped" in j.get("comment", ""):
            assert j["end"] == "dropped" and not j["received"], j
            assert j["comment"].startswith("dropped: " + j["drop_reason"] + ","), j
        else: # no packet is under way when the run ends
            assert (j["end"], j["received"], j["end_node"]) == ("delivered", True, mine[0]["dst"]), j
    links = sorted((h["from_ps"], h["from_ps"] + h["took_ps"]) for h in hops if h["kind"] == "link")
    arrived = {(ps(r["time_ns"]), ps(r["arrives_ns"])) for r in mine}
    assert set(links) <= arrived and len(arrived) - len(links) <= len(journeys), (links, arrived)
    for h in hops:
        if h["kind"] == "node":
            assert h["took_ps"] == h["behind_ps"] + h["paused_ps"] + h["turn_ps"]
            paused += h["paused_ps"]
            behind += h["behind_ps"]
assert paused > 0 and behind > 0, (paused, behind)
drops = subprocess.run(["grep", "-ao", "dropped: lost on the link[^@]*PSN [0-9]*",
                        work + "/all.pcapng"], capture_output=True, text=True).stdout.splitlines()
for drop in drops: # of data, or of ACKs with equal numbers
    qp, psn = drop.split("queue pair ")[1].split(", PSN ")
    row = next((r for r in data if (r["qp"], r["psn"]) == (qp, psn)), None)
    if row and lost == 0:
        told = json.loads(subprocess.run([program, "capture", "follow", "--json",
            work + "/all.pcapng", "--packet", "%s QP %s PSN %s" % (row["src"], qp, psn)],
            capture_output=True, check=True).stdout)
        lost += any("dropped: lost" in j.get("comment", "") for j in told["journeys"])
        assert lost == 0 or told["journeys"][-1]["received"], told
assert lost > 0, drops
END

# Copies by several planes, trimmed packets of Ultra Ethernet, packets that were sent again: `follow` finds
# each time that the host sent one, and the hops of each, as hops.csv has them. TIME chooses one of them.
planes='{multi-plane: {planes: 2, leaves: 2, spines: 2, hosts-per-leaf: 2, host-rate: 100Gbps}}'
tree='{leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2, host-rate: 100Gbps, fabric-rate: 100Gbps}}'
again() {
    printf '%s\n' "topology: $2" 'outputs: {hops-max: 1000000}' 'captures: [{fabric: all.pcapng}]' \
        'traffic: [incast: {to: host0, from: "host[1-3]", bytes: 60KB}]' "$3" >"$work/$1.yaml"
    rocesim run "$work/$1.yaml" -o "$work/$1" --quiet >/dev/null || fail "run $1"
    python3 - "$work/$1" "$ROCESIM" <<'END' || fail "follow: $1"
import collections, csv, decimal, json, subprocess, sys
folder, program = sys.argv[1:]
ps = lambda text: int(decimal.Decimal(text) * 1000)
packets = collections.defaultdict(list)
for row in csv.DictReader(open(folder + "/hops.csv")):
    if row["qp"] and row["kind"] == "data":
        packets[row["src"], row["qp"], row["psn"]].append(row)
sends = {key: sum(r["port"].startswith(key[0] + "->") for r in rows) for key, rows in packets.items()}
def follow(key, time=""):
    told = subprocess.run([program, "capture", "follow", "--json", folder + "/captures/all.pcapng",
                           "--packet", "%s QP %s PSN %s" % key + time], capture_output=True, text=True)
    return told.returncode, told.returncode == 0 and json.loads(told.stdout)["journeys"]
for key in sorted(sends, key=lambda k: (-sends[k], k))[:4]:
    status, journeys = follow(key)
    assert status == 0 and len(journeys) == sends[key] > 1, (key, sends[key], journeys)
    links = sorted((h["from_ps"], h["from_ps"] + h["took_ps"])
                   for j in journeys for h in j["hops"] if h["kind"] == "link")
    assert set(links) <= {(ps(r["time_ns"]), ps(r["arrives_ns"])) for r in packets[key]}, (key, links)
    for j in journeys:
        assert j["took_ps"] == sum(h["took_ps"] for h in j["hops"]), (key, j)
        assert j["hops"][-1]["port"].endswith("->host0") or "dropped" in j.get("comment", ""), (key, j)
    assert follow(key, " TIME 2") == (0, journeys[1:2]), key
    assert follow(key, " TIME 99")[0] == 2, key
END
}
again planes "$planes" 'nic: {transport: irn, planes: round-robin}
links: {"plane0-leaf0--plane0-spine0": {loss-rate: 0.1}, "plane1-leaf0--plane1-spine1": {loss-rate: 0.1}}'
again uec "$tree" 'nic: {transport: uec-rud}
switch: {mmu: trimming, pfc: {enabled: false}, trim: {queue: 10KB, priorities: [3]}}'

# refused WORDS ARGUMENT...: exit status 2, the message has the words, and nothing is written.
refused() {
    rocesim capture "${@:2}" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] || fail "capture ${*:2}: not refused"
    grep -q "$1" "$work/err" || fail "capture ${*:2}: $(cat "$work/err")"
    [ ! -e "$work/no.pcap" ] || fail "capture ${*:2}: wrote a file"
}
head -c 5000 "$work/all.pcapng" >"$work/short.pcapng"
refused 'unknown action' burn "$work/one.pcap"
# -- dates: a capture of today keeps its times, in both formats and byte orders

# put BYTES VALUE...: writes integers of that many bytes, little endian.
put() {
    local bytes=$1 value i text=""
    shift
    for value in "$@"; do
        for ((i = 0; i < bytes; i++)); do
            text+="\\x$(printf %02x $((value >> 8 * i & 255)))"
        done
    done
    printf '%b' "$text"
}
frame() { head -c 64 /dev/zero; }
# A pcap file in microseconds whose frames are at the seconds $@.
dated() {
    put 4 0xa1b2c3d4
    put 2 2 4
    put 4 0 0 65535 1
    for second in "$@"; do
        put 4 "$second" 250000 64 64
        frame
    done
}
# Seconds after 1700000000.
seconds_of() {
    tshark -r "$1" -T fields -e frame.time_epoch 2>/dev/null | awk '{ printf "%g ", $1 - 1700000000 }'
}
dated 1700000000 1700000001 1700000300 >"$work/dated.pcap"
capture convert "$work/dated.pcap" -o "$work/dated.pcapng"
capture convert "$work/dated.pcapng" -o "$work/again.pcap"
capture cut "$work/dated.pcapng" --from 1s --to 2s -o "$work/cut.pcap"
# pcapng: an interface whose times count from 1700000000 s, and a frame in an old packet block
{
    put 4 0x0a0d0d0a 28 0x1a2b3c4d 1 -1 -1 28
    put 4 1 36 1 0
    put 2 14 8
    put 4 1700000000 0 0 36
    put 4 2 96
    put 2 0 7
    put 4 0 500000 64 64
    frame
    put 4 96
} >"$work/old.pcapng"
# an interface whose times have units of 2^-30 s, 0.5 s after 1700000000 s
{
    put 4 0x0a0d0d0a 28 0x1a2b3c4d 1 -1 -1 28
    put 4 1 28 1 0
    put 2 9 1
    put 4 0x9e 28
    put 4 6 96 0 425000000 536870912 64 64
    frame
    put 4 96
} >"$work/binary.pcapng"
capture convert "$work/binary.pcapng" -o "$work/binary.pcap"
capture merge "$work/old.pcapng" "$work/dated.pcap" -o "$work/both.pcap"
dated 5 >"$work/early.pcap"
refused 'within 200 days' merge "$work/dated.pcap" "$work/early.pcap" -o "$work/no.pcap"
dated 1700000000 5 >"$work/back.pcap"
refused 'within 200 days' convert "$work/back.pcap" -o "$work/no.pcap"
if command -v tshark >/dev/null; then
    for file in dated.pcap dated.pcapng again.pcap; do
        [ "$(seconds_of "$work/$file")" = "0.25 1.25 300.25 " ] || fail "$file: $(seconds_of "$work/$file")"
    done
    [ "$(seconds_of "$work/binary.pcap")" = "0.5 " ] ||
        fail "units of 2^-30 s: $(seconds_of "$work/binary.pcap")"
    [ "$(seconds_of "$work/cut.pcap")" = "1.25 " ] || fail "cut: $(seconds_of "$work/cut.pcap")"
    [ "$(seconds_of "$work/both.pcap")" = "0.25 0.5 1.25 300.25 " ] ||
        fail "merge: $(seconds_of "$work/both.pcap")"
fi

# Frames of other tools may be longer than 65535 bytes, and where a file cannot hold them it says so.
{
    put 4 0xa1b2c3d4
    put 2 2 4
    put 4 0 0 262144 1
    put 4 1700000000 0 70000 70000
    head -c 70000 /dev/zero
} >"$work/long.pcap"
capture convert "$work/long.pcap" -o "$work/long.pcapng"
capture convert "$work/long.pcapng" -o "$work/again.pcap" 2>"$work/err"
[ -s "$work/err" ] && fail "a long frame: $(cat "$work/err")"
[ "$(stat -c %s "$work/again.pcap")" = "$(stat -c %s "$work/long.pcap")" ] || fail "a long frame is cut"

refused 'ends within a block' convert "$work/short.pcapng" -o "$work/no.pcap"
refused 'does not begin like a capture' convert "$work/s.yaml" -o "$work/no.pcap"
refused 'expected a name that ends in' convert "$work/one.pcap" -o "$work/no"
refused 'expected a packet such as' follow "$work/all.pcapng" --packet 'host1 PSN 3'
refused 'no frame that host1 sends' follow "$work/all.pcapng" --packet 'host1 QP 2 PSN 3'
[ $failures -eq 0 ]
