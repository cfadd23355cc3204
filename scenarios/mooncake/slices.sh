#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# slices - why do larger slices make a bond of two ports slower, and how many queue pairs help?
#
# This is a script, since published figures stand beside its runs.
# A slice is one work request on one queue pair. The packets of a queue pair take one port of a
# bond, chosen by the hash of its 5-tuple. Blocks of 1 MiB are written one at a time, so that no
# other traffic hides the effect. With seed 4 the two queue pairs take different ports. Users
# reported 37 GB/s at 64 KiB and 23 GB/s at 1 MiB.
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve slice_kib gbytes_per_s published off_percent
for qps in $(pick qps "2" "1 2 4 8"); do
    for kib in $(pick sizes "64 1024" "16 64 256 1024"); do
        published=-
        off=-
        go "bond-$qps-$kib" bond.yaml slice_bytes=${kib}KiB "$bench.engine.qps-per-endpoint=$qps"
        case $qps-$kib in
        2-64) published=37 ;;
        2-1024) published=23 ;;
        esac
        [ $published = - ] || off=$(rounded 1 "100 * ($(gbytes) / $published - 1)")
        row "$qps-QPs" "$kib" "$(gbytes)" $published "$off"
        [ $published = - ] || held "bond $kib KiB" "$(gbytes)" $published 15
    done
done
for qps in $(pick qps "2" "1 2 4 8"); do
    for kib in $(pick sizes "64" "16 64 256 1024"); do
        go "one-$qps-$kib" bench.yaml nics=1 nic_rate=400Gbps slice_bytes=${kib}KiB qps_per_endpoint=$qps \
            block_bytes=1MiB batch=8 $bench.duration=2ms
        row "one-port-$qps-QPs" "$kib" "$(gbytes)" - -
    done
done
figure "slice, KiB" gbytes_per_s log
exit "$status"
