#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# decoders - how do many decoders load one prefiller, with PFC alone and with DCQCN?
#
# This is a script, since it writes a scenario for each number of hosts.
# Each of N decoders has a NIC of 200 Gbps. read: the decoders read KV from one prefiller and share
# its NIC. write: N prefillers write to one decoder. PFC stops this incast at the senders, DCQCN
# slows the senders down.
set -eu
. "$(dirname "$0")/mooncake_lib.sh"
begin "$1" curve hosts gbytes_per_s slowest_gbytes batch_p99_ms pauses queue_max_kb
scenario() { # OPERATION HOSTS CONTROL
    cat <<END
topology:
  star: {hosts: $(($2 + 2)), rate: 200Gbps, delay: 500ns}
switch:
  buffer: 4MB
  pfc: {priorities: [3]}
nic: {mtu: 4096, congestion-control: $3}
traffic:
END
    local i
    for ((i = 1; i <= $2; i++)); do
        echo "  - mooncake-bench: {from: host$i, to: host0, metadata: {host: host$(($2 + 1))}, threads: 2," \
            "batch: 16, operation: $1, warm-up: $(pick 1ms 3ms), duration: $(pick 1ms 5ms)}"
    done
}
for operation in read write; do
    for cc in none dcqcn; do
        for hosts in $(pick hosts "4" "2 4 8 16"); do
            scenario $operation "$hosts" $cc >"$out/$operation-$cc-$hosts.yaml"
            go "$operation-$cc-$hosts" "$out/$operation-$cc-$hosts.yaml"
            sum=0
            least=1e9
            worst=0
            for ((i = 0; i < hosts; i++)); do
                one=$(value "apps[$i].gbytes_per_s")
                p99=$(value "apps[$i].transfer_ms.p99")
                [ "$p99" != null ] || p99=0
                sum=$(rounded 4 "$sum + $one")
                least=$(rounded 4 "($one < $least ? $one : $least)")
                worst=$(rounded 4 "($p99 > $worst ? $p99 : $worst)")
            done
            queue=$(awk -F, 'NR > 1 && $7 > most { most = $7 } END { printf "%.0f", most / 1000 }' \
                "$run/ports.csv")
            row "$operation-$cc" "$hosts" "$(rounded 2 "$sum")" "$(rounded 2 "$least")" "$worst" \
                "$(value pfc.pause_frames)" "$queue"
        done
    done
done
figure "decoders (read), prefillers (write)" gbytes_per_s batch_p99_ms log
exit "$status"
