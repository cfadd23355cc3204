#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deepep - do tokens reach their experts as fast as with DeepEP on H800?
#
# This is a script, since it writes schedules, and fits an overhead to one row.
# DeepEP V1, H800 with a 400 Gbps NIC a GPU, width 7168, 8 experts a token. Normal kernels have 4096
# tokens a GPU, for experts on at most 4 servers; theirs is the bandwidth that DeepEP counts, with
# the tokens that stay on the server. Of the low latency, with 128 tokens, it is the time. NVLink has the
# published rate within a server (dispatch 153, combine 158 GB/s); the kernel's overhead of low latency
# is fitted at EP 16. Routing in the switches is adaptive.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" kernel,ep,unit,ours,theirs,difference_percent
# normal EP BYTES DIRECTION: writes a GOAL file of the normal kernels. BYTES is the size of a token.
# A token goes to each of its servers once, and there to 8 (1 - (7/8)^(8 / servers)) GPUs; what a
# GPU keeps takes its memory as NVLink would. dispatch: rail, then NVLink; combine: the reverse.
normal() {
    awk -v ep="$1" -v bytes="$2" -v direction="$3" -v pieces="$(pick 4 32)" '
    function within(tag, k) {
        print "f" tag "x" k ": send " link "b to " base + (g + k) % 8 " tag " 1000000 + tag
        print "g" tag "x" k ": recv " link "b from " base + (g + 8 - k) % 8 " tag " 1000000 + tag
    }
    BEGIN {
        nodes = ep / 8; servers = nodes < 4 ? nodes : 4
        tokens = 4096 * servers / nodes / pieces # of a piece for a server
        rail = int(tokens * bytes)
        link = int(rail * 8 * (1 - (7 / 8) ^ (8 / servers)) / 7) # for each other GPU of the server
        print "num_ranks " ep
        for (r = 0; r < ep; r++) {
            node = int(r / 8); g = r % 8; base = node * 8
            print "rank " r " {"
            for (p = 0; p < pieces; p++) for (d = 0; d < nodes; d++) {
                far = d * 8 + g; tag = p * nodes + d
                own = p * nodes + node
                if (direction == "dispatch") {
                    # Pieces for server d go out; those of server d come in and are spread.
                    if (d != node) {
                        print "s" tag ": send " rail "b to " far " tag " own
                        print "r" tag ": recv " rail "b from " far " tag " tag
                    }
                    for (k = 1; k < 8; k++) {
                        within(tag, k)
                        if (d != node) print "f" tag "x" k " requires r" tag
                    }
                } else {
                    # GPUs of the server hand in what is for server d; their sum goes there.
                    for (k = 1; k < 8; k++) within(tag, k)
                    if (d != node) {
                        print "s" tag ": send " rail "b to " far " tag " own
                        print "r" tag ": recv " rail "b from " far " tag " tag
                        for (k = 1; k < 8; k++) print "s" tag " requires g" tag "x" k
                    }
                }
            }
            print "}"
        } }' >"$out/normal.goal"
}
# deep NAME=VALUE...: runs deepep.yaml
deep() {
    simulate_file deepep.yaml network.load-balancer=adaptive "$@"
}
while read -r direction ep bytes nvlink theirs; do
    [ "$quick" = 0 ] || [ "$ep" = 16 ] || continue
    normal "$ep" "$bytes" "$direction"
    deep ep="$ep" kernel=normal file="$(realpath "$out/normal.goal")" nvlink="$nvlink"
    servers=$((ep / 8 < 4 ? ep / 8 : 4))
    ours=$(calc "4096 * $servers * $bytes / $(value "apps[0].finish_us.max") / 1000")
    put "normal-$direction" "$ep" gbytes_per_s "$(against "$ours" "$theirs")"
done <<'ROWS'
dispatch 16 7392 1224Gbps 43
dispatch 32 7392 1224Gbps 58
dispatch 64 7392 1224Gbps 51
combine 16 14336 1264Gbps 43
combine 32 14336 1264Gbps 57
combine 64 14336 1264Gbps 50
ROWS
while read -r direction ep bytes nvlink theirs; do
    [ "$quick" = 0 ] || [ "$ep" -le 16 ] || continue
    deep ep="$ep" bytes=$((8 * 128 * bytes)) nvlink="$nvlink"
    time=$(value "apps[0].collectives[0].mean_us")
    [ "$ep" != 16 ] || overhead=$(calc "$theirs - $time")
    put "low-latency-$direction" "$ep" us "$(against "$(calc "$time + $overhead")" "$theirs")"
done <<'ROWS'
dispatch 16 7392 1224Gbps 118
dispatch 8 7392 1224Gbps 77
dispatch 32 7392 1224Gbps 155
dispatch 64 7392 1224Gbps 173
dispatch 128 7392 1224Gbps 192
combine 16 14336 1264Gbps 195
combine 8 14336 1264Gbps 114
combine 32 14336 1264Gbps 273
combine 64 14336 1264Gbps 314
combine 128 14336 1264Gbps 369
ROWS
draw ep ours theirs
