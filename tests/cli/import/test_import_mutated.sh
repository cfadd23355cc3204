#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain long
# test_import_mutated.sh - files of fabrics and counters that are broken anywhere.
#
# Goal: `rocesim import` and `rocesim explain --counters` read a mutated file or refuse it, and never crash or
# hang; neighbours that a host sees make it a host.
# Method: files of examples/operator and of LLDP with bytes, lines and values that are drawn anew.
# Does not pin: which mutations are refused.
# Rerun: FIRST=N (the number of a mutation) ctest -R '^test_import_mutated$'
set -u
. tests/script.sh
start_forks

cat >"$work/h1.json" <<'END'
{"lldp": {"interface": [
  {"eth0": {"chassis": {"leaf1": {"capability": [{"type": "Bridge", "enabled": true}]}},
            "port": {"id": {"type": "ifname", "value": "Ethernet0"}}}},
  {"enp1s0": {"chassis": {"leaf2": {"capability": [{"type": "Router", "enabled": true}]}},
              "port": {"id": {"type": "ifname", "value": "Ethernet0"}}}}]}}
END
rocesim import "$work/h1.json" -o "$work/h1.yaml" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
grep -q -- '- host: \[h1\]' "$work/h1.yaml" && grep -q -- '- switch: \[leaf1, leaf2\]' "$work/h1.yaml" ||
    fail "h1 is no host of two switches: $(cat "$work/h1.yaml")"

cat >"$work/mutate.py" <<'END'
import random, sys
number, source, target = int(sys.argv[1]), sys.argv[2:-1], sys.argv[-1]
for step in range(100):
    dice = random.Random(number * 100 + step)
    data = bytearray(open(dice.choice(source), "rb").read())
    for _ in range(dice.choice([1, 1, 3, 20])):
        at = dice.randrange(len(data) + 1)
        kind = dice.randrange(6)
        if kind == 0:
            data[at:at + 1] = bytes([dice.randrange(256)])
        elif kind == 1:
            data[at:at + dice.randrange(1, 200)] = b""
        elif kind == 2:
            data[at:at] = dice.choice([b"{", b"}", b"[", b'"', b"|", b",", b":", b"-1", b"1e99", b"null",
                                       b"\n", b"\xff", b"999999999999999999999999", b"%s%n", b"Ethernet0|3"])
        elif kind == 3:
            end = min(len(data), at + dice.randrange(1, 300))
            data[at:at] = data[at:end]
        elif kind == 4:
            del data[at:]
        else:
            other = dice.randrange(len(data) + 1)
            data[at:at + 20] = data[other:other + 20]
    open(f"{target}/{step}", "wb").write(data)
END
cat >"$work/links.csv" <<'END'
a_node,a_port,b_node,b_port
leaf2,Ethernet4,server5,eth0
leaf2,Ethernet16,spine2,Ethernet4
END
cat >"$work/eth.txt" <<'END'
root@server5:~# ethtool -S eth0
NIC statistics:
     tx_prio3_pause: 12
     rx_prio3_pause_duration: 17
link mlx5_0/1 np_cnp_sent 3
rocesim_port_rx_pause_packets_total{node="leaf2",port="Ethernet4",priority="3"} 5e3
END
cat >"$work/leaf2.json" <<'END'
{"COUNTERS_PORT_NAME_MAP": {"Ethernet4": "oid:1"},
 "COUNTERS:oid:1": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "7"}}
END
mkdir "$work/made"
count=2 # times 100
[ -z "${TEST_LONG:-}" ] || count=20
examples=examples/operator
for ((number = ${FIRST:-0}; number < ${FIRST:-0} + count; number++)); do
    which=$((number % 2))
    if [ $which -eq 0 ]; then
        python3 "$work/mutate.py" $number $examples/configs/*.json "$work/h1.json" "$work/made"
    else
        python3 "$work/mutate.py" $number $examples/after/*.txt "$work/eth.txt" "$work/leaf2.json" \
            "$work/made"
    fi
    for file in "$work/made"/*; do
        if [ $which -eq 0 ]; then
            within 10 rocesim import "$file" -o "$work/made.yaml" >"$work/said" 2>&1
        else
            within 10 rocesim explain "$work/links.csv" --counters $examples/before --counters "$file" \
                >"$work/said" 2>&1
        fi
        status=$?
        [ $status -le 2 ] ||
            fail "FIRST=$number, $(basename "$file"): status $status: $(tail -n 3 "$work/said")"
    done
done
exit $((failures > 0))
