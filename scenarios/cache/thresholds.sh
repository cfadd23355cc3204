#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# thresholds - what do the thresholds, idle times, window, aging and alpha of the hybrid policy change?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
base="tokens=8192 l1_entries=1024 l2_bytes=64KiB policy=hybrid"
try() { # NAME VALUE...: relative to the default
    local name=$1 at=0 value
    shift
    for value in "$@"; do
        at=$((at + 1))
        # shellcheck disable=SC2086
        row "$name" "$at" $busy $length $base "cache.$name=$value"
    done
}
# 1 is a quarter of the default or less, 3 the default, 5 four times or more.
try promote.l1 32 64 128 256 512
try promote.l2 4 8 16 32 64
if [ "$quick" = 0 ]; then
    try demote.l1-idle 100us 300us 1ms 3ms 10ms
    try demote.l2-idle 1ms 3ms 10ms 30ms 100ms
    try window 1ms 3ms 10ms 30ms 100ms
    try aging 100us 300us 1ms 3ms 10ms
    try alpha 0 0.5 1 4 16
    try sample-every 1 2 4 8 16
    try neighbours 0 2 4 16 63
    try l1.staging 0 16 64 256 1024
fi
figure "value, from below (1) over the default (3) to above (5)" mops l1_hit_rate access_ns
