#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nemo - do published tokens/s of NeMo on H100s follow from one calibrated row?
#
# This is a script, since it fits a constant to one row and predicts the others.
# The rows are those of NeMo 24.12's performance page (FP8): seconds of an iteration. mfu is fitted
# on LLaMA2-70B, where iteration = a / mfu + b; the other rows are predicted with it. Schedules:
# interleaved, with sequence parallelism, exact attention, gradients of 4 bytes, overlap of both.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" row,nr,mfu,iteration_s,theirs_s,difference_percent,tokens_per_s_gpu
# row NAME MFU: simulates a row
row() {
    local common=(layers=auto mtu=9000 topology=rail-optimised cc=none overlap=all tflops=1979 "mfu=$2"
        "traffic[0].training.attention=true")
    local shape
    case $1 in
    gpt3-175b) shape="model=gpt-175b gpus=128 tp=4 pp=8 vpp=6 microbatches=64 sequence=2048" ;;
    llama2-70b) shape="model=llama-70b gpus=64 tp=4 pp=4 vpp=20 microbatches=32 sequence=4096" ;;
    llama3-70b)
        shape="model=llama3-70b gpus=64 tp=4 pp=4 cp=2 vpp=5 microbatches=64 sequence=8192"
        ;;
    esac
    # shellcheck disable=SC2086
    simulate $shape "${common[@]}"
}
# tell NAME NR MFU THEIRS TOKENS
tell() {
    local ours
    ours=$(calc "$(value "apps[0].iteration_ms") / 1000")
    put "$1" "$2" "$3" "$(against "$ours" "$4")" "$(calc "$5 / $ours")"
}
[ "$quick" = 0 ] || more+=(--set vpp=1 --set layers=8 --set traffic[0].training.microbatches=8
    --set traffic[0].training.zero=0
    --set traffic[0].training.gradient-bytes=1 --set traffic[0].training.dp=1)
row llama2-70b 0.4
at4=$(value "apps[0].iteration_ms")
tell llama2-70b 1 0.4 - 8192
row llama2-70b 0.5
at5=$(value "apps[0].iteration_ms")
tell llama2-70b 2 0.5 - 8192
mfu=$(awk -v x="$at4" -v y="$at5" 'BEGIN { a = (x - y) / 0.5; b = x - a / 0.4
    printf "%.4f", a / (4740 - b) }')
[ "$quick" = 0 ] || mfu=0.4
for name in $(pick rows "gpt3-175b" "llama3-70b gpt3-175b"); do
    row "$name" "$mfu"
    case $name in
    llama3-70b) tell "$name" 3 "$mfu" 10.75 $((128 * 8192 / 64)) ;;
    gpt3-175b) tell "$name" 4 "$mfu" 5.72 $((256 * 2048 / 128)) ;;
    esac
done
labels=1 draw row iteration_s theirs_s
