#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# test_mooncake_capture.sh - a transfer of Mooncake's engine as tshark sees it.
#
# Goal: the queue pair numbers of data packets are those the handshakes agreed on, in JSON on the wire;
# WRITEs and READs carry the target's address, key and length; after a NIC goes down the same addresses
# are written over the other one; every ICRC is right.
# Method: captures at the ports of the first host, whose first link goes down in the second run.
# Not pinned: how many packets, and when.
set -u
. tests/script.sh
if ! command -v tshark >/dev/null; then
    echo "skip: tshark is not installed"
    exit 77
fi
shark() { tshark -n -r "$@" 2>/dev/null; }

# run NAME SCENARIO SETTINGS...
run() {
    local name=$1
    sed '/^traffic:/i captures: [{ports: "host0->*", file: out.pcap}, {ports: "*->host0", file: in.pcap}]\n' \
        "scenarios/mooncake/$2" >"$work/$name.yaml"
    cp scenarios/mooncake/rails.txt "$work"
    shift 2
    "$ROCESIM" run "$work/$name.yaml" -o "$work/$name" --set traffic[0].mooncake-bench.threads=1 \
        --set traffic[0].mooncake-bench.batch=8 --quiet "$@" >"$work/log" 2>&1 ||
        fail "$name: $(cat "$work/log")"
}
# agreed NAME: queue pair numbers in handshakes' answers, as tshark writes them
agreed() {
    local file
    for file in out in; do
        tshark -n -r "$work/$1/captures/$file.pcap" -T fields -e data -e infiniband.payload 2>/dev/null |
            tr -d '\t:' | xxd -r -p | grep -ao '"qp_num":\[[0-9,]*\]' | grep -o '[0-9]*' |
            sed 's/^/0x/' | while read -r n; do printf '0x%06x\n' "${n#0x}"; done
    done | sort -u
}

matrix='{"cpu:0": [["mlx5_0"], ["mlx5_1"]]}'
for name in write read; do
    run $name bench.yaml --set traffic[0].mooncake-bench.total=4MiB --set nics=2 --set operation=$name \
        --set "traffic[0].mooncake-bench.matrix='$matrix'"
    opcode=$([ $name = write ] && echo '6 || infiniband.bth.opcode == 10' || echo 12)
    shark "$work/$name/captures/out.pcap" -Y "infiniband.bth.opcode == $opcode" -T fields \
        -e infiniband.bth.destqp -e infiniband.reth.va -e infiniband.reth.r_key -e infiniband.reth.dmalen \
        >"$work/$name.reth"
    [ "$(wc -l <"$work/$name.reth")" -eq 64 ] || fail "$name: $(wc -l <"$work/$name.reth") requests, not 64"
    # 16 different addresses of the target's buffer, each of 64 KiB, one key.
    [ "$(cut -f 4 "$work/$name.reth" | sort -u)" = 65536 ] || fail "$name: lengths"
    [ "$(cut -f 3 "$work/$name.reth" | sort -u | wc -l)" -eq 1 ] || fail "$name: keys"
    [ "$(cut -f 2 "$work/$name.reth" | sort -u | wc -l)" -eq 16 ] || fail "$name: addresses"
    cut -f 2 "$work/$name.reth" | sort -u | head -1 | grep -qix '0x0000010000000000' ||
        fail "$name: first address $(cut -f 2 "$work/$name.reth" | sort -u | head -1)"
    agreed $name >"$work/$name.agreed"
    cut -f 1 "$work/$name.reth" | sort -u >"$work/$name.used"
    [ -z "$(comm -13 "$work/$name.agreed" "$work/$name.used")" ] ||
        fail "$name: queue pairs $(tr '\n' ' ' <"$work/$name.used") of $(tr '\n' ' ' <"$work/$name.agreed")"
done

# The first NIC goes down in the middle; the second list has the other one.
run fail flap.yaml --set traffic[0].mooncake-bench.total=16MiB \
    --set "links.host0--switch3.down=[{at: 1.5ms}]" \
    --set "traffic[0].mooncake-bench.matrix='$matrix'"
shark "$work/fail/captures/out.pcap" -Y 'infiniband.reth' -T fields -e ip.src -e infiniband.reth.va \
    -e infiniband.reth.dmalen >"$work/fail.reth"
writes() {
    awk -v source="$1" '$1 == source && $3 == 65536 { print $2 }' "$work/fail.reth" | sort -u
}
awk '!seen[$1]++ { print $1 }' "$work/fail.reth" >"$work/sources"
[ "$(wc -l <"$work/sources")" -eq 2 ] || fail "sources: $(tr '\n' ' ' <"$work/sources")"
writes "$(head -1 "$work/sources")" >"$work/first"
writes "$(tail -1 "$work/sources")" >"$work/second"
[ -n "$(comm -12 "$work/first" "$work/second")" ] || fail "nothing was written again over the second NIC"
grep -q '"failed": 0' "$work/fail/summary.json" || fail "requests failed"
grep -q '"unverified_bytes": 0' "$work/fail/summary.json" || fail "something arrived wrong"
grep -q '"retried": 0' "$work/fail/summary.json" && fail "no slice was retried"
echo "$failures failures"
[ "$failures" -eq 0 ]
