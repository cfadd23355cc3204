#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# simai - do collectives and a small GPT take the times that SimAI gives them?
#
# The study writes SimAI's workloads and its topologies, Spectrum-X and DCN+, and runs them with its
# rules: a queue pair a message, its latency of 3 us, its lengths of frames, its order of queue pairs, its
# hash with its UDP ports, its window and its congestion control. Times are in us, of SimAI da7cc783 on
# ns-3, whose total is the time of rank 0; ours_us is rank 0's, too. For all-to-alls both are the end of
# the last message, and for the GPT that of the last rank. Where messages share links, the order of events
# at one instant decides for how long: ours_us is then the mean over the seeds, from low_us to high_us.
# Rows "tutorial" are those of SimAI's tutorial, whose NVLink and latency differ: all-reduces in a
# server, and between 32 servers, on their rails or, "dcn", with a leaf for 8 servers. Its payload is not
# stated. theirs_us is from the bus bandwidth, with 1 us of computation.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" workload,nr,payload,low_us,high_us,ours_us,theirs_us,difference_percent
# spectrum GPUS NVLINK: writes SimAI's Spectrum-X topology: servers of 8, a leaf a rail, 64 spines
spectrum() {
    awk -v gpus="$1" -v nvlink="$2" 'BEGIN {
        servers = gpus / 8; leaf = gpus + servers; spine = leaf + 8
        print spine + 64, 8, servers, 72, 2 * gpus + 512, "H100"
        for (i = gpus; i < spine + 64; i++) printf "%d ", i
        print ""
        for (i = 0; i < gpus; i++) {
            print i, gpus + int(i / 8), nvlink "Gbps 0.000025ms 0"
            print i, leaf + i % 8, "400Gbps 0.0005ms 0"
        }
        for (l = 0; l < 8; l++) for (s = 0; s < 64; s++) print leaf + l, spine + s, "400Gbps 0.0005ms 0" }'
}
# dcn GPUS NVLINK: writes SimAI's DCN+ topology: servers of 8, a leaf for 8 servers, 64 spines
dcn() {
    awk -v gpus="$1" -v nvlink="$2" 'BEGIN {
        servers = gpus / 8; leaves = servers / 8; leaf = gpus + servers; spine = leaf + leaves
        print spine + 64, 8, servers, leaves + 64, 2 * gpus + 64 * leaves, "H100"
        for (i = gpus; i < spine + 64; i++) printf "%d ", i
        print ""
        for (i = 0; i < gpus; i++) {
            print i, gpus + int(i / 8), nvlink "Gbps 0.000025ms 0"
            print i, leaf + int(i / 64), "400Gbps 0.0005ms 0"
        }
        for (i = 0; i < 64 * leaves; i++) print leaf + int(i / 64), spine + i % 64, "400Gbps 0.0005ms 0" }'
}
# header TP GPUS LAYERS: the first lines of a workload
header() {
    echo "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: $1 ep: 1 pp: 1 vpp: 1 ga: 1" \
        "all_gpus: $2 checkpoints: 0 checkpoint_initiates: 0"
    echo "$3"
}
# workload NAME: writes a workload: ar, ag, rs, a2a of a TP group (tp16_16M) or of data parallelism
workload() {
    local kind size tp gpus
    if [ "$1" = gpt ]; then
        header 8 16 7
        printf '%s -1 1 NONE 0 1 NONE 0 1 %s 100\n' grad_gather "ALLGATHER 33554432" \
            grad_param_comm "REDUCESCATTER 67108864"
        echo "embedding -1 1000 ALLREDUCE 20971520 1 NONE 0 1 NONE 0 100"
        printf '%s -1 750000 ALLREDUCE 20971520 750000 ALLREDUCE 20971520 750000 NONE 0 100\n' \
            attention0 mlp0 attention1 mlp1
        return
    fi
    case $1 in
    ar_*) kind=ALLREDUCE ;; ag_*) kind=ALLGATHER ;; rs_*) kind=REDUCESCATTER ;; *) kind=ALLTOALL ;;
    esac
    size=$((${1##*_} * 1048576))
    gpus=$(echo "$1" | cut -d_ -f3)
    case $1 in
    *_tp_*)
        header "$gpus" "$gpus" 1
        echo "layer0 -1 1000 $kind $size 1 NONE 0 1 NONE 0 1"
        ;;
    *_dp_*)
        tp=8
        header $tp "$gpus" 1
        echo "layer0 -1 1000 NONE 0 1 NONE 0 1 $kind $size 1"
        ;;
    esac
}
# finish NAME: prints the time of rank 0, whose messages end last, or of all ranks
finish() {
    case $1 in
    a2a_* | gpt) value "apps[0].finish_us.max" ;;
    *) awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        ($at["src"] ~ /^host0\// || $at["dst"] ~ /^host0\//) && $at["end_ns"] > last { last = $at["end_ns"] }
        END { print last / 1000 }' "$out/run/flows.csv" ;;
    esac
}
nr=0
while read -r name payload theirs tutorial fabric; do
    [ "$quick" = 0 ] || [[ $name =~ ^(a2a_tp_16_1|ag_tp_16_16)$ ]] || continue
    nvlink=${tutorial:-2880}
    nr=$((nr + 1))
    gpus=$(echo "$name" | cut -d_ -f3)
    [ "$name" != gpt ] || gpus=16
    "${fabric:-spectrum}" "$gpus" "$nvlink" >"$out/topology"
    workload "$name" >"$out/workload.txt"
    # SimAI's window: a round trip over four links of 500 ns, with whole ns for a payload, at 400 Gbps
    window=$((50 * (4000 + 4 * (payload / 50))))
    times=()
    for seed in $(pick seeds "1" "$([ -n "$fabric" ] && echo 1 2 3 || echo 1 2 3 4 5 6 7 8 9 10)"); do
        simulate_file workload.yaml file="$(realpath "$out/workload.txt")" topology=file frames=bare \
            topology_file="$(realpath "$out/topology")" payload="$payload" scheduler=scan \
            queue_pairs=per-message protocol=plain arrival=acknowledged aicb_semantics=simai \
            balance=simai source_ports=counted window=$window cc=simai \
            send_latency="$([ -n "$tutorial" ] && echo 2us || echo 3us)" seed="$seed"
        times+=("$(finish "$name")")
        [[ -n $fabric || ($name != *dp* && $name != gpt && -z $tutorial) ]] || break # no link is shared
    done
    read -r low high mean < <(printf '%s\n' "${times[@]}" | awk '
        NR == 1 || $1 < low { low = $1 } $1 > high { high = $1 } { sum += $1 }
        END { printf "%.6g %.6g %.6g\n", low, high, sum / NR }')
    put "$name${fabric:+_$fabric}${tutorial:+_tutorial}" $nr "$payload" "$low" "$high" \
        "$(against "$mean" "$theirs")"
done <<'ROWS'
ar_tp_16_1 9000 114
ar_tp_16_16 9000 165
ar_tp_16_16 4096 151
ar_tp_16_64 9000 394
ag_tp_16_16 9000 83
rs_tp_16_16 9000 87
a2a_tp_16_1 9000 20.233
a2a_tp_16_16 9000 179.267
a2a_tp_16_16 4096 178.704
ar_dp_16_16 9000 351
gpt 9000 11337
ar_tp_32_16 9000 269
a2a_tp_32_16 9000 264
ar_dp_32_16 9000 541
rs_dp_32_16 9000 271
ag_dp_32_16 9000 271
ar_tp_32_64 9000 498
ar_tp_8_16 9000 208.0 1440
ar_tp_8_16 1000 208.0 1440
ar_tp_8_32 1000 383.1 1440
ar_tp_8_64 1000 732.2 1440
ar_tp_8_128 1000 1434.5 1440
ar_tp_8_256 1000 2835.7 1440
ar_tp_8_512 1000 5637.6 1440
ar_dp_256_16 1000 983.2 2880
ar_dp_256_64 1000 3093.1 2880
ar_dp_256_16 1000 1394.2 2880 dcn
ar_dp_256_16 9000 1394.2 2880 dcn
ar_dp_256_32 9000 2524.4 2880 dcn
ar_dp_256_64 9000 5492.5 2880 dcn
ar_dp_256_128 9000 7386.7 2880 dcn
ar_dp_256_256 9000 14366 2880 dcn
ROWS
labels=1 draw workload ours_us theirs_us
