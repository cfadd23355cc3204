#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
#
# tests/pcap-out/test_wireshark.sh - the profile for Wireshark installs and tells the truth.
#
# Goal: tools/wireshark-profile puts a profile and a post-dissector where Wireshark finds them; every
# button and colour is a filter that Wireshark takes; CNPs have their name; the ICRC of every frame is
# called good, and bad after one bit of payload changed; the gap that a lost packet leaves and what is
# sent again are seen; INT and PINT behind a frame are read; payload is not taken for other protocols.
# Method: tshark with that profile on captures of small runs, over IPv4 and IPv6, tagged and not. The
# filters are given to it in one expression.
# Not pinned: what it looks like.
set -u
. tests/script.sh
start_forks
if ! tshark -v 2>/dev/null | grep -q 'with Lua'; then
    echo "skip: tshark with Lua is not installed"
    exit 77
fi
export WIRESHARK_CONFIG_DIR=$work/wireshark
tools/wireshark-profile >/dev/null || fail "the profile is not installed"
# What tshark complains of is put together in one file.
shark() {
    tshark -n -C rocesim "$@" 2>"$work/err"
    grep -v 'Running as user' "$work/err" >>"$work/complaints"
}

# run NAME LINES [OF THE CAPTURE [VERB]]: three hosts send to one
run() {
    cat >"$work/$1.yaml" <<END
seed: 3
topology: {dumbbell: {left: 3, right: 3, host-rate: 100Gbps, bottleneck-rate: 100Gbps}}
switch: {ecn: {kmin: 5KB, kmax: 50KB}, pfc: {priorities: [3], alpha: 1/16}}
traffic: [{incast: {to: host3, from: "host[0-2]", bytes: 300KB, verb: ${4:-write}}}]
captures: [{ports: "host3->*", file: all.pcap${3:-}}]
$2
END
    rocesim run "$work/$1.yaml" -o "$work/$1" --quiet >/dev/null || fail "run $1"
}
# What a frame shows, in the columns of a table; tshark starts once a capture.
columns=(udp.dstport infiniband.bth.opcode infiniband.aeth.syndrome rocesim.icrc.good rocesim.cnp
    rocesim.psn.gap rocesim.psn.again rocesim.int.hops rocesim.selective.address
    rocesim.selective.round rocesim.selective.count _ws.malformed _ws.lua.error _ws.col.Info)
read_capture() {
    shark -r "$work/$1/captures/all.pcap" -T fields -E separator=/t -E occurrence=f "${columns[@]/#/-e}" \
        >"$work/$1.table"
}
# count NAME EXPRESSION: frames of a capture that was read, by an expression of awk over columns, as
# $(c COLUMN) names them
c() {
    local i
    for ((i = 0; i < ${#columns[@]}; i++)); do
        [ "${columns[i]}" != "$1" ] || echo "\$$((i + 1))"
    done
}
count() {
    awk -F '\t' "$2 { count++ } END { print count + 0 }" "$work/$1.table"
}
roce="$(c udp.dstport) == 4791"
opcode=$(c infiniband.bth.opcode)
good="$(c rocesim.icrc.good) ~ /^(1|True)$/"
clean="$good && $(c _ws.malformed) == \"\" && $(c _ws.lua.error) == \"\""

run v4 'links: {"switch0--switch1": {loss-rate: 0.01}}'
run v6 'network: {ipv6: true, tagged: true}'
run int 'nic: {congestion-control: hpcc}' ', telemetry: true'
for name in v4 v6 int; do
    read_capture $name
    all=$(count $name "$roce")
    [ "$all" -gt 100 ] && [ "$all" = "$(count $name "$good")" ] ||
        fail "$name: ICRC good in $(count $name "$good") of $all frames"
done
cnps=$(count v4 "$(c rocesim.cnp) != \"\"")
[ "$cnps" -gt 0 ] && [ "$cnps" = "$(count v4 "$opcode == 129")" ] || fail "CNPs"
[ "$(count v4 "$(c _ws.col.Info) ~ /CNP QP=0x/")" -gt 0 ] || fail "no CNP by name"
gap="$(c rocesim.psn.gap) != \"\""
[ "$(count v4 "$gap")" -gt 0 ] || fail "no gap where packets were lost"
[ "$(count v6 "$gap || $(c rocesim.psn.again) != \"\"")" = 0 ] || fail "a gap where none was lost"
# Every hop that a data packet of HPCC passed wrote its record.
[ "$(count int "$opcode == 7 && $(c rocesim.int.hops) == 2")" -gt 0 ] || fail "no INT of two switches"

# What selective transports put behind the standard's headers: every WRITE that begins nowhere else says
# where it belongs, what is sent again its round, a NAK its map; our own parser reads the same.
for transport in adamap irn sdr; do
    run $transport 'links: {"switch0--switch1": {loss-rate: 0.02}}
nic: {transport: '$transport'}'
    read_capture $transport
    [ "$(count $transport "$good")" -gt 100 ] || fail "$transport: ICRC"
    for kind in 7 8; do
        all=$(count $transport "$opcode == $kind")
        there=$(count $transport "$opcode == $kind && $(c rocesim.selective.address) != \"\"")
        [ "$all" = "$there" ] || fail "$transport: opcode $kind: $there of $all"
    done
    [ "$(count $transport "$(c rocesim.selective.round) > 0 && $opcode != 17")" -gt 0 ] ||
        fail "$transport: no retransmission tells its round"
    maps=$(count $transport "$opcode == 17 && $(c rocesim.selective.count) > 0")
    naks=$(count $transport "$opcode == 17 && $(c infiniband.aeth.syndrome) ~ /^(96|0x60)$/")
    [ "$maps" -gt 0 ] && [ "$maps" = "$naks" ] || fail "$transport: $maps maps in $naks NAKs"
    tools/check-captures "$work/$transport/captures/all.pcap" >"$work/verdict" ||
        fail "$transport: $(cat "$work/verdict")"
done

# SENDs, READ responses and parity, lost and sent again: every frame is read, none is malformed.
for kind in "adamap send" "adamap read" "irn send" "sdr read" "sdr write mds"; do
    read -r transport verb code <<<"$kind none"
    name=$transport-$verb
    run "$name" 'links: {"switch0--switch1": {loss-rate: 0.02}}
nic: {transport: '"$transport"', sdr: {code: '"${code%% *}"'}}' '' "$verb"
    read_capture "$name"
    all=$(count "$name" "$roce")
    whole=$(count "$name" "$clean")
    [ "$all" -gt 100 ] && [ "$all" = "$whole" ] || fail "$name: $whole of $all frames are read"
done

# Payload of programs is data: nobody takes HERD's answers or Mooncake's messages for other protocols.
for program in "herd: {clients: 6, workers: 2, keys: 500, warm-up: 0s, measure: 20us}" \
    "mooncake-bench: {total: 4MiB, threads: 1}"; do
    cat >"$work/program.yaml" <<END
topology: {star: {hosts: 4, rate: 100Gbps, delay: 300ns}}
traffic: [{$program}]
captures: [{ports: "host*->*", file: all.pcap}]
END
    rocesim run "$work/program.yaml" -o "$work/program" --quiet >/dev/null || fail "run $program"
    read_capture program
    all=$(count program "$roce")
    whole=$(count program "$clean")
    [ "$all" -gt 100 ] && [ "$all" = "$whole" ] || fail "$program: $whole of $all frames are read"
done

# A bit of the payload of the first frame: only the ICRC can tell.
cp -r "$work/v4" "$work/broken"
printf '\x01' | dd of="$work/broken/captures/all.pcap" bs=1 seek=$((24 + 16 + 200)) conv=notrunc 2>/dev/null
read_capture broken
[ "$(count broken "$roce && !($good)")" = 1 ] || fail "a wrong ICRC was not found"

awk -F'","' 'NF > 2 { gsub(/\\x22/, "\"", $3); print $3 }' \
    pcap-out/wireshark/profile/dfilter_buttons >"$work/filters"
grep -v '^#' pcap-out/wireshark/profile/colorfilters | cut -d@ -f3 >>"$work/filters"
# taken FILTER: Wireshark takes it.
taken() {
    tshark -C rocesim -r "$work/v4/captures/all.pcap" -c 1 -Y "$1" >/dev/null 2>"$work/err"
}
# All at once; only where that fails, one by one, to name the one.
taken "$(sed 's/.*/(&)/' "$work/filters" | paste -sd'|' | sed 's/|(/ || (/g')" ||
    while read -r filter; do
        taken "$filter" || fail "a filter that Wireshark refuses: $filter: $(tail -n 2 "$work/err")"
    done <"$work/filters"
[ "$(wc -l <"$work/filters")" -gt 15 ] || fail "no filters"
[ ! -s "$work/complaints" ] || fail "tshark complains: $(head -n 2 "$work/complaints")"
[ $failures -eq 0 ]
