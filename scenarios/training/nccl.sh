#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nccl - do collectives take the times that nccl-tests shows?
#
# This is a script, since published figures stand beside its runs.
# Published tables; the choice is NCCL's unless a table names an algorithm. `fit` tables decided constants
# of the model, `held` ones did not. Names have the kind (ar: all-reduce, ag: all-gather, rs: reduce-scatter,
# a2a: all-to-all, bc: broadcast, sr: sends to the next GPU, ringC: all-reduce by a ring of C channels,
# tree) and the GPUs. docs/models/collectives.md
# has the sources. B: two servers of 8 H100. A: virtual machines of a cloud that is not named; its times are
# those of a tree with 32 channels of 512 KiB: the rate of a block is fitted at 16 MiB, and a factor on the
# latencies at 8 bytes. The last lines have the median and the worst difference of each table.
set -eu
. "$(dirname "$0")/training_lib.sh"
columns=table,bytes,algorithm,protocol,busbw_gbytes_per_s,nccl_expects,ours_us,theirs_us
begin "$1" $columns,difference_percent,split

# options_of TABLE BYTES: sets options to the settings of a run
options_of() {
    options=(bytes="$2" tuning_latency=true)
    case $1 in
    A)
        options+=(nvls=false algorithm=tree protocol=simple channels=32 tuning_scale=1.39)
        options+=(block_rate=100Gbps)
        ;;
    ag-*) options+=(kind=all-gather) ;;
    rs-*) options+=(kind=reduce-scatter) ;;
    a2a-*) options+=(kind=all-to-all) ;;
    bc-*) options+=(kind=broadcast repeat=20) ;; # nccl-tests has no barrier between calls
    sr-*) options+=(kind=send-recv) ;;
    tree-*) options+=(algorithm=tree) ;;
    ring*)
        local protocol=simple
        [ "$2" -gt 33554432 ] || protocol=ll128
        [ "$2" -gt 4194304 ] || protocol=ll
        options+=(algorithm=ring protocol=$protocol channels="$(expr "$1" : 'ring\([0-9]*\)')")
        ;;
    esac
    [[ $1 != ar-2h100 && $1 != rs-8h100 ]] || options+=(algorithm=ring)
    [[ $1 != *b[23]00* ]] || options+=(nvlink=7200Gbps)
    [[ $1 != *a100* ]] || options+=(nvlink=2400Gbps)
    [[ $1 != *mi3[0-2]* ]] || options+=(nvlink=3584Gbps ccl=rccl)
    [[ $1 != *mi355x* ]] || options+=(nvlink=4300Gbps ccl=rccl)
    [[ $1 != *h800* ]] || options+=(nvlink=1600Gbps)
    [[ $1 != *-2x8a100 ]] || options+=(rate=200Gbps)
    [[ $1 != ar-2x8h100 && $1 != *-2x[18]h200* && $1 != *-2x8b200-* ]] || options+=(processor=intel)
    [[ $1 != *-2x8b200 ]] || options+=(rate=326Gbps) # that of the slower NICs there, by ib_write_bw
    case $1 in
    *-2h100 | *-2b200) options+=(ranks=2 per_node=2 topology=star) ;;
    *-2x1*) options+=(ranks=2 per_node=1) ;;
    *-4x8*) options+=(ranks=32) ;;
    *-8x8*) options+=(ranks=64) ;;
    *-8*) options+=(ranks=8 topology=star) ;;
    esac
}

while read -r split table rest; do
    for row in $rest; do
        theirs=${row#*:}
        bytes=${row%:*}
        bytes=$([[ $bytes == *B ]] && echo "${bytes%B}" || echo $((bytes * 1024)))
        [ "$quick" = 0 ] || [[ $table$bytes =~ ^(B268435456|A8|rs-8h100134217728)$ ]] || continue
        options_of "$table" "$bytes"
        collect "${options[@]}"
        put "$table" "$bytes" "$(first algorithm)" "$(first protocol)" \
            "$(calc "$(first busbw_gbytes_per_s)")" "$(expected "${options[@]}")" \
            "$(against "$(calc "$(first mean_us)")" "$theirs")" "$split"
    done
done <<'ROWS'
held B 262144:1291.8 524288:2375.3 1048576:4490.8 2097152:8747.2
fit A 8B:135.8 1:147.1 8:131.6 64:159.4 256:167.1 1024:203.2 4096:364.6 16384:977.6 32768:1059.9
fit A 65536:1261.6 262144:2360.9 1048576:6759.0 2097152:12646
fit rs-8h200 16384:75.4 32768:117.8 65536:205.3 131072:385.5 262144:726.0 524288:1410.0 1048576:2758.0
fit ar-2h100 1024:26.3 2048:30.7 4096:35.1 8192:47.9 16384:73.3 32768:127.7 65536:223.4 131072:415.0
fit ar-2h100 262144:792.7 524288:1541.7 1048576:2996.0
fit ag-8b200 64:18.7 1024:19.7 2048:22.4 4096:30.0 8192:44.9 16384:49.0 32768:77.0 65536:139.1
fit ag-8b200 131072:207.5 262144:394.0 524288:762.4 1048576:1486.0 4194304:5723.0
fit ar-2x8h100 64:37.9 1024:87.1 4096:110.1 16384:210.3 32768:274.2 65536:472.4 131072:759.6
fit ar-2x8h100 262144:1305.7
fit ag-2x8b200-a4 64:40.9 1024:81.6 4096:95.2 16384:132.9 65536:285.6 131072:477.4 262144:792.9
fit ag-2x8b200-a4 524288:1456.0 1048576:2809.0
fit ring1-8b300 4096:1183.9 8192:776.7 32768:3058.3 131072:7989.2
held ring8-8b300 4096:156.2 8192:137.7 16384:222.4 32768:407.8 131072:1016.4
held ag-8h200 8192:48.9 16384:73.0 32768:128.2 65536:211.3 131072:386.4 262144:730.2 524288:1394.0
held ag-8h200 1048576:2734.0
held rs-8h100 131072:377.6 262144:709.6 524288:1377.6 1048576:2692.0
held rs-8b200 64:18.5 1024:19.7 2048:23.9 4096:34.3 8192:58.4 16384:52.3 32768:80.3 65536:138.6
held rs-8b200 131072:206.1 262144:388.8 524288:753.3 1048576:1451.7 4194304:5552.0
held ring32-8b300 1024:37.5 4096:49.6 8192:58.8 16384:87.0 32768:145.9 65536:248.9 131072:373.5
held ring32-8b300 262144:742.7 1048576:2865.7
held tree-8b300 1024:45.5 4096:67.5 8192:82.5 16384:112.4 32768:186.3 65536:616.5 131072:823.6
held tree-8b300 262144:1239.2 1048576:3786.1
held ar-8a100 4096:81.6 16384:212.8 65536:614.9 262144:2215.9
held ag-2b200 65536:100.1 131072:179.7 262144:334.1 524288:626.8 1048576:1186.0
held ar-2x8b200 64:44.3 1024:93.4 4096:111.7 16384:190.5 32768:249.2 65536:346.1 131072:597.3
held ar-2x8b200 262144:927.0
held ag-2x8b200 64:39.8 1024:77.6 4096:139.7 16384:202.2 65536:491.0 131072:622.0 262144:1018.7
held ag-2x8b200 524288:1717.0
held a2a-8b200 64:12.4 1024:18.1 4096:38.8 8192:34.6 16384:51.3 32768:83.1 65536:135.0 131072:236.7
held a2a-8b200 262144:438.8 524288:840.3 1048576:1553.0
held a2a-8h200 32768:129.9 65536:220.1 131072:398.7 262144:761.2 524288:1461.0 1048576:2822.0
held ar-4x8h100 1024:82.2 4096:151.0 16384:260.0 32768:376.0 65536:579.0 131072:991.0
held ar-8x8h100 1024:117.0 4096:204.0 16384:378.0
held ring4-8b300 4096:303.3 8192:221.4 16384:402.7 32768:787.1 131072:2012.7
held ring16-8b300 4096:82.6 8192:86.1 16384:139.7 32768:228.9 131072:550.1
held rs-2x8b200 64:39.8 1024:82.6 4096:140.5 16384:202.8 65536:490.4 131072:618.7 262144:1013.1 524288:1705.4
fit ar-8a100-b 1024:67.3 4096:106.6 16384:273.1 65536:671.7 131072:1295.4
held ar-8a100-c 4096:112.0 16384:226.0 65536:584.5 262144:2112.2 1048576:8159.5
held ar-8a100-d 1024:78.8 4096:131.1 16384:293.6 65536:657.2 262144:2338.9 1048576:8139.9
held ag-2x8h200 64:34.8 1024:54.7 4096:77.4 16384:117.6 65536:277.8 131072:493.7 262144:876.1 524288:1580.2
held ag-2x8h200 1048576:3126.8
held ag-2x8b200-b 64:48.3 1024:63.8 4096:94.2 16384:140.4 65536:236.2 131072:415.7 262144:742.9 524288:1412.5
held ag-2x8b200-b 1048576:2767.0
fit a2a-2x8b200 64:39.6 1024:78.4 4096:158.1 16384:445.5 65536:1566.7 262144:6021.9
held ar-8b200 64:28.4 1024:30.1 2048:34.3 4096:56.2 16384:107.0 65536:277.2 262144:712.6 1048576:2601.8
held ar-2x8h200 64:70.3 256:63.6 1024:76.9 4096:106.1 8192:149.8 32768:276.9 65536:461.0 131072:742.1
held ar-2x8h200 262144:1275.2
held ar-2x8h200 1048576:4388.6 4194304:16715.2
held ar-2x8h200-oci 1048576:4396.8 2097152:8538.8 4194304:16756
held ag-2x1h200 64:30.0 256:41.0 1024:61.3 4096:119.5 16384:371.4 65536:1282.5 262144:4526.0 1048576:17261
held bc-8h800 16:25.6 64:26.7 256:33.4 1024:43.4 4096:45.1 16384:123.0 65536:430.6 262144:1649.9
held bc-8h800 1048576:6520.1
held sr-8a100 131072:1211.2 262144:1423.3 524288:2785.4 1048576:5503.4
held ar-2x8a100 1048576:10776 2097152:21287 4194304:42381
held ar-8mi300x 16:15.5 64:14.3 256:17.5 1024:28.4 4096:53.0 16384:149.9 65536:432.5 262144:1540.4
held ar-8mi300x 1048576:5990.7
held ar-8mi300x 4194304:23841
held ar-8mi300x-b 64:44.5 256:50.5 1024:49.5 4096:58.1 16384:152.9 65536:403.1 262144:1491.6 1048576:5829.1
held a2a-8mi300x 64:42.2 256:46.9 1024:46.6 4096:46.2 16384:74.9 65536:238.8 131072:437.8
fit ar-2x8mi300x 64:241.1 256:248.8 1024:414.8 4096:337.9 16384:497.3 65536:821.9 262144:1713.4
fit ar-2x8mi300x 1048576:5908.3
held ar-2x8mi300x-b 8192:235.4 16384:315.5 65536:650.4 262144:1974.0 1048576:6412.6 4194304:23707
held ar-8mi325x 4194304:23719
held ar-2x8mi325x 4194304:23192
held ar-4x8mi325x 4194304:23904
held ar-8x8mi325x 4194304:24572
held ar-8mi355x 64:33.4 256:38.8 1024:37.4 4096:48.0 16384:116.7 65536:324.1 262144:1188.5 1048576:4667.8
held a2a-8mi355x 64:32.4 256:37.5 1024:37.5 4096:36.1 16384:59.5 65536:196.7 131072:364.5
fit ar-2x8mi355x 64:59.2 256:67.2 1024:81.4 4096:118.6 16384:261.6 65536:614.3 262144:1652.0 1048576:5525.0
held ar-2x8mi355x-b 64:50.0 256:60.2 1024:69.0 4096:88.6 16384:177.1 65536:439.3 262144:1355.7 1048576:5302.0
held a2a-2x8mi355x 64:37.0 256:40.7 1024:55.0 4096:87.8 16384:223.3 65536:751.0 262144:2885.0 1048576:11253.5
ROWS
for table in $(tail -n +2 "$out/data.csv" | awk -F, '!seen[$1]++ { print $1 }') fit held; do
    awk -F, -v t="$table" '$1 == t || $10 == t { print $9 < 0 ? -$9 : $9 + 0 }' "$out/data.csv" | sort -g |
        awk -v t="$table" '{ v[NR] = $1 }
            END { printf "%s: %d rows, median %s %%, worst %s %%\n", t, NR, v[int((NR + 1) / 2)], v[NR] }'
done
draw bytes ours_us theirs_us log
