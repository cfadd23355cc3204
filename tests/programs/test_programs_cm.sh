#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_cm.sh - programs that find each other by librdmacm (docs/models/programs.md).
#
# Goal: connections.c, a server and clients as tutorials write them, see the events, reasons and parameters of
# rdma_cm, also if messages are lost, a peer is killed or nobody answers; tshark reads in captures what the
# programs said. rdmacm-utils and perftest -R work. Method: hosts at a switch; equal runs are equal.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/librdmacm.so.1
program=$work/connections
[ -e "$library" ] &&
    ${CC:-cc} -O1 -g tests/programs/connections.c -o "$program" -lrdmacm -libverbs 2>/dev/null || {
    echo "skipped: librdmacm-dev, a compiler or the library of programs is not there"
    exit 77
}

# scenario COMMAND...: the first on host0, each other 1 ms later on a host of its own.
scenario() {
    local number=0 command
    printf 'topology:\n  star: {hosts: %s}\ntraffic:\n  - programs:\n' $#
    for command in "$@"; do
        printf '      - {host: host%s, command: "%s", start: %sms}\n' $number "$command" $number
        number=$((number + 1))
    done
    printf 'captures:\n  - {ports: "host0->*", direction: both, file: host0.pcap}\n'
}

# run NAME STATUS [ARGUMENT...]: runs $work/NAME.yaml into $work/NAME.
run() {
    local name=$1 wanted=$2 status=0
    shift 2
    within 60 "$ROCESIM" run "$work/$name.yaml" --programs -o "$work/$name" "$@" \
        >"$work/$name.log" 2>&1 || status=$?
    [ "$status" = "$wanted" ] || {
        cat "$work/$name.log" "$work/$name"/programs/* || true
        fail "$name: status $status, expected $wanted"
    }
}

# prints NAME HOST TEXT: the host's program printed a line that begins so.
prints() {
    grep -q -- "^$3" "$work/$1/programs/$2-0.out" || {
        cat "$work/$1/programs/$2-0.out"
        fail "$1: $2 did not print \"$3\""
    }
}

digest() { sed -n 's/^ *digest *//p' "$work/$1.log"; }

# Requests of all kinds to one server.
scenario "$program serve 7" "$program echo host0 first" "$program echo host0 second" \
    "$program refused host0" "$program nobody host0" "$program ask host0 who" "$program look host0" \
    "$program ask host0 'refuse me'" "$program refused host0" "$program ask host0 who 7999" \
    "$program echo host0 third" >"$work/all.yaml"
run all 0
prints all host0 'request "first" of 56 bytes, resources 1, depth 4'
prints all host0 'served 3 connections'
prints all host1 'echo "first"'
prints all host2 'echo "second"'
prints all host3 'refused, reason 28 "not today"'
prints all host4 'refused, reason 8'
prints all host5 'RDMA_CM_EVENT_ESTABLISHED, status 0, "here"'
prints all host7 'RDMA_CM_EVENT_UNREACHABLE, status 2'
prints all host9 'RDMA_CM_EVENT_UNREACHABLE, status 1'
cp "$work/all.yaml" "$work/again.yaml"
run again 0 --threads 2
[ "$(digest again)" = "$(digest all)" ] || fail "equal runs have different digests"
cmp "$work/again/captures/host0.pcap" "$work/all/captures/host0.pcap" ||
    fail "equal runs have different captures"
cp "$work/all.yaml" "$work/detailed.yaml"
run detailed 0 --set nic.model=detailed
prints detailed host10 'echo "third"'

# Synchronous calls; a server that is killed; a host that does not answer; a network that loses frames.
scenario "$program listen 2" "$program read host0" "$program read host0" >"$work/synchronous.yaml"
run synchronous 0
prints synchronous host0 'read "written by the client"'
prints synchronous host2 'was read'
scenario "$program die" "$program lost host0" >"$work/killed.yaml"
run killed 1
prints killed host1 'left: transport retry counter exceeded'
{
    scenario true "$program away host0"
    printf 'faults:\n  - {part: host0, kind: down, at: 500us}\n'
} >"$work/away.yaml"
run away 0
# The kernel of a host without programs refuses at once.
scenario true "$program nobody host2" | sed 's/hosts: 2/hosts: 3/' >"$work/idle.yaml"
run idle 0
prints idle host1 'refused, reason 8'
# 16 requests: each waits for twice a packet's life, 4.096 us x 2^16, and an answer, 4.096 us x 2^20.
prints away host1 'unreachable, status -110, after 77.309 s'
{
    scenario "$program serve 4" "$program echo host0 a" "$program echo host0 b" "$program echo host0 c" \
        "$program echo host0 d"
    printf 'faults:\n  - {part: host0, kind: bit-errors, loss-rate: 0.3}\n'
} >"$work/lossy.yaml"
run lossy 0
prints lossy host0 'served 4 connections'
grep -q 'link-loss' "$work/lossy.log" || fail "lossy: no frame was lost"

# Random calls on three hosts, in a network that loses frames.
${CC:-cc} -O1 tests/programs/random_connections.c -o "$work/random" -lrdmacm -libverbs
{
    scenario "$work/random 3 1500" "$work/random 4 1500" "$work/random 5 1500" | sed 's/, start.*}/}/'
    printf 'faults:\n  - {part: host0, kind: bit-errors, loss-rate: 0.2}\n'
} >"$work/random1.yaml"
cp "$work/random1.yaml" "$work/random2.yaml"
run random1 0
run random2 0 --threads 2
[ "$(digest random1)" = "$(digest random2)" ] || fail "random calls: equal runs have different digests"
prints random1 host0 'RDMA_CM_EVENT_ESTABLISHED [1-9]'

# Mooncake's files come over the same QPs 1, and its first messages before the programs begin.
{
    sed '/^parameters:/,/^$/d' scenarios/mooncake/bench.yaml
    printf '  - programs:\n      - {host: host0, command: "%s serve 1"}\n' "$program"
    printf '      - {host: host1, command: "%s echo host0 beside", start: 1us}\n' "$program"
} >"$work/beside.yaml"
bench='traffic[0].mooncake-bench'
run beside 0 --set "$bench.file=64MiB" --set "$bench.total=401408" --set "$bench.verify=off" \
    --set "$bench.threads=1" --set "$bench.batch=4" --set "$bench.block=16KiB"
prints beside host1 'echo "beside"'

# What the network saw.
if command -v tshark >/dev/null; then
    cm=infiniband.cm.req
    fields="_ws.malformed ip.src infiniband.bth.opcode infiniband.bth.psn infiniband.bth.destqp
        infiniband.bth.p_key infiniband.deth.q_key infiniband.deth.srcqp infiniband.mad.mgmtclass
        infiniband.mad.attributeid infiniband.mad.transactionid $cm.serviceid.protocol $cm.serviceid.dport
        $cm.responderres $cm.initdepth $cm.retrcount $cm.rnrretrcount $cm.prim_tfcclass $cm.pppmtu
        $cm.maxcmretr $cm.ip_cm.sip4 $cm.ip_cm.dip4 $cm.ip_cm.private $cm.startpsn $cm.remoteqpneecn
        infiniband.cm.rep.private infiniband.cm.rep.startpsn infiniband.cm.rep.localqpn
        infiniband.cm.rej.reason infiniband.cm.rej.private"
    # read_capture NAME: makes a table of all fields, a frame a line.
    read_capture() {
        # shellcheck disable=SC2046 # words
        tshark -r "$work/$1/captures/host0.pcap" -T fields -E header=y $(printf -- '-e %s ' $fields) \
            2>/dev/null >"$work/$1.table"
    }
    # shows NAME CONDITIONS FIELD...: fields of the frames with FIELD=VALUE,...; FIELD= stands for any value.
    shows() {
        local table=$work/$1.table conditions=$2
        shift 2
        awk -F '\t' -v conditions="$conditions" -v wanted="$*" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; count = split(conditions, each, ","); next }
            { for (i = 1; i <= count; i++) { split(each[i], pair, "="); is = $at[pair[1]]
                if (pair[2] == "" ? is == "" : is != pair[2]) next }
              line = ""; fields = split(wanted, name, " ")
              for (i = 1; i <= fields; i++) line = line (i > 1 ? " " : "") $at[name[i]]
              print line }' "$table"
    }
    # same WHAT IS EXPECTED
    same() { [ "$2" = "$3" ] || fail "$1: '$2', expected '$3'"; }
    decimal() { while read -r value; do echo $((value)); done; }

    scenario "$program serve 1" "$program echo host0 hello" >"$work/one.yaml"
    run one 0
    for name in one all lossy; do
        read_capture $name
        same "malformed frames of $name" "$(shows $name _ws.malformed= ip.src)" ""
    done
    mad=infiniband.mad
    same "messages" "$(shows one $mad.attributeid= $mad.attributeid | tr '\n' ' ')" \
        "0x0010 0x0013 0x0014 0x0015 0x0016 "
    same "keys" "$(shows one $mad.attributeid= infiniband.deth.q_key infiniband.deth.srcqp \
        infiniband.bth.destqp infiniband.bth.p_key $mad.mgmtclass | sort -u)" \
        "0x0000000080010000 0x00000001 0x000001 65535 0x07"
    same "request" "$(shows one $mad.attributeid=0x0010 $cm.serviceid.protocol $cm.serviceid.dport \
        $cm.responderres $cm.initdepth $cm.retrcount $cm.rnrretrcount $cm.prim_tfcclass $cm.pppmtu \
        $cm.maxcmretr $cm.ip_cm.sip4 $cm.ip_cm.dip4)" \
        "0x06 0x1b58 0x04 0x01 0x06 0x07 0x68 0x05 0x0f 10.0.0.2 10.0.0.1"
    same "private data" "$(shows one $mad.attributeid=0x0010 $cm.ip_cm.private | cut -c 1-12)" 68656c6c6f00
    same "private data of the reply" \
        "$(shows one $mad.attributeid=0x0013 infiniband.cm.rep.private | cut -c 1-16)" 77656c636f6d6500
    same "private data of a refusal" "$(shows all $mad.attributeid=0x0012 infiniband.cm.rej.reason \
        infiniband.cm.rej.private | cut -c 1-27 | sort -u | tail -n 1)" "0x001c 6e6f7420746f64617900"
    # REQ, REP and RTU are one transaction, DREQ and DREP another one.
    same "transactions" "$(shows one $mad.attributeid= $mad.transactionid | uniq -c |
        awk '{ print $1 }' | tr '\n' ' ')" "3 2 "
    # The first packets of both sides have the PSNs of REQ and REP, and go to the queue pairs in them.
    server_qp=$(shows one $mad.attributeid=0x0013 infiniband.cm.rep.localqpn)
    same "PSN of the client" "$(shows one infiniband.bth.opcode=4,ip.src=10.0.0.2 infiniband.bth.psn)" \
        "$(shows one $mad.attributeid=0x0010 $cm.startpsn | decimal)"
    same "PSN of the server" "$(shows one infiniband.bth.opcode=4,ip.src=10.0.0.1 infiniband.bth.psn)" \
        "$(shows one $mad.attributeid=0x0013 infiniband.cm.rep.startpsn | decimal)"
    same "queue pair of the server" \
        "$(shows one infiniband.bth.opcode=4,ip.src=10.0.0.2 infiniband.bth.destqp)" "$server_qp"
    same "queue pair of the DREQ" "$(shows one $mad.attributeid=0x0015 $cm.remoteqpneecn)" "$server_qp"
    [ "$(shows lossy $mad.attributeid=0x0010 ip.src | wc -l)" -gt 4 ] ||
        fail "lossy: no request was sent again"
fi

# The last message of a client that leaves at once arrives.
scenario "$program serve 1" "$program hurry host0 'good bye'" >"$work/hurry.yaml"
run hurry 0
prints hurry host0 'heard "good bye"'

# Programs of other people.
# pair NAME SERVER CLIENT [TEXT]: both end well, and the client prints the text.
pair() {
    scenario "$2" "$3" >"$work/$1.yaml"
    run "$1" 0
    [ $# -lt 4 ] || prints "$1" host1 "$4"
}
if command -v rdma_server >/dev/null; then
    pair rdma_server rdma_server "rdma_client -s host0" 'rdma_client: end 0'
    pair ucmatose "ucmatose -c 3 -C 5 -S 3000" "ucmatose -s host0 -c 3 -C 5 -S 3000" 'return status 0'
    pair migrate "ucmatose -m" "ucmatose -m -s host0" 'return status 0'
    pair udaddy "udaddy -c 2" "udaddy -s host0 -c 2" 'return status 0'
    pair inline rdma_server "rdma_xclient -s host0 -p 7471" 'rdma_xclient: end 0'
    pair threads "rping -s -C 3" "rping -c -v -a host0 -C 3" 'ping data: rdma-ping-2'
    scenario rdma_server "rdma_client -s host0" >"$work/ipv6.yaml"
    run ipv6 0 --set network.ipv6=true
    scenario "rdma_xclient -s host1 -c x" true >"$work/xrc.yaml"
    run xrc 1
    grep -q 'Operation not supported' "$work/xrc/programs/host0-0.err" || fail "XRC is not refused"
    # Datagrams to a group: two members on each of two hosts get all, and a member that only sends gets none.
    scenario "mckey -m 239.1.1.1 -b host0 -c 2" "mckey -m 239.1.1.1 -b host1 -c 2" \
        "mckey -s -m 239.1.1.1 -b host2 -o" >"$work/group.yaml"
    run group 0
    cp "$work/group.yaml" "$work/group_again.yaml"
    run group_again 0 --threads 2
    [ "$(digest group)" = "$(digest group_again)" ] || fail "group: equal runs have different digests"
    for host in host0 host1 host2; do
        prints group $host 'return status 0'
    done
    grep -q 'flows *40 of 40 completed' "$work/group.log" || fail "group: not 10 datagrams for 4 members"
    cp "$work/group.yaml" "$work/group_detailed.yaml"
    run group_detailed 0 --set nic.model=detailed
fi
# rsockets of the machine's library, at the link's rate; TCP without waiting, more than a socket holds.
if command -v rstream >/dev/null && [ -e /usr/lib/x86_64-linux-gnu/librdmacm.so.1 ]; then
    test_of="-S 1000000 -I 2 -C 5"
    for type in n a b; do
        pair rstream_$type "rstream -T $type $test_of" "rstream -T $type -s host0 $test_of"
        awk '/custom/ { rate = $7 } END { exit !(rate > 85 && rate < 98) }' \
            "$work/rstream_$type/programs/host1-0.out" || fail "rstream -T $type: another rate"
    done
    pair riostream "riostream $test_of" "riostream -s host0 $test_of"
    pair rsocket_tcp "rstream -T s $test_of" "rstream -T s -s host0 $test_of" custom
    # Datagrams of rsockets, whose library needs LIDs. The server never ends.
    udpong="udpong -S 1000 -C 10"
    scenario "$udpong -b host0" "$udpong -s host0" | sed '/-b host0/s/}/, kill: 1s}/' >"$work/udpong.yaml"
    run udpong 0 --set programs.infiniband=on
    grep -q '^custom *1000 *10 ' "$work/udpong/programs/host1-0.out" || fail "udpong: no result"
    cp "$work/udpong.yaml" "$work/udpong_roce.yaml"
    run udpong_roce 1
    grep -q "names a peer by its LID" "$work/udpong_roce/programs/host1-0.err" ||
        fail "udpong on RoCE is not told why"
    scenario rcopy "rcopy $program host0:$work/copy" | sed '/"rcopy"/s/}/, kill: 1s}/' >"$work/rcopy.yaml"
    run rcopy 0
    cmp "$program" "$work/copy" || fail "rcopy copies something else"
fi
if command -v ib_write_bw >/dev/null; then
    pair write_bw "ib_write_bw -R -F -n 50" "ib_write_bw -R -F -n 50 host0"
    pair send_lat "ib_send_lat -R -F -n 100" "ib_send_lat -R -F -n 100 host0"
    pair to_group "ib_send_lat -F -g -n 100 -c UD" "ib_send_lat -F -g -n 100 -c UD host0"
    pair datagrams "ib_send_lat -R -F -n 100 -c UD" "ib_send_lat -R -F -n 100 -c UD host0"
fi
exit $((failures > 0))
