#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nccl - do all-reduces on two servers of 8 H100 take the times that nccl-tests shows?
#
# This is a script, since published figures stand beside its runs.
# Published tables, default algorithm. B: eight 400G NICs a server; nothing is fitted. A: virtual
# machines of a cloud that is not named. Its times are those of a tree with 32 channels of 512 KiB:
# the rate of a block is fitted at 16 MiB, and a factor on the latencies at 8 bytes. Latencies are
# those of NCCL's tuning, and NVLS has NCCL's rate.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" table,bytes,algorithm,protocol,busbw_gbytes_per_s,nccl_expects,ours_us,theirs_us,difference_percent
while read -r table bytes theirs; do
    [ "$quick" = 0 ] || [[ $table$bytes =~ ^(B268435456|A8)$ ]] || continue
    set -- bytes="$bytes" tuning_latency=true
    [ "$table" = B ] || set -- "$@" nvls=false algorithm=tree protocol=simple channels=32 \
        tuning_scale=1.45 block_rate=100Gbps
    collect "$@"
    put "$table" "$bytes" "$(first algorithm)" "$(first protocol)" \
        "$(calc "$(first busbw_gbytes_per_s)")" "$(expected "$@")" \
        "$(against "$(calc "$(first mean_us)")" "$theirs")"
done <<'ROWS'
B 268435456 1291.8
B 536870912 2375.3
B 1073741824 4490.8
B 2147483648 8747.2
A 8 135.8
A 1024 147.1
A 8192 131.6
A 65536 159.4
A 262144 167.1
A 1048576 203.2
A 4194304 364.6
A 16777216 977.6
A 33554432 1059.9
A 67108864 1261.6
A 268435456 2360.9
A 1073741824 6759.0
A 2147483648 12646
ROWS
draw bytes ours_us theirs_us log
