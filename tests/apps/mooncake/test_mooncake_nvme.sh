#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# test_mooncake_nvme.sh - files of storage nodes are used by NVMe over RDMA, as Wireshark sees it.
#
# Goal: a queue is connected by the communication manager and joined by a Connect command; each request is a
# READ or WRITE command of its size, at its block, with the address and key that the data packets then use;
# each command has one answer, without an error; a queue that fails is left and connected again, and no
# request is lost; storage nodes that die fail the requests, and the run ends.
# Method: captures of one host's link, read by tshark's dissectors of NVMe.
# Not pinned: times (test_mooncake_rates.sh), and how requests spread over queues.
set -u
. tests/script.sh
start_forks
bench='traffic[0].mooncake-bench'
if ! command -v tshark >/dev/null; then
    echo "skip: tshark is not installed"
    exit 77
fi
sed '/^traffic:/i captures: [{ports: "host0->*", file: all.pcap}]\n' \
    scenarios/mooncake/bench.yaml >"$work/bench.yaml"
expect() { # WHAT GOT EXPECTED
    [ "$2" = "$3" ] || fail "$1: $2, expected $3"
}
# A line for each frame; columns: 1 malformed, 2 attribute, 3 opcode, 4 to 6 address, key and length of data,
# 7 command, 8 namespace, 9 and 10 its address and key, 11 block, 12 status of an answer, 13 its code,
# 14 Connect
frames() {
    tshark -n -r "$work/out/captures/all.pcap" -T fields -E separator='|' -e _ws.malformed \
        -e infiniband.mad.attributeid -e infiniband.bth.opcode -e infiniband.reth.va \
        -e infiniband.reth.r_key -e infiniband.reth.dmalen -e nvme.cmd.opc -e nvme.cmd.nsid \
        -e nvme.cmd.sgl1.addr -e nvme.cmd.sgl1.key -e nvme.cmd.slba \
        -e nvme.cqe.status -e nvme.cqe.status.sc -e nvme.fabrics.cmd.connect.recfmt \
        2>/dev/null
}
having() { # CONDITION [EXPRESSION]: of lines of frames, printed values of the expression
    awk -F'|' "$1 { print ${2:-1} }" "$work/frames"
}

# 24 requests of 16 KiB and 2 that share the rest of the total, 8 KiB and a bit.
for operation in read write; do
    rocesim run "$work/bench.yaml" -o "$work/out" --set "$bench.total=401408" --set "$bench.file=64MiB" \
        --set nics=1 --set threads=1 --set batch=4 --set block_bytes=16KiB --set operation=$operation \
        --set "$bench.verify=off" --quiet >"$work/log" 2>&1 || fail "$operation: $(cat "$work/log")"
    frames >"$work/frames"
    opcode=$([ $operation = read ] && echo 0x02 || echo 0x01)
    expect "$operation: malformed frames" "$(having '$1 != ""' | wc -l)" 0
    expect "$operation: messages of the communication manager" \
        "$(having '$2 != ""' '$2' | sort | uniq -c | tr -s ' \n' ' ')" " 1 0x0010 1 0x0013 1 0x0014 "
    expect "$operation: Connect commands" "$(having '$14 != ""' | wc -l)" 1
    expect "$operation: names" \
        "$(grep -ao 'nqn.2014-08.org.nvmexpress:host[01]' "$work/out/captures/all.pcap" | tr '\n' ' ')" \
        "nqn.2014-08.org.nvmexpress:host1 nqn.2014-08.org.nvmexpress:host0 "
    expect "$operation: commands" "$(having "\$7 == \"$opcode\"" | wc -l)" 25
    expect "$operation: namespaces" "$(having "\$7 == \"$opcode\"" '$8' | sort -u)" 0x00000001
    expect "$operation: first blocks" \
        "$(having "\$7 == \"$opcode\"" '$11' | sort -u | head -2 | tr '\n' ' ')" \
        "0x0000000000000000 0x0000000000000020 "
    # Data goes to, or comes from, the addresses of the commands, with their keys.
    kind=$([ $operation = read ] && echo '$3 == 6 || $3 == 10' || echo '$3 == 12')
    having "$kind" '$4, $5' | sort -u >"$work/data"
    having "\$7 == \"$opcode\"" '$9, $10' | sort -u >"$work/wanted"
    [ "$(wc -l <"$work/data")" -ge 8 ] || fail "$operation: $(wc -l <"$work/data") places of data"
    cmp -s "$work/data" "$work/wanted" ||
        fail "$operation: data at $(cat "$work/data"), wanted: $(cat "$work/wanted")"
    expect "$operation: answers, Connect's included" "$(having '$12 != ""' | wc -l)" 26
    expect "$operation: answers with errors" "$(having '$13 != "" && $13 !~ /^0x0*$/' | wc -l)" 0
done

# Misfortunes. Requests that can be served on another queue, or later, are.
value() {
    sed -n 's/^ *"'"$1"'": \([0-9.]*\),*$/\1/p' "$work/apps" | head -n 1
}
go() { # SETTINGS...
    local settings=() setting
    for setting in "$@"; do settings+=(--set "$setting"); done
    within 30 "$ROCESIM" run scenarios/mooncake/bench.yaml -o "$work/out" --quiet --set threads=4 \
        --set batch=16 --set "$bench.engine.ack-timeout=6" --set "$bench.engine.ack-retries=2" \
        --set "$bench.engine.handshake-timeout=2ms" --set "$bench.duration=6ms" --set "$bench.file=64MiB" \
        "${settings[@]}" >"$work/log" 2>&1
    local status=$? ended='everything is done'
    sed -n '/"apps"/,$p' "$work/out/summary.json" >"$work/apps"
    if [ "$(value requests)" = 0 ]; then # all requests failed
        ended='nothing is left to do'
        status=$((1 - status))
    fi
    [ $status -eq 0 ] && grep -q "ended  *$ended" "$work/log" || fail "$*: $(cat "$work/log")"
}
one='{part: host0/nic1, at: 2ms, until: 4ms}'
served() { # OPERATION FAULTS
    go operation="$1" "faults=[$2]"
    expect "$1 $2: failed, wrong" "$(value failed) $(value unverified_bytes)" "0 0"
    [ "$(value retried)" -gt 0 ] || fail "$1 $2: nothing was tried again"
}
served read "$one"
served write "{part: host1/nic2, at: 3ms, until: 5ms}, $one"
served write '{part: host1, at: 3ms, until: 5ms}'
fails() { # SETTINGS...
    go "$@"
    [ "$(value failed)" -gt 0 ] && [ "$(value failed)" -le 64 ] ||
        fail "$*: $(value failed) failed of at most 64 at a time"
}
fails operation=read "faults=[$one]" "$bench.engine.retries=0"
fails operation=read "$bench.crash-at=3ms"
fails operation=write 'faults=[{part: host1, at: 3ms}]'
fails operation=read 'faults=[{part: host1, at: 1100us}]'
# A run that ends under commands leaves nothing behind (seen by leak checkers).
rocesim run scenarios/mooncake/bench.yaml -o "$work/out" --quiet --set "$bench.file=64MiB" \
    --set until=1300us >"$work/log" 2>&1 || fail "a run that is cut: $(cat "$work/log")"
# Offsets and lengths that are no whole blocks.
go operation=write block_bytes=1000 "$bench.file=64000000" total=100000
expect "bytes of odd blocks" "$(value verified_bytes)" 100000
echo "$failures failures"
[ "$failures" -eq 0 ]
