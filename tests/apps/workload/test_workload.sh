#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/test_workload.sh - schedules that run on hosts.
#
# Goal: messages and computations take the time of the closed form; overheads, tags, wildcards, several
# NICs, ranks of one host and losses work; threads change nothing; a schedule that cannot end says which
# rank waits for what; ranks that do not fit are refused. Method: small schedules on a star, times
# computed here. Not pinned: the order of messages that arrive at one instant.
set -u
. tests/script.sh
start_forks

# Time of a WRITE with immediate on the wire, in ns at 100 Gbps: preamble 8, Ethernet 14, IPv4 20, UDP 8,
# BTH 12, RETH 16, immediate 4, payload, ICRC 4, FCS 4.
frame_ns() { awk -v b="$1" 'BEGIN { printf "%.6f", (90 + b) * 8 / 100 }'; }

finish_of() { sed -n '/"finish_us": {$/,/}/s/^ *"max": \([0-9.e-]*\),*$/\1/p' "$1/summary.json"; }
# run NAME [OPTION...]: runs $work/NAME.goal on $work/star.yaml; the value of finish_us.max is in $finish
cat >"$work/star.yaml" <<'EOF'
topology: {star: {hosts: 4, rate: 100Gbps, delay: 1us}}
nic: {congestion-control: none, mtu: 4096}
traffic:
  - workload: {file: two.goal}
EOF
run() {
    local name=$1
    shift
    rm -rf "$work/out"
    rocesim run "$work/star.yaml" --quiet --set "traffic[0].workload.file=$work/$name.goal" "$@" \
        -o "$work/out" >"$work/said" 2>&1
    status=$?
    finish=$(finish_of "$work/out" 2>/dev/null)
}
# near WANTED_NS WHAT: compares finish_us.max to the ps
near() {
    awk -v a="$finish" -v b="$1" 'BEGIN { exit !(a * 1000 - b < 0.002 && b - a * 1000 < 0.002) }' ||
        fail "$2: $finish us, expected $1 ns; $(head -n 3 "$work/said")"
}

cat >"$work/two.goal" <<'EOF'
num_ranks 2
rank 0 {
c: calc 1000
s: send 1000b to 1 tag 3
s requires c
r: recv 4096b from 1 tag 4
}
rank 1 {
r: recv 1000b from 0 tag 3
c: calc 2000
c requires r
s: send 4096b to 0 tag 4
s requires c
}
EOF
both=$(awk "BEGIN { print 4000 + 2 * $(frame_ns 1000) + 2 * $(frame_ns 4096) }")
run two
near "$(awk "BEGIN { print 3000 + $both }")" "a message there and back"
printf '\xef\xbb\xbf' | cat - "$work/two.goal" >"$work/marked.goal" # a byte order mark
run marked
near "$(awk "BEGIN { print 3000 + $both }")" "a text behind a byte order mark"
grep -q '"messages": 2' "$work/out/summary.json" && grep -q '"depth": 4' "$work/out/summary.json" ||
    fail "counts: $(grep -E 'messages|depth' "$work/out/summary.json")"
[ "$(grep -c ',workload' "$work/out/flows.csv")" = 2 ] || fail "flows.csv: $(cat "$work/out/flows.csv")"
run two --set traffic[0].workload.send-overhead=200ns --set traffic[0].workload.recv-overhead=300ns
near "$(awk "BEGIN { print 4000 + $both }")" "with overheads"
run two --set traffic[0].workload.arrival=acknowledged # an ACK of 74 bytes comes back over two links
near "$(awk "BEGIN { printf \"%.3f\", 3000 + $both + 2 * (2000 + 2 * 74 * 8 / 100) }")" "when senders know"
run two --set traffic[0].workload.calc-scale=0.5
near "$(awk "BEGIN { print 1500 + $both }")" "with half the computations"

# -- a processor does one thing at a time; two do two

printf 'num_ranks 2\nrank 0 {\ncalc 500 cpu 0\ncalc 700 cpu 0\ncalc 900 cpu 1\n}\nrank 1 {\n}\n' \
    >"$work/cpus.goal"
run cpus
near 1200 "three computations on two processors"

# -- receives in another order than the messages, by tag and with wildcards

cat >"$work/tags.goal" <<'EOF'
num_ranks 3
rank 0 {
a: recv 100b from 1 tag 2
b: recv 100b from 1 tag 1
b requires a
c: recv 100b from -1 tag -1
c requires b
}
rank 1 {
s: send 100b to 0 tag 1
t: send 100b to 0 tag 2
t requires s
}
rank 2 {
w: calc 50000
s: send 100b to 0 tag 77
s requires w
}
EOF
run tags
[ "$status" = 0 ] || fail "tags: $(cat "$work/said")"
near "$(awk "BEGIN { print 52000 + 2 * $(frame_ns 100) }")" "a message for a wildcard"
grep -q '"unexpected_peak": 1' "$work/out/summary.json" || fail "one message came before its receive"

# -- two NICs of a host carry two messages at once; ranks of one host need no network

cat >"$work/nics.yaml" <<'EOF'
topology: {graph: {nodes: [switch: s, host: [a, b]], links: [a--s, a--s, b--s, b--s]}}
link: {rate: 100Gbps, delay: 1us}
nic: {congestion-control: none, mtu: 4096}
traffic:
  - workload: {file: nics.goal}
EOF
both_nics() {
    rm -rf "$work/nics"
    rocesim run "$work/nics.yaml" --quiet -o "$work/nics" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
    finish=$(finish_of "$work/nics")
}
for nic in 0 1; do
    printf 'num_ranks 2\nrank 0 {\nsend 1000000b to 1 nic 0\nsend 1000000b to 1 nic %s\n}\n' "$nic"
    printf 'rank 1 {\nrecv 1000000b from 0\nrecv 1000000b from 0 nic 1\n}\n'
done >"$work/both.goal"
head -n 9 "$work/both.goal" >"$work/nics.goal"
both_nics
one_nic=$finish
tail -n 9 "$work/both.goal" >"$work/nics.goal"
both_nics
awk -v one="$one_nic" -v two="$finish" 'BEGIN { exit !(two < 0.55 * one) }' ||
    fail "one NIC takes $one_nic us, two take $finish us"
# With fewer hosts than ranks, each rank has one NIC.
sed 's/file: nics.goal/&, hosts: a/' "$work/nics.yaml" >"$work/fewer.yaml"
rocesim check "$work/fewer.yaml" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
grep -q 'rank 0 a/nic0, 1 a/nic1' "$work/said" || fail "$(grep rank "$work/said")"
printf 'num_ranks 2\nrank 0 {\nsend 450000b to 1\n}\nrank 1 {\nrecv 450000b from 0\n}\n' \
    >"$work/nics.goal"
both_nics
near 2000 "a message within a host at 3600 Gbps, and 1 us"

# -- threads, a detailed NIC, losses

{
    echo "num_ranks 4"
    for r in 0 1 2 3; do
        echo "rank $r {"
        for p in 0 1 2 3; do
            [ "$p" = "$r" ] || printf 'send 30000b to %s tag 1\nrecv 30000b from %s tag 1\n' "$p" "$p"
        done
        echo "}"
    done
} >"$work/all.goal"
run all
digest=$(grep '"digest"' "$work/out/summary.json")
run all --threads 3
[ "$(grep '"digest"' "$work/out/summary.json")" = "$digest" ] || fail "three threads change the digest"
for options in "nic.model=detailed" "nic.transport=irn link.loss-rate=0.01" "link.loss-rate=0.01"; do
    sets=()
    for option in $options; do
        sets+=(--set "$option")
    done
    run all "${sets[@]}"
    [ "$status" = 0 ] && grep -q '"ranks_finished": 4' "$work/out/summary.json" ||
        fail "$options: $(cat "$work/said")"
done

# -- a schedule that cannot end, and ranks that do not fit

printf 'num_ranks 2\nrank 0 {\nr: recv 5b from 1 tag 8\n}\nrank 1 {\nsend 5b to 0 tag 9\n}\n' \
    >"$work/stuck.goal"
run stuck
[ "$status" = 1 ] || fail "a schedule that cannot end: status $status"
grep -q 'may not come to an end: sends without a receive: 1; receives without a send: 1' "$work/said" ||
    fail "warning before the run: $(cat "$work/said")"
for text in 'rank 0, operation 0: the receive of 5 bytes from rank 1 with tag 8 has no send' \
    'rank 1, operation 0: the send of 5 bytes to rank 0 with tag 9 has no receive'; do
    grep -q "$text" "$work/said" || fail "no '$text' before the run: $(cat "$work/said")"
    rocesim check "$work/stuck.goal" 2>&1 | grep -q "$text" || fail "check does not say '$text'"
done
grep -q 'rank 0 did not finish: its operation 0 waits for 5 bytes from rank 1 with the tag 8' "$work/said" ||
    fail "warning after the run: $(cat "$work/said")"
grep -q '"text": "traffic\[0\].workload: rank 0 did not finish' "$work/out/summary.json" ||
    fail "the summary does not say which rank did not finish"

printf 'num_ranks 2\nrank 0 {\nr: recv 5b from 1\ns: send 5b to 1\ns requires r\n}\n%s' \
    $'rank 1 {\nr: recv 5b from 0\ns: send 5b to 0\ns requires r\n}\n' >"$work/circle.goal"
rocesim check "$work/circle.goal" >"$work/said" 2>&1
grep -q 'rank 1, operation 0: the receive of 5 bytes from rank 0 with tag 0 waits for what never comes' \
    "$work/said" || fail "a circle: $(cat "$work/said")"

# -- LogGP's hosts on the network: gaps, overheads of bytes, rendezvous, messages in order

# with NAME OPTION...: runs with options of the workload
with() {
    local sets=()
    for option in "${@:2}"; do
        sets+=(--set "traffic[0].workload.$option")
    done
    run "$1" "${sets[@]}"
}
trip() { awk "BEGIN { printf \"%.6f\", 2000 + 2 * $(frame_ns "$1") }"; } # of a message of one packet
with two byte-overhead=10ps
near "$(awk "BEGIN { print 3000 + $both + 2 * 9.99 + 2 * 40.95 }")" "O for both messages at both ends"
cat >"$work/gap.goal" <<'EOF'
num_ranks 2
rank 0 {
send 100b to 1 tag 1
send 100b to 1 tag 2
}
rank 1 {
recv 100b from 0 tag 1
recv 100b from 0 tag 2
}
EOF
with gap gap=5us semantics=spcl
near "$(awk "BEGIN { print 5000 + $(trip 100) }")" "a gap between two messages"
with gap gap=5us semantics=atlahs
near "$(awk "BEGIN { print 10000 + $(trip 100) }")" "a gap before each message that arrives, too"

# A send above eager-max asks, is answered when its receive is there, and sends: three trips.
cat >"$work/late.goal" <<'EOF'
num_ranks 2
rank 0 {
s: send 1000b to 1
c: calc 100000
c requires s
}
rank 1 {
w: calc 50000
r: recv 1000b from 0
r requires w
}
EOF
with late eager-max=1000
near 100000 "a send that does not wait"
with late eager-max=999 semantics=spcl
near "$(awk "BEGIN { printf \"%.6f\", 150000 + $(trip 0) }")" "a send that finishes with the clear-to-send"
with late eager-max=999 semantics=atlahs
awk -v a="$finish" -v least="$(awk "BEGIN { print 150 + ($(trip 0) + $(trip 1000)) / 1000 }")" \
    'BEGIN { exit !(a > least + 2 && a < least + 2.1) }' ||
    fail "a send that finishes with its data: $finish"
[ "$(grep -c ',workload' "$work/out/flows.csv")" = 1 ] || fail "control messages are flows"
printf 'num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\nrecv 1000b from 0\n}\n' \
    >"$work/asked.goal"
with asked eager-max=0 semantics=spcl
# The answer and the data follow an ACK of 86 bytes, preamble and gap included.
near "$(awk "BEGIN { print 2 * $(trip 0) + $(trip 1000) + 2 * 86 * 8 / 100 }")" "ready, clear, data"

# spcl takes a message on the processor of its send, atlahs on that of its receive.
printf 'num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0 cpu 1\ncalc 100000\n}\n' \
    >"$work/which.goal"
with which semantics=spcl recv-overhead=500ns
near 100500 "a message on the processor of its send"
with which semantics=atlahs recv-overhead=500ns
near 100000 "a message on the processor of its receive"

# Two messages of a NIC in order: the first one has the whole rate.
cat >"$work/order.goal" <<'EOF'
num_ranks 3
rank 0 {
send 1000000b to 1
send 1000000b to 2
}
rank 1 {
recv 1000000b from 0
}
rank 2 {
recv 1000000b from 0
}
EOF
first_end() { awk -F, '$3 == "host1" { print $7 / 1000 }' "$work/out/flows.csv"; }
with order
awk -v a="$(first_end)" -v b="$finish" 'BEGIN { exit !(a > 0.97 * b) }' ||
    fail "in turn: $(first_end) of $finish us"
with order send-order=in-order
awk -v a="$(first_end)" -v b="$finish" 'BEGIN { exit !(a < 0.56 * b && a > 0.5 * b) }' ||
    fail "in order: $(first_end) of $finish us"
for options in "eager-max=0" "send-order=in-order send-window=16KiB gap=1us eager-max=0" \
    "semantics=spcl eager-max=9"; do
    sets=()
    for option in $options; do
        sets+=(--set "traffic[0].workload.$option")
    done
    run all "${sets[@]}"
    grep -q '"ranks_finished": 4' "$work/out/summary.json" || fail "$options: $(cat "$work/said")"
    digest=$(grep '"digest"' "$work/out/summary.json")
    run all "${sets[@]}" --threads 3
    [ "$(grep '"digest"' "$work/out/summary.json")" = "$digest" ] ||
        fail "$options: threads change the digest"
    run all "${sets[@]}" --set link.loss-rate=0.01
    grep -q '"ranks_finished": 4' "$work/out/summary.json" || fail "$options with losses: $(cat "$work/said")"
done

# -- places by a list; check shows them

with two map=list "places=3 1"
near "$(awk "BEGIN { print 3000 + $both }")" "ranks on listed places"
grep -q ',host3,host1,' "$work/out/flows.csv" || fail "listed places: $(sed -n 2p "$work/out/flows.csv")"
for places in "3 3" "3" "3 4" "3 1 0" "x 1"; do
    with two map=list "places=$places"
    [ "$status" = 2 ] && grep -q 'places: ' "$work/said" || fail "places $places: $(cat "$work/said")"
done
rocesim check "$work/star.yaml" --set "traffic[0].workload.map=round-robin" >"$work/said" 2>&1
grep -q 'rank 0 host0, 1 host1' "$work/said" || fail "check shows no places: $(cat "$work/said")"
grep -q 'estimate  2 transfers of .* 3 packets; ' "$work/said" ||
    fail "the estimate: $(grep estimate "$work/said")"
for gpus in 8 17 55 100; do # 2 x 4, 2 x 9, 4 x 16, 7 x 16: pods of the smallest k
    rocesim check scenarios/training/workload.yaml --set topology=fat-tree --set gpus=$gpus \
        >"$work/said" 2>&1
    grep -qE ' (8|18|64|112) hosts' "$work/said" || fail "a fat-tree for $gpus: $(cat "$work/said")"
done

# -- texts of AICB (test_aicb.c has their meaning)

# text LAYER...: the program's answer to a file of these layers
text() {
    printf '%s\n' "$@" >"$work/x.txt"
    rm -rf "$work/out"
    rocesim run "$work/star.yaml" --quiet --set "traffic[0].workload.file=$work/x.txt" \
        -o "$work/out" >"$work/said" 2>&1
    status=$?
}
transformer="HYBRID_TRANSFORMER model_parallel_NPU_group:"
text "$transformer 1 all_gpus: 4" 2 "a -1 1000 NONE 0 2000 NONE 0 3000 NONE 0 0" \
    "b -1 100 NONE 0 200 NONE 0 300 NONE 0 0"
finish=$(finish_of "$work/out")
near 6600 "computations of all phases"
text "$transformer 2 all_gpus: 4" 1 "a -1 0 ALLREDUCE 4096 0 NONE 0 0 SHUFFLE 7 0"
[ "$status" = 0 ] && grep -q "x.txt:3: there is no collective 'SHUFFLE'" "$work/said" ||
    fail "a collective that nobody knows: $(cat "$work/said")"
text "$transformer 2 all_gpus: 4" 1 "a -1 0 ALLREDUCE 4096 0 NONE"
[ "$status" = 2 ] && grep -q "x.txt:4:1: the file ends here: '', expected the bytes" "$work/said" ||
    fail "half a layer: $(cat "$work/said")"
text "$transformer 2 all_gpus: 1000000" 200 "$(yes 'a -1 9 NONE 0 9 NONE 0 9 NONE 0 0' | head -n 200)"
[ "$status" = 2 ] && grep -q "cannot run: the file has 600 operations for each of 1000000 ranks" \
    "$work/said" || fail "a file that is too large: $(cat "$work/said")"
rocesim run scenarios/training/workload.yaml --quiet --set file=two_layers.txt -o "$work/two" \
    >"$work/said" 2>&1 || fail "the file of scenarios/training: $(cat "$work/said")"
grep -q '"ranks_finished": 8' "$work/two/summary.json" || fail "two_layers.txt does not finish"
# Goal: whether equal ranks share their operations changes nothing: messages of a pipeline, collectives.
text "$transformer 1 pp: 2 ga: 1 all_gpus: 4 pp_comm: 40960" 2 \
    "embedding -1 9 NONE 0 9 NONE 0 9 ALLREDUCE 8192 1" "a -1 9 NONE 0 9 NONE 0 9 ALLREDUCE 8192 1"
cp "$work/out/flows.csv" "$work/own.csv"
rocesim run "$work/star.yaml" --quiet --set "traffic[0].workload.file=$work/x.txt" \
    --set "traffic[0].workload.own-operations=0" -o "$work/out" >"$work/said" 2>&1 ||
    fail "shared operations: $(cat "$work/said")"
[ "$(wc -l <"$work/own.csv")" -gt 4 ] && cmp -s "$work/own.csv" "$work/out/flows.csv" ||
    fail "shared operations have other flows"

# -- an ideal network: no packets, LogGP's times from the start of the ranks

ideal() {
    local sets=()
    for option in network-model=ideal semantics=spcl latency=2500ns send-overhead=1500ns \
        recv-overhead=1500ns gap=1us byte-gap=6ns start=3us "${@:2}"; do
        sets+=(--set "traffic[0].workload.$option")
    done
    run "$1" "${sets[@]}"
}
ideal two
near "$((3000 + 2 * 5500 + 999 * 6 + 4095 * 6))" "a message there and back on an ideal network"
grep -q '"packet_hops": 0,' "$work/out/summary.json" || fail "packets on an ideal network"
awk -F, 'NR == 2 { exit !($6 == 4000 && $7 == 4000 + 1500 + 2500 + 999 * 6) }' "$work/out/flows.csv" ||
    fail "the first message on an ideal network: $(sed -n 2p "$work/out/flows.csv")"
run two --set "traffic[0].workload.network-model=ideal" --until 500ns
grep -q '"operations_finished": 0,' "$work/out/summary.json" || fail "an ideal network cut at 500 ns"
run two --set "traffic[0].workload.network-model=ideal" --until 1500ns
grep -q '"operations_finished": 2,' "$work/out/summary.json" || fail "an ideal network cut at 1500 ns"
ideal stuck
[ "$status" = 1 ] && grep -q 'rank 0 did not finish: its operation 0 waits for 5 bytes' "$work/said" ||
    fail "stuck on an ideal network: status $status, $(cat "$work/said")"

# Chakra: rank 0 calls an all-reduce, rank 1 computes only.
printf '\a\n\0050.0.4\047\b\1\022\2ar\030\aR\016\n\tcomm_sizeH\350\aR\r\n\tcomm_typeH\0' >"$work/t.0.et"
printf '\a\n\0050.0.4\a\b\5\022\1x\030\4' >"$work/t.1.et"
rm -rf "$work/out"
rocesim run "$work/star.yaml" --quiet --set "traffic[0].workload.file=$work/t.0.et" -o "$work/out" \
    >"$work/said" 2>&1
status=$?
wanted='its operation 0, all-reduce of 1000 bytes, waits for rank 1, which has not called it'
[ "$status" = 1 ] && grep -q "rank 0 did not finish: $wanted" "$work/said" ||
    fail "a rank that never calls: $(cat "$work/said")"
grep -q 'rank 0, operation 0: all-reduce waits for what never comes' "$work/said" ||
    fail "a rank that never calls, before the run: $(cat "$work/said")"
rocesim check scenarios/training/workload.yaml --set "file=$work/t.0.et" 2>/dev/null |
    grep -q ' gpus: 2$' || fail "ranks(FILE) does not count the traces beside a file"
run two --set "traffic[0].workload.hosts=host0"
[ "$status" = 2 ] && grep -q 'has 2 ranks, but there are 1 NICs of hosts; expected at least 2' "$work/said" ||
    fail "too few hosts: $(cat "$work/said")"
printf 'num_ranks 2\nrank 0 {\nsend 5b to 1 tag\n}\nrank 1 {\n}\n' >"$work/bad.goal"
run bad
[ "$status" = 2 ] && grep -q "bad.goal:3:17: the number is wrong: '', expected a tag" "$work/said" ||
    fail "a bad schedule: $(cat "$work/said")"
printf 'num_ranks 2\nrank 0 {\nsend 5b to 7\n}\nrank 1 {\n}\n' >"$work/absent.goal"
run absent
[ "$status" = 2 ] && grep -q "absent.goal:3:12: there is no such rank: '7'" "$work/said" ||
    fail "a rank that is not there: $(cat "$work/said")"
[ ! -e "$work/out" ] || fail "a refused run wrote its folder"
[ "${failures:-0}" = 0 ]
