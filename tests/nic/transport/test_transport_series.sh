#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_transport_series.sh - series of what transports hold: maps, blocks, queues.
#
# Goal: with adamap the samples of maps have the maximum of the summary, used and free blocks are
# whole chunks, chains are part of the lists; what senders have to send again and receivers miss is
# seen with every selective transport, and nothing is left of it when the run is over; what is only
# sampled is refused on change.
# Method: scenarios/wan/goodput.yaml with 3 % loss, sampled as often as the summary's maps are.
# Not pinned: when what is held (docs/models/adamap.md).
set -eu
. tests/script.sh

series=(list_maps chain_maps table_maps used_blocks free_blocks missing_packets ahead_packets
    resend_packets)
{
    cat scenarios/wan/goodput.yaml
    echo "observe:"
    for name in "${series[@]}"; do echo "  - {series: 'nic[*].transport.$name', every: 10us}"; done
    echo "  - {series: 'qp[host0:*].resend_packets', every: 10us}"
} >"$work/observed.yaml"
for transport in adamap irn sdr; do
    "$ROCESIM" run "$work/observed.yaml" --quiet -o "$work/$transport" --set transport=$transport \
        --set rtt=2ms --set loss=0.03 --set bytes=60MB >/dev/null || fail "$transport does not run"
    # Seen at the receiver or the sender, and gone at the end.
    paths=(host1].transport.missing_packets host1].transport.ahead_packets
        host0].transport.resend_packets)
    [ $transport != sdr ] || unset 'paths[2]' # single packets, each gone before the next sample
    for path in "${paths[@]}"; do
        awk -F, -v path="nic[$path" '
            $2 == path { if ($3 > most) most = $3; last = $3 }
            END { exit !(most > 0 && last == 0) }' \
            "$work/$transport/series.csv" || fail "$transport: $path is not seen, or not gone at the end"
    done
    # Of the only queue pair as of its NIC.
    awk -F, '$2 == "nic[host0].transport.resend_packets" { nic[$1] = $3; n++ }
        $2 ~ /^qp.*resend_packets$/ { if (nic[$1] != $3) bad = 1; q++ } END { exit bad || q < n / 2 }' \
        "$work/$transport/series.csv" || fail "$transport: the queue pair's queue is not its NIC's"
done
most=$(sed -n 's/.*"nodes_max": \([0-9]*\).*/\1/p' "$work/adamap/summary.json")
awk -F, -v most="$most" '
    $2 ~ /host1\].transport.list_maps/ { list[$1] = $3 }
    $2 ~ /host1\].transport.chain_maps/ { chain[$1] = $3; if ($3 > list[$1]) bad = "chain > list" }
    $2 ~ /host1\].transport.table_maps/ {
        sum = list[$1] + $3
        table = table > $3 ? table : $3
        if (sum > top) top = sum
    }
    $2 ~ /host1\].transport.used_blocks/ { used[$1] = $3; if ($3 > 0) held = 1 }
    $2 ~ /host1\].transport.free_blocks/ {
        if ((used[$1] + $3) % 64) bad = "blocks " used[$1] " + " $3
    }
    END {
        if (top != most) bad = "maps " top ", the summary has " most
        if (!table || !held) bad = "nothing seen"
        if (bad) { print bad; exit 1 }
    }' "$work/adamap/series.csv" || fail "adamap: series and summary differ"

sed 's/, every: 10us/, on: change/' "$work/observed.yaml" >"$work/change.yaml"
"$ROCESIM" check "$work/change.yaml" 2>"$work/error" && fail "transport.list_maps on change is accepted"
grep -q "transport.list_maps is only sampled, expected 'every'" "$work/error" || fail "$(cat "$work/error")"
exit $((failures > 0))
