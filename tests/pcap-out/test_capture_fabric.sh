#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# tests/pcap-out/test_capture_fabric.sh - captures.fabric: one file tells what became of packets.
#
# Goal: it has the frames of every port as a capture of that port has them, and a comment for each packet
# that the summary counts as dropped, marked, sent again; triggers and rings keep what they should;
# the file is equal on 1, 2 and 4 threads, and the run has the digest of a run without it.
# Method: small runs with every kind of comment; a reader of pcapng in Python, by the format's description.
# Not pinned: words of comments beyond the first; what Wireshark shows (test_wireshark.sh).
set -u
. tests/script.sh
start_forks

cat >"$work/lossy.yaml" <<END
name: lossy
seed: 3
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2}}
switch: {buffer: 200KB, pfc: {enabled: false}, ecn: {kmin: 5KB, kmax: 50KB}}
nic: {timeout: 4}
links: {"leaf0--spine0": {loss-rate: 0.02}}
faults: [{part: "leaf1--spine1", at: 15us, until: 40us}]
traffic: [incast: {to: host0, from: "host[1-3]", bytes: 150KB}]
captures:
  - {fabric: all.pcapng}
  - {fabric: all.pcapng.gz}
  - {fabric: drops.pcapng, around: drop, before: 2us, after: 3us, at-most: 4}
  - {fabric: marks.pcapng, around: mark, before: 300ns, after: 200ns, at-most: 30}
  - {fabric: ends.pcapng, filter: "udp[udp[4:2] - 4:4] > 0x80000000"}
  - {fabric: ack.pcapng, filter: "ether[58:4] > 0x80000000"}
  - {fabric: ring.pcapng, ring: 100KB}
  - {ports: "*->*", file: "{port}.pcap"}
END
cat >"$work/pauses.yaml" <<END
topology: {star: {hosts: 4, rate: 100Gbps, delay: 300ns}}
switch: {buffer: 1MB, pfc: {priorities: [3], alpha: 1/64}}
traffic: [incast: {to: host0, from: "host[1-3]", bytes: 300KB}]
captures: [{fabric: all.pcapng}, {fabric: pauses.pcapng, around: pause, before: 1us, after: 0s, at-most: 1}]
END
cat >"$work/trims.yaml" <<END
topology: {star: {hosts: 4, rate: 100Gbps, delay: 300ns}}
switch: {mmu: trimming, pfc: {enabled: false}, trim: {queue: 10KB, priorities: [3]}}
nic: {transport: uec-rud}
traffic: [incast: {to: host0, from: "host[1-3]", bytes: 200KB}]
captures: [{fabric: all.pcapng}, {fabric: trims.pcapng, around: trim, before: 0s, after: 0s, at-most: 3}]
observe: [{series: "port[*->*].trimmed", every: 1us}]
END
# A ring alone lets switches note frames in their own loops; a file of all frames does not.
cat >"$work/waits.yaml" <<END
seed: 4
until: 60us
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps}}
links: {"leaf1--spine0": {rate: 56Gbps}}
switch: {buffer: 600KB, pfc: {priorities: [3], alpha: 1/16}, ecn: {kmin: 5KB, kmax: 50KB}}
nic: {congestion-control: dcqcn}
faults: [{part: "leaf1--spine1", at: 30us, until: 40us}]
traffic:
  - incast: {to: host0, from: "host[1-7]", bytes: 40KB}
  - permutation: {hosts: "*", bytes: 80KB}
  - incast: {to: host1, from: "host[2-7]", bytes: 150KB, priority: 2}
  - permutation: {hosts: "*", bytes: 20KB, verb: read}
END
for threads in 1 2; do
    rocesim run "$work/waits.yaml" --set 'captures=[{fabric: all.pcapng, ring: 3MB}]' \
        --threads $threads -o "$work/waits$threads" --quiet >/dev/null || fail "run with a ring"
done
rocesim run "$work/waits.yaml" --set 'captures=[{fabric: all.pcapng}]' -o "$work/waits" --quiet >/dev/null
# A ring of some ports, or of one direction, is in logs, too, which then note more than the file has.
some_count=0
for some in 'tx, ports: "leaf*->*"' 'rx, ports: "*->leaf*"' 'tx'; do
    some_count=$((some_count + 1))
    for ring in '' ', ring: 1MB'; do
        rocesim run "$work/waits.yaml" --set "captures=[{fabric: all.pcapng, direction: $some$ring}]" \
            -o "$work/${ring:+ring-}some$some_count" --quiet >/dev/null || fail "run with $some$ring"
    done
done
cmp "$work/waits1/captures/all.pcapng" "$work/waits2/captures/all.pcapng" || fail "a ring's threads"
rocesim run "$work/trims.yaml" -o "$work/trims" --quiet >/dev/null || fail "run with trimming"
rocesim run "$work/lossy.yaml" -o "$work/lossy" --quiet >/dev/null || fail "run"
rocesim run "$work/pauses.yaml" -o "$work/pauses" --quiet >/dev/null || fail "run with pauses"
for control in swift timely; do # which stamp packets that are sent again, too
    rocesim run "$work/lossy.yaml" --set 'captures=[{fabric: all.pcapng}]' \
        --set nic.congestion-control=$control -o "$work/$control" --quiet >/dev/null || fail "$control"
done
rocesim run "$work/lossy.yaml" --set 'captures=[]' -o "$work/bare" --quiet >/dev/null || fail "bare run"
for threads in 2 4; do
    rocesim run "$work/lossy.yaml" --threads $threads -o "$work/t$threads" --quiet >/dev/null
    for name in all drops ring; do
        cmp "$work/lossy/captures/$name.pcapng" "$work/t$threads/captures/$name.pcapng" ||
            fail "$name.pcapng differs on $threads threads"
    done
done

python3 - "$work" <<'END' || fail "contents"
import csv, gzip, json, struct, sys, os
work = sys.argv[1]

def blocks(data):
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        assert size % 4 == 0 and struct.unpack_from("<I", data, at + size - 4)[0] == size, "block"
        yield kind, data[at + 8:at + size - 4]
        at += size

def options(data, at):
    while at + 4 <= len(data):
        code, size = struct.unpack_from("<HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4:at + 4 + size]
        at += 4 + (size + 3) // 4 * 4

class Frame: pass

def read(path):
    data = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
    section, interfaces, frames, statistics = None, [], [], []
    for kind, body in blocks(data):
        if kind == 0x0a0d0d0a:
            section = dict(options(body, 16))[1].decode()
        elif kind == 1:
            interfaces.append(dict(options(body, 8)))
        elif kind == 5:
            statistics.append((struct.unpack_from("<I", body)[0], dict(options(body, 12))))
        elif kind == 6:
            f = Frame()
            f.interface, high, low, caplen, f.size = struct.unpack_from("<IIIII", body)
            f.ns, f.bytes = high << 32 | low, body[20:20 + caplen]
            f.name = interfaces[f.interface][2].decode()
            f.comments, f.way, f.drops, f.rest = [], 0, 0, 0
            for code, value in options(body, 20 + (caplen + 3) // 4 * 4):
                if code == 1: f.comments.append(value.decode())
                if code == 2: f.way = struct.unpack("<I", value)[0]
                if code == 4: f.drops = struct.unpack("<Q", value)[0]
                if code == 2989: f.rest = struct.unpack("<IHH", value)[2]
            f.ps = f.ns * 1000 + f.rest
            frames.append(f)
    return section, interfaces, frames, statistics

def pcap(path):
    data = open(path, "rb").read()
    at, frames = 24, []
    while at < len(data):
        s, ns, caplen, size = struct.unpack_from("<IIII", data, at)
        frames.append((s * 10**9 + ns, data[at + 16:at + 16 + caplen]))
        at += 16 + caplen
    return frames

summary = json.load(open(work + "/lossy/summary.json"))
bare = json.load(open(work + "/bare/summary.json"))
assert summary["digest"] == bare["digest"], "the capture changes the run"
section, interfaces, frames, statistics = read(work + "/lossy/captures/all.pcapng")
assert section == "scenario lossy, seed 3, digest " + summary["digest"], section
zipped = read(work + "/lossy/captures/all.pcapng.gz")
assert zipped[0] == section and len(zipped[2]) == len(frames), "compressed"
assert all(a.ps <= b.ps for a, b in zip(frames, frames[1:])), "times fall"
def count(word, frames=frames):
    return sum(c.startswith(word) for f in frames for c in f.comments)
dropped = sum(summary["drops"].values())
kinds = [k for k, n in summary["drops"].items() if n > 0]
assert len(kinds) == 3, kinds
assert count("dropped: ") == dropped == sum(f.drops for f in frames), (count("dropped: "), dropped)
assert sum(struct.unpack("<Q", s[5])[0] for i, s in statistics) == dropped, "statistics"
assert count("marked: ") == summary["ecn_marked"] > 10, (count("marked: "), summary["ecn_marked"])
assert count("sent again: ") == summary["retransmitted_packets"] > 10, count("sent again: ")
for control in "swift", "timely":
    again = json.load(open(work + "/%s/summary.json" % control))["retransmitted_packets"]
    told = count("sent again: ", read(work + "/%s/captures/all.pcapng" % control)[2])
    assert told == again > 10, (control, told, again)
for f in frames:
    for c in f.comments: # a marked packet has CE in its bytes
        assert not c.startswith("marked: ") or f.bytes[15] & 3 == 3, "no CE"
names = set()
for i in interfaces:
    name = i[2].decode()
    if name.endswith(" dropped"):
        continue
    names.add(name)
    assert struct.unpack("<Q", i[8])[0] == 100000000000 and i[9] == b"\x09"
assert len(names) == 16
for name in names:
    mine = [(f.ns, f.bytes) for f in frames if f.name == name]
    assert mine == pcap(work + "/lossy/captures/%s.pcap" % name.replace("->", "-")), name
    assert {f.way for f in frames if f.name == name} <= {1, 2}
def whole(f): return f.ps, f.name, f.way, f.bytes, f.comments, f.drops
for name, word, before, after, most in (("drops", "dropped: ", 2000000, 3000000, 4),
                                        ("marks", "marked: ", 300000, 200000, 30)):
    near = read(work + "/lossy/captures/%s.pcapng" % name)[2]
    moments = [f.ps for f in frames if count(word, [f])][:most]
    expected = [f for f in frames if any(m - before <= f.ps <= m + after for m in moments)]
    assert [whole(f) for f in near] == [whole(f) for f in expected] != [], (name, len(near), len(expected))
    assert len(moments) == most and len(near) < len(frames) / 2, name
# Filters that look at ICRCs: at the end of each packet; at byte 58, where that of an ACK is.
def word(bytes, at): return int.from_bytes(bytes[at:at + 4], "big")
def end(f): return 14 + int.from_bytes(f.bytes[16:18], "big") - 4
for name, place in ("ends", end), ("ack", lambda f: 58):
    near = read(work + "/lossy/captures/%s.pcapng" % name)[2]
    expected = [f for f in frames if word(f.bytes, place(f)) > 0x80000000]
    assert [(f.ps, f.bytes) for f in near] == [(f.ps, f.bytes) for f in expected], (name, len(near))
    assert 10 < len(near) < 0.8 * len(frames), (name, len(near))
ring = read(work + "/lossy/captures/ring.pcapng")[2]
last = frames[-len(ring):]
assert [(f.ps, f.bytes) for f in ring] == [(f.ps, f.bytes) for f in last], "the ring has other frames"
size = os.path.getsize(work + "/lossy/captures/ring.pcapng")
assert 80000 < size < 120000, size

section, interfaces, frames, statistics = read(work + "/waits/captures/all.pcapng")
other = read(work + "/waits1/captures/all.pcapng")
assert section == other[0] and statistics == other[3], "a ring counts other frames"
assert 500 < len(other[2]) < 0.8 * len(frames), (len(other[2]), len(frames))
for a, b in zip(frames[-len(other[2]):], other[2]):
    assert whole(a) == whole(b), (whole(a), whole(b))
for word in "marked: ", "paused for: ", "dropped: ", "sent again: ":
    assert count(word, frames) > 0, word

for i in "123":
    frames = read(work + "/some" + i + "/captures/all.pcapng")[2]
    last = read(work + "/ring-some" + i + "/captures/all.pcapng")[2]
    assert 150 < len(last) < len(frames), (i, len(last), len(frames))
    assert [whole(f) for f in last] == [whole(f) for f in frames[-len(last):]], "some" + i
    assert count("dropped: ", last) + count("marked: ", last) > 0, i

trimmed = {}
for row in csv.DictReader(open(work + "/trims/series.csv")):
    trimmed[row["path"]] = int(row["value"])
told = count("trimmed: ", read(work + "/trims/captures/all.pcapng")[2])
assert told >= sum(trimmed.values()) > 10, (told, trimmed) # the last sample is before the end
near = read(work + "/trims/captures/trims.pcapng")[2]
assert 3 <= count("trimmed: ", near) <= len(near) < 20, len(near)

frames = read(work + "/pauses/captures/all.pcapng")[2]
summary = json.load(open(work + "/pauses/summary.json"))
stops = count("paused for: ", frames)
sent = [f for f in frames if f.bytes[12:14] == b"\x88\x08" and f.way == 2]
assert 0 < stops <= summary["pfc"]["pause_frames"] <= len(sent), (stops, len(sent))
first = next(f for f in frames if count("paused for: ", [f]))
near = read(work + "/pauses/captures/pauses.pcapng")[2]
assert near and all(first.ps - 1000000 <= f.ps <= first.ps for f in near), "trigger on a pause"
END

# What only fabric takes is refused without it; the files of an earlier run are removed.
refused() {
    rocesim check "$work/lossy.yaml" --set "captures=$1" >"$work/log" 2>&1 && fail "$1 is accepted"
    grep -q "$2" "$work/log" || fail "$1: $(cat "$work/log")"
}
refused '[{ports: "host0->*", around: drop}]' "captures.around without 'fabric'"
refused '[{fabric: all.pcap}]' 'expected a name that ends in .pcapng'
refused '[{fabric: a.pcapng, file: b.pcap}]' "both 'fabric' and 'file'"
rocesim run "$work/lossy.yaml" --set 'captures=[{fabric: new.pcapng}]' -o "$work/lossy" --quiet >/dev/null
[ "$(ls "$work/lossy/captures")" = new.pcapng ] || fail "old files: $(ls "$work/lossy/captures")"
[ $failures -eq 0 ]
