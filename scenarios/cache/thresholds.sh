#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# thresholds - what do the thresholds, idle times, window, aging and alpha of the hybrid policy change?
#
# This is a script, since each curve varies an attribute of its own.
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
zipf="tokens=8192 l1_entries=1024 l2_bytes=64KiB policy=hybrid"
# Idle times, aging and alpha decide which token is evicted: they matter when hot tokens turn cold.
sets="$zipf pattern=bursty load.working-set=800 load.phase=20000 cache.promote.l1=16 cache.promote.l2=4"
try() { # LOAD NAME VALUE...: runs one simulation for each value of cache.NAME
    local load=$1 name=$2 at=0 value
    shift 2
    for value in "$@"; do
        at=$((at + 1))
        # shellcheck disable=SC2086
        row "$name" "$at" $busy $length $load "cache.$name=$value"
    done
}
# On the x axis, 1 is a quarter of the default or less, 3 the default, and 5 four times the default
# or more.
try "$zipf" promote.l1 32 64 128 256 512
try "$zipf" promote.l2 4 8 16 32 64
try "$sets" demote.l1-idle 10us 100us 1ms 3ms 10ms
if [ "$quick" = 0 ]; then
    try "$sets" demote.l2-idle 100us 1ms 10ms 30ms 100ms
    try "$zipf" window 1ms 3ms 10ms 30ms 100ms
    try "$sets" aging 20us 100us 1ms 3ms 10ms
    try "$sets" alpha 0 0.5 1 4 16
    try "$zipf" sample-every 1 2 4 8 16
    try "$zipf" neighbours 0 2 4 16 63
    try "$zipf" l1.staging 0 16 64 256 1024
    try "$zipf" maintenance.tokens 0 16 64 256 1024
fi
draw "value, from below (1) over the default (3) to above (5)" mops l1_hit_rate access_ns
