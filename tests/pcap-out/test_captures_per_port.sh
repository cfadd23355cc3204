#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/pcap-out/test_captures_per_port.sh - {port} and {node} in a capture's name give several files.
#
# Goal: each file has exactly the frames of its port or node, and together they have those of one
# file; another run of the folder removes them, and no file that only looks alike.
# Method: one scenario captured in three ways; frames counted in the files (record headers) against
# ports.csv.
# Does not pin: the bytes of frames (test_capture.c, test_captures.sh).
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "$*"; exit 1; }

cat >"$scratch/s.yaml" <<END
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2, links-per-spine: 2}}
traffic: [incast: {to: host0, from: "host[1-3]", bytes: 50KB}]
captures:
  - {ports: "leaf*->*", file: "{port}.pcap"}
  - {ports: "leaf*->*", file: "at-{node}-.pcap"}
  - {ports: "leaf*->*", file: one.pcap}
  - {ports: "host1->*", file: "{node}_{port}.pcap.gz"}
END
"$ROCESIM" run "$scratch/s.yaml" -o "$scratch/out" --quiet >/dev/null
cd "$scratch/out/captures"

# frames FILE: counts the records of a pcap file.
frames() {
    python3 - "$1" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, count = 24, 0
while at < len(data):
    at += 16 + struct.unpack_from("<I", data, at + 8)[0]
    count += 1
print(count)
END
}
[ "$(ls | wc -l)" -eq 16 ] || fail "expected 12 + 2 + 1 + 1 files: $(ls)"
[ -f host1_host1-leaf0.pcap.gz ] || fail "no file with both names"
sum=0
while IFS=, read -r port sent received; do
    file=${port/->/-}
    file=${file/\#/_}.pcap
    there=$(frames "$file")
    [ "$there" -eq $((sent + received)) ] || fail "$file has $there frames, the port $sent and $received"
    sum=$((sum + there))
done < <(python3 - ../ports.csv <<'END'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["port"].startswith("leaf"):
        print(row["port"], row["tx_packets"], row["rx_packets"], sep=",")
END
)
[ $sum -gt 200 ] || fail "only $sum frames"
[ "$(frames one.pcap)" -eq $sum ] || fail "one file has other frames than all files of ports"
[ $(($(frames at-leaf0-.pcap) + $(frames at-leaf1-.pcap))) -eq $sum ] ||
    fail "files of nodes have other frames than files of ports"

# Another run removes what the former run wrote, and nothing else.
touch mine.pcap at-mine-.pcap
cd "$OLDPWD"
sed '/{/!d; /file: "/d' "$scratch/s.yaml" >"$scratch/t.yaml"
printf 'captures:\n  - {ports: "leaf0->host0", file: one.pcap}\n' >>"$scratch/t.yaml"
sed -i '/^  - {ports: "leaf\*->\*", file: one.pcap}/d' "$scratch/t.yaml"
"$ROCESIM" run "$scratch/t.yaml" -o "$scratch/out" --quiet >/dev/null
[ "$(cd "$scratch/out/captures" && echo *)" = "at-mine-.pcap mine.pcap one.pcap" ] ||
    fail "after another run: $(ls "$scratch/out/captures")"

# More files than a process may open are refused before the run.
"$ROCESIM" check "$scratch/s.yaml" --set topology.leaf-spine.hosts-per-leaf=500 \
    --set switch.buffer=1GB >"$scratch/log" 2>&1 && fail "1,000 files are accepted"
grep -q 's.yaml:4:[0-9]*: captures write [0-9]* files, expected at most' "$scratch/log" ||
    fail "$(cat "$scratch/log")"
