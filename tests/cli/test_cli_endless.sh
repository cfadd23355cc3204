#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain long
# test_cli_endless.sh - an input that never ends, or is no file, gives a message in bounded memory.
#
# Goal: for every kind of input file of every command, each of these gives status 1 or 2 and one
# message: an endless device, random bytes, a pipe without a writer, a folder, a sparse file of 10 GB.
# Method: each kind of input in the place of a good one, with limits of memory and processor time.
# The short form tries all kinds of files with one device, and all inputs with a few kinds of files.
# Not pinned: the words, beyond the name of the file.
set -u
. tests/script.sh

mkfifo "$work/pipe" || exit 77
mkdir "$work/folder"
truncate -s 10G "$work/sparse" || exit 77
inputs=(/dev/zero /dev/urandom "$work/pipe" "$work/folder" "$work/sparse")
[ -r /proc/kcore ] && inputs+=(/proc/kcore)

star='topology: {star: {hosts: 4}}'
traffic='traffic: [incast: {to: host0, bytes: 10KB}]'
printf '%s\n%s\n' "$star" "$traffic" >"$work/good.yaml"
"$ROCESIM" run "$work/good.yaml" -o "$work/good" --quiet >/dev/null || fail "a run"
cat >"$work/hpcc.txt" <<'END'
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topo.txt
FLOW_FILE flow.txt
TRACE_FILE trace.txt
CC_MODE 1
EWMA_GAIN 0.00390625
MIN_RATE 100Mb/s
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
FAST_RECOVERY_TIMES 1
L2_ACK_INTERVAL 1
L2_CHUNK_SIZE 4000
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
RP_TIMER 300
KMAX_MAP 1 100000000000 400
KMIN_MAP 1 100000000000 100
PMAX_MAP 1 100000000000 0.2
END
printf '4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n' >"$work/topo.txt"
printf '1\n0 2 3 100 1000 2\n' >"$work/flow.txt"
echo 0 >"$work/trace.txt"
(cd "$work" && "$ROCESIM" hpcc hpcc.txt --quiet >/dev/null) || fail "a run of hpcc"

# refused INPUT COMMAND...: the command ends by itself, with a message and no success.
refused() {
    local input=$1 status
    shift
    (
        ulimit -v 4000000
        within 20 "$@" </dev/null >"$work/out" 2>"$work/err"
    )
    status=$?
    [ $status -eq 1 ] || [ $status -eq 2 ] || fail "$input: status $status: $*: $(tail -n 1 "$work/err")"
    [ -s "$work/err" ] || [ "$2" != diff ] || cp "$work/out" "$work/err" # it tells a difference
    [ -s "$work/err" ] && [ "$(head -n 1 "$work/err" | wc -c)" -lt 2000 ] || fail "$input: no message: $*"
    grep -q "out of memory" "$work/err" && fail "$input: out of memory: $*"
}

# scenario NAME TEXT: a scenario in the place of a file that names the input.
scenario() {
    printf '%s\n' "$2" >"$work/$1.yaml"
    refused "$input" "$ROCESIM" run "$work/$1.yaml" -o "$work/out-$1"
}

for input in "${inputs[@]}"; do
    for command in run check sweep calibrate hpcc diff plot; do
        case $command in
        sweep | plot) refused "$input" "$ROCESIM" $command "$input" -o "$work/x.svg" ;;
        diff) refused "$input" "$ROCESIM" diff "$work/good" "$input" ;;
        *) refused "$input" "$ROCESIM" $command "$input" ;;
        esac
    done
    [ "${TEST_LONG:-0}" = 1 ] || [ "$input" = /dev/zero ] || continue
    scenario topology "topology: {file: $input}
$traffic"
    for format in hpcc simai htsim; do
        scenario "topology-$format" "topology: {file: {path: $input, format: $format}}
$traffic"
        scenario "flows-$format" "$star
traffic: [flows: {file: $input, format: $format}]"
    done
    scenario sizes "$star
traffic: [poisson: {load: 0.5, sizes: $input}]"
    scenario wan "topology: {wan: {file: $input}}
$traffic"
    scenario contexts "topology: {star: {hosts: 2}}
nic: {model: detailed}
traffic: [contexts: {pattern: replay, replay-file: $input}]"
    scenario mooncake "$star
traffic: [mooncake-trace: {trace: $input}]"
    scenario constants "$star
constants: $input
$traffic"
    for key in TOPOLOGY_FILE FLOW_FILE TRACE_FILE; do
        sed "s#^$key .*#$key $input#" "$work/hpcc.txt" >"$work/hpcc-bad.txt"
        refused "$input" "$ROCESIM" hpcc "$work/hpcc-bad.txt" --quiet
    done
    refused "$input" "$ROCESIM" hpcc "$work/hpcc.txt" --quiet --routes "$input"
    printf 'scenario: %s\ngrid: {seed: [1]}\n' "$input" >"$work/sweep.yaml"
    refused "$input" "$ROCESIM" sweep "$work/sweep.yaml" -o "$work/swept"
    for file in summary.json scenario.yaml flows.csv ports.csv; do
        rm -rf "$work/bad"
        cp -r "$work/good" "$work/bad"
        ln -sf "$input" "$work/bad/$file"
        [ $file = summary.json ] && refused "$input" "$ROCESIM" compare "$work/good" "$work/bad"
        [ $file = flows.csv ] && refused "$input" "$ROCESIM" plot "$work/bad" --kind slowdown -o "$work/x.svg"
        [ $file = ports.csv ] || refused "$input" "$ROCESIM" diff "$work/good" "$work/bad"
    done
done
exit $((failures > 0))
