#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_hops.sh - hops.csv, the frames on links of small runs.
#
# Goal: with outputs.hops-max a run writes a row for each frame on each link: as many rows and bytes by port
# as ports.csv counts, with each kind of frame; the rows are the same on several threads and change no
# result. A frame that a link loses is a drop of events.csv with its port and time. Beyond the limit the first
# rows are kept and a note says how many there were; without the attribute there is no file.
# Method: a lossy incast with PFC and DCQCN. Not pinned: the file's size in `check`.
set -u
. tests/script.sh

cat >"$work/s.yaml" <<'END'
seed: 3
topology: {star: {hosts: 4, rate: 10Gbps, delay: 1us}}
switch: {buffer: 200KB, pfc: {priorities: [3], alpha: 1/8}, ecn: {kmin: 10KB, kmax: 40KB}}
links: {host1--switch0: {loss-rate: 5%}}
nic: {congestion-control: dcqcn}
traffic:
  - incast: {to: host0, from: "host[1-3]", bytes: 300KB}
  - bulk: {from: host2, to: host0, bytes: 100KB, verb: read}
END
run() {
    "$ROCESIM" run "$work/s.yaml" -o "$work/$1" --quiet "${@:2}" >"$work/log" 2>&1 ||
        fail "$1: $(cat "$work/log")"
}
run none
[ $failures = 0 ] || exit 1
[ ! -e "$work/none/hops.csv" ] || fail "hops.csv without outputs.hops-max"
run all --set outputs.hops-max=100000
run threads --set outputs.hops-max=100000 --threads 3
cmp "$work/all/hops.csv" "$work/threads/hops.csv" || fail "threads change hops.csv"
digest() { sed -n 's/.*"digest": "\(.*\)".*/\1/p' "$work/$1/summary.json"; }
[ "$(digest none)" = "$(digest all)" ] || fail "hops.csv changes the digest"

# What each port sent, by two files.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { print $at["port"] "," $at["tx_packets"] "," $at["tx_bytes"] }' "$work/all/ports.csv" |
    sort >"$work/ports"
awk -F, 'NR > 1 { count[$3]++; bytes[$3] += $11 }
    END { for (port in count) print port "," count[port] "," bytes[port] }' "$work/all/hops.csv" |
    sort >"$work/hops"
cmp "$work/ports" "$work/hops" || fail "rows by port: $(diff "$work/ports" "$work/hops")"
for kind in data request ack nak cnp pause resume; do
    [ "$(awk -F, -v kind=$kind '$4 == kind' "$work/all/hops.csv" | wc -l)" -gt 0 ] || fail "no $kind"
done
awk -F, 'NR > 1 && ($2 <= $1 + 1000 || $2 > $1 + 5000) { bad = 1 } END { exit bad }' "$work/all/hops.csv" ||
    fail "a frame takes the time of its bytes and of the link"
[ "$(awk -F, '$13 == 1' "$work/all/hops.csv" | wc -l)" -gt 0 ] || fail "no retransmission"
[ "$(awk -F, '$12 == 1' "$work/all/hops.csv" | wc -l)" -gt 0 ] || fail "no marked packet"
awk -F, '$5 == "link-loss"' "$work/all/events.csv" >"$work/lost"
[ -s "$work/lost" ] || fail "nothing was lost: $(cut -d, -f5 "$work/all/events.csv" | sort | uniq -c)"
while IFS=, read -r time _ port _; do
    grep -q "^$time,[^,]*,$port," "$work/all/hops.csv" || fail "a lost frame is no hop: $time $port"
done <"$work/lost"

run few --set outputs.hops-max=10
[ "$(wc -l <"$work/few/hops.csv")" = 11 ] || fail "outputs.hops-max=10: $(wc -l <"$work/few/hops.csv") lines"
cmp <(head -n 11 "$work/all/hops.csv") "$work/few/hops.csv" || fail "these are not the first rows"
all=$(($(wc -l <"$work/all/hops.csv") - 1))
grep -q "the first 10 of $all frames" "$work/few/summary.json" || fail "no note of what is left out"
# The file of an earlier run is gone where the next one does not write it.
cp -r "$work/few" "$work/again"
run again
[ ! -e "$work/again/hops.csv" ] || fail "hops.csv of an earlier run stays"
exit $((failures > 0))
