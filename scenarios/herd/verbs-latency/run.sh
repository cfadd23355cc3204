#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# verbs-latency - the latency of WRITEs, READs and echoes by their size, one at a time (figure 2, Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
# verb KEY SETTING...: measures the latency of one verb
verb() {
    local key=$1 setting run
    local -a settings=()
    run=${key// /-}
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    simulate "$run" ../verbs.yaml "${settings[@]}" >/dev/null
    measure "$key" "$(latency "$run" mean)"
}
for bytes in 4 16; do verb "WRITE inlined $bytes B" "bytes=$bytes"; done
for bytes in 4 16 64 256 1024; do
    verb "WRITE $bytes B" "bytes=$bytes" regions=1
    verb "READ $bytes B" "bytes=$bytes" verb=read
done
for bytes in 4 16 64 256; do
    herd "ECHO-$bytes" system=echo "value=$bytes" clients=1 workers=1 window=1 machines=2 request=write-uc \
        answer=write-uc pipeline=0
    measure "ECHO $bytes B" "$(latency "ECHO-$bytes" mean)"
done
expect "inlined WRITEs are faster" "$(latency WRITE-inlined-4-B mean)" "<" "$(latency WRITE-4-B mean)"
expect "READs take longer than WRITEs" "$(latency READ-4-B mean)" ">" "$(latency WRITE-4-B mean)"
expect "echoes take longest" "$(latency ECHO-64 mean)" ">" "$(latency READ-64-B mean)"
report
