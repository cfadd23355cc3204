#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# simai - do collectives and a small GPT take the times that SimAI gives them?
#
# This is a script, since it writes SimAI's files.
# The study writes SimAI's workloads and its topologies, Spectrum-X and DCN+, and runs them with its
# rules: a queue pair a message, its lengths of frames and whole ns, its order of queue pairs, its hash
# with its UDP ports, its window and its congestion control. A message leaves AS_SEND_LAT and 10 ns after
# what it waits for; in reduce-scatters and rings of data parallelism, 40 ns. Times are in us, of SimAI
# da7cc783 on ns-3, whose total is the time of rank 0; ours_us is rank 0's, too. For all-to-alls both are
# the end of the last message, and for the GPT that of the last rank. Where messages share links, the
# order of events at one instant decides for how long: ours_us is then the mean over the seeds, from
# low_us to high_us. Rows "tutorial" are those of SimAI's tutorial, whose NVLink and latency differ:
# all-reduces in a server, and between 32 servers, on their rails or, "dcn", with a leaf for 8 servers.
# theirs_us is from the bus bandwidth, whose GB are 2^30 bytes, with 1 us of computation. Rows come in the
# order of their costs; `--set rows="gpt ar_dp_256_64_dcn_tutorial"` runs some.
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
# send_latency NAME: prints the time from what a message waits for to its first packet, in ns
send_latency() {
    case $1 in
    rs_* | *_dp_*) echo $(((tutorial ? 2000 : 3000) + 40)) ;;
    *) echo $(((tutorial ? 2000 : 3000) + 10)) ;;
    esac
}
# most_seeds NAME: prints the number of seeds of a row in which a hash decides, fewer of long runs
most_seeds() {
    case $fabric${1##*_} in
    dcn64 | dcn128) echo 5 ;;
    dcn256 | dcn512) echo 3 ;;
    *) echo 10 ;;
    esac
}
rows=" $(pick rows "a2a_tp_16_1 ag_tp_16_16 ar_tp_8_16_tutorial" all) "
nr=0
while read -r name payload theirs tutorial fabric; do
    row=$name${fabric:+_$fabric}${tutorial:+_tutorial}
    [[ $rows =~ " all "|" $row " ]] || continue
    nvlink=${tutorial:-2880}
    nr=$((nr + 1))
    gpus=$(echo "$name" | cut -d_ -f3)
    [ "$name" != gpt ] || gpus=16
    "${fabric:-spectrum}" "$gpus" "$nvlink" >"$out/topology"
    workload "$name" >"$out/workload.txt"
    # SimAI's window: a round trip over four links of 500 ns, with whole ns for a payload, at 400 Gbps
    window=$((50 * (4000 + 4 * (payload / 50))))
    times=()
    for seed in $(pick seeds "1" "$(seq "$(most_seeds "$name")")"); do
        simulate_file workload.yaml file="$(realpath "$out/workload.txt")" topology=file frames=simai \
            topology_file="$(realpath "$out/topology")" payload="$payload" scheduler=scan \
            queue_pairs=per-message protocol=plain arrival=acknowledged aicb_semantics=simai \
            balance=simai source_ports=counted window=$window cc=simai \
            send_latency="$(send_latency "$name")ns" seed="$seed"
        times+=("$(finish "$name")")
        [[ -n $fabric || $name =~ ^a[rg]_tp_(16|32)|^rs_tp ]] || break # no hash decides
    done
    read -r low high mean < <(printf '%s\n' "${times[@]}" | awk '
        NR == 1 || $1 < low { low = $1 } $1 > high { high = $1 } { sum += $1 }
        END { printf "%.6g %.6g %.6g\n", low, high, sum / NR }')
    put "$row" $nr "$payload" "$low" "$high" "$(against "$mean" "$theirs")"
done <<'ROWS'
a2a_tp_16_1 9000 20.233
ar_dp_16_16 9000 350.68
rs_dp_32_16 9000 271
ag_dp_32_16 9000 271
ar_dp_32_16 9000 541
a2a_tp_16_16 9000 179.267
a2a_tp_16_16 4096 178.704
a2a_tp_32_16 9000 264
ar_tp_8_16 9000 193.8 1440
ar_tp_8_32 9000 356.8 1440
ar_tp_8_64 9000 682.0 1440
ar_tp_8_128 9000 1335.7 1440
ar_tp_8_256 9000 2641.3 1440
ar_tp_8_512 9000 5250.0 1440
gpt 9000 11336.6
ag_tp_16_16 9000 83
rs_tp_16_16 9000 87
ar_tp_16_1 9000 114
ar_tp_16_16 9000 165
ar_tp_16_16 4096 151
ar_tp_16_64 9000 394
ar_tp_32_16 9000 269
ar_tp_32_64 9000 498
ar_dp_256_16 9000 915.6 2880
ar_dp_256_32 9000 1569.6 2880
ar_dp_256_16 9000 1300.3 2880 dcn
ar_dp_256_64 9000 2884.2 2880
ar_dp_256_32 9000 2347.8 2880 dcn
ar_dp_256_128 9000 5505.3 2880
ar_dp_256_64 9000 5110.4 2880 dcn
ar_dp_256_256 9000 10741 2880
ar_dp_256_128 9000 6881.3 2880 dcn
ar_dp_256_512 9000 21199 2880
ar_dp_256_256 9000 13381 2880 dcn
ar_dp_256_512 9000 26762 2880 dcn
ROWS
labels=1 draw workload ours_us theirs_us
