#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pxn - what does an all-to-all gain when messages change rails within the server (PXN)?
#
# 64 GPUs in servers of 8. On a rail-optimised fabric PXN keeps messages off the spines; on
# leaf-spine (a server a leaf) it saves no hop. `rails` has no spines, so it needs PXN.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" topology_pxn,bytes,us,busbw_gbytes_per_s,packet_hops,marked
for topology in $(pick topologies "rail-optimised" "rail-optimised leaf-spine rails"); do
    for pxn in false true; do
        [ "$topology,$pxn" != rails,false ] || continue
        for bytes in $(pick sizes "1MiB" "256KiB 1MiB 4MiB 16MiB 64MiB"); do
            collect ranks="$(pick 16 64)" kind=all-to-all topology="$topology" per_leaf=1 pxn="$pxn" \
                bytes="$bytes"
            put "$topology-$pxn" "$(bytes_of "$bytes")" "$(calc "$(first mean_us)")" \
                "$(calc "$(first busbw_gbytes_per_s)")" "$(value packet_hops)" "$(value ecn_marked)"
        done
    done
done
draw bytes us busbw_gbytes_per_s log
