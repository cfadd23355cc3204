#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/cli/explain/test_explain_snapshots.sh - `rocesim explain --counters BEFORE --counters AFTER`.
#
# Goal: of storms planted at random, the root is named first in nine of ten from two snapshots of counters as
# switches and hosts print them: `show pfc counters`, `show queue counters`, dumps of COUNTERS_DB, `ethtool
# -S`, `rdma statistic`, OpenMetrics. Counters wrap or begin anywhere. What a form cannot say, and ports that
# the topology lacks, are named. Files that are none of these forms are refused, and garbage does not crash.
# Method: runs with a storm, a slow receiver or an incast; their ports.csv is written in a drawn form.
# Not pinned: the words, and causes behind the first.
set -u
. tests/script.sh

cat >"$work/storms.py" <<'END'
import csv, json, os, random, subprocess, sys
rocesim, work, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def scenario(dice):
    shape = dice.choice(["star: {hosts: 8}", "leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 4}",
                         "fat-tree: {k: 4}", "leaf-spine: {leaves: 4, spines: 1, hosts-per-leaf: 3}"])
    hosts = {"s": 8, "l": 12, "f": 16}[shape[0]]
    victim = dice.randrange(hosts)
    kind = dice.choice(["pause-storm", "slow-receiver", "incast"])
    rate = dice.choice([2, 5, 8])
    fault = {"pause-storm": f"[{{part: host{victim}, kind: pause-storm, at: 20us, until: 900us}}]",
             "slow-receiver": f"[{{part: host{victim}, kind: slow-receiver, rate: {rate}Gbps}}]",
             "incast": "[]"}[kind]
    senders = dice.randrange(4, 7)
    return kind, victim, f"""
topology: {{{shape}}}
link: {{rate: 100Gbps, delay: {dice.choice([200, 500, 1000])}ns}}
nic: {{congestion-control: {dice.choice(["none", "none", "dcqcn"]) if kind != "incast" else "none"}}}
switch: {{buffer: {dice.choice([2, 4])}MB, ecn: {{enabled: {"on" if dice.random() < 0.5 else "off"}}}}}
seed: {dice.randrange(1000)}
until: 1ms
faults: {fault}
traffic:
  - incast: {{to: host{victim}, senders: {senders}, bytes: {dice.choice([2, 4])}MB}}
  - permutation: {{bytes: 200KB}}
"""

def rows_of(folder):
    return list(csv.DictReader(open(folder + "/ports.csv")))

def write(folder, form, names, rows, scale, base, cnps):
    """Writes the counters of all ports: scale 0 is the time before, 1 the time after."""
    os.mkdir(folder)
    def value(row, key):
        return int(base + scale * float(row[key]))
    metrics = []
    for node in sorted({n for n, _ in names.values()}):
        mine = [(names[row["port"]][1], row) for row in rows if names[row["port"]][0] == node]
        host = node.startswith("host")
        if form == "metrics":
            for port, row in mine:
                for p in range(8):
                    label = f'{{instance="{node}:9100",device="{port}",priority="{p}"}}'
                    metrics.append(f"pfc_rx_pause_packets_total{label} {value(row, f'rx_prio{p}_pause')}")
                    metrics.append(f"pfc_rx_pause_duration_us_total{label} "
                                   f"{base + scale * float(row[f'paused_prio{p}_ns']) / 1000:.6e}")
                metrics.append(f'node_network_transmit_bytes_total{{instance="{node}:9100",device="{port}"}} '
                               f"{value(row, 'tx_bytes')}")
        elif host:
            with open(f"{folder}/{node}.txt", "w") as f:
                port, row = mine[0]
                f.write(f"root@{node}:~# ethtool -S {port}\nNIC statistics:\n     rx_packets: 5\n")
                for p in range(8):
                    f.write(f"     rx_prio{p}_pause: {value(row, f'rx_prio{p}_pause')}\n"
                            f"     rx_prio{p}_pause_duration: "
                            f"{int(base + scale * float(row[f'paused_prio{p}_ns']) / 1000)}\n"
                            f"     rx_prio{p}_pause_transition: {value(row, f'rx_prio{p}_pause')}\n"
                            f"     tx_prio{p}_pause: {value(row, f'tx_prio{p}_pause')}\n")
                sent = int(base + scale * cnps.get(node, 0))
                f.write(f"root@{node}:~# rdma statistic show\n"
                        f"link mlx5_0/1 rx_write_requests 3 np_cnp_sent {sent} "
                        f"out_of_buffer 0\n")
        elif form == "database":
            ports = {port: f"oid:0x1000000{i:06x}" for i, (port, _) in enumerate(mine)}
            dump = {"COUNTERS_PORT_NAME_MAP": {"type": "hash", "value": ports}}
            for port, row in mine:
                values = {f"SAI_PORT_STAT_PFC_{p}_RX_PKTS": str(value(row, f"rx_prio{p}_pause"))
                          for p in range(8)}
                for p in range(8):
                    us = int(base + scale * float(row[f"paused_prio{p}_ns"]) / 1000)
                    values[f"SAI_PORT_STAT_PFC_{p}_RX_PAUSE_DURATION_US"] = str(us)
                values["SAI_PORT_STAT_IF_OUT_OCTETS"] = str(value(row, "tx_bytes"))
                dump["COUNTERS:" + ports[port]] = {"type": "hash", "value": values, "ttl": -1}
            json.dump(dump, open(f"{folder}/{node}.json", "w"))
        else:
            with open(f"{folder}/{node}-pfc.txt", "w") as f:
                f.write(f"admin@{node}:~$ show pfc counters\n")
                for side in ("rx", "tx"):
                    f.write(f"  Port {side.capitalize()}    " + "    ".join(f"PFC{p}" for p in range(8)) +
                            "\n-----------  " + "------  " * 8 + "\n")
                    for port, row in mine:
                        f.write(f"  {port}  " + "  ".join(f"{value(row, f'{side}_prio{p}_pause'):,}"
                                                          for p in range(8)) + "\n")
                    f.write("\n")
                f.write(f"admin@{node}:~$ show queue counters\n")
                for port, row in mine:
                    f.write("     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes\n"
                            "---------  -----  --------------  ---------------  -----------  ------------\n")
                    for p in range(8):
                        f.write(f"{port}    UC{p}    {value(row, f'tx_prio{p}_packets'):,}    "
                                f"{value(row, f'tx_prio{p}_bytes'):,}    0    N/A\n")
                    f.write("\n")
    if form == "metrics":
        open(f"{folder}/metrics.txt", "w").write("# TYPE x counter\n" + "\n".join(metrics) + "\n# EOF\n")

found, tried = 0, 0
number = first
while tried < count and number < first + 4 * count:
    number += 1
    dice = random.Random(number)
    kind, victim, text = scenario(dice)
    folder = f"{work}/{number}"
    os.mkdir(folder)
    open(folder + "/s.yaml", "w").write(text)
    made = subprocess.run([rocesim, "run", folder + "/s.yaml", "-o", folder + "/out", "--quiet"],
                          capture_output=True, text=True)
    if not os.path.exists(folder + "/out/ports.csv"):
        sys.exit(f"{number}: {made.stderr}")
    rows = rows_of(folder + "/out")
    if sum(float(row["paused_prio3_ns"]) for row in rows) < 50000:
        continue # no storm came of it
    tried += 1
    topology = json.load(open(folder + "/out/topology.json"))
    names, index = {}, {}
    for row in rows:
        node = row["port"].split("->")[0]
        index[node] = index.get(node, -1) + 1
        names[row["port"]] = (node, "eth0" if node.startswith("host") else f"Ethernet{4 * index[node]}")
    with open(folder + "/links.csv", "w") as f:
        f.write("a_node,a_port,b_node,b_port\n")
        for link in topology["links"]:
            a, b = names[link["a_port"]], names[link["b_port"]]
            f.write(",".join(a + b) + "\n")
    cnps = {row["nic"]: int(row["np_cnp_sent"]) for row in csv.DictReader(open(folder + "/out/nics.csv"))
            if "np_cnp_sent" in row}
    form = ["show", "database", "metrics"][number % 3]
    base = dice.choice([0, 0, 17, 123456])
    write(folder + "/before", form, names, rows, 0, base, cnps)
    write(folder + "/after", form, names, rows, 1, base, cnps)
    said = subprocess.run([rocesim, "explain", folder + "/links.csv", "--counters", folder + "/before",
                           "--counters", folder + "/after", "--json"], capture_output=True, text=True)
    if said.returncode != 0:
        sys.exit(f"{number} ({form}): {said.stderr}")
    causes = json.loads(said.stdout)["causes"]
    place = causes[0]["place"] if causes else "nothing"
    wanted = f"host{victim}"
    if kind == "incast":
        wanted = [names[row["port"]][0] for row in rows if row["port"].endswith(f"->{wanted}")][0]
    found += place == wanted
    if place != wanted:
        print(f"{number} ({form}, {kind}): {place} instead of {wanted}: {folder}")
print(f"{found} of {tried}")
sys.exit(0 if tried == count and found * 10 >= 9 * tried else 1)
END
count=$(few 30 10)
python3 "$work/storms.py" "$ROCESIM" "$work" "${FIRST:-0}" "$count" || fail "too few roots are named"

cat >"$work/links.csv" <<END
a_node,a_port,b_node,b_port
leaf0,Ethernet0,h0,eth0
leaf0,Ethernet4,h1,eth0
END
head='admin@leaf0:~$ show pfc counters\n  Port Rx  PFC0  PFC1  PFC2  PFC3\n'
printf "$head  Ethernet0  0  0  0  5\n" >"$work/a"
printf "$head  Ethernet0  0  0  0  1,005\n  Ethernet48 0 0 0 3\n" >"$work/b"
"$ROCESIM" explain "$work/links.csv" --counters "$work/a" --counters "$work/b" >"$work/said" 2>&1 ||
    fail "$(cat "$work/said")"
grep -q '^main cause: h0 is a slow receiver' "$work/said" || fail "$(cat "$work/said")"
grep -q 'no duration counter.*3 ports without samples.*first leaf0:Ethernet48' "$work/said" ||
    fail "limits: $(cat "$work/said")"
# Counters of a switch that the topology lacks, and of a port that two switches have, are nobody's.
echo 'leaf1,Ethernet0,h2,eth0' >>"$work/links.csv"
for more in 0 1000; do
    printf "$head  Ethernet0  0  0  0  5\n\n${head/leaf0/leaf9}  Ethernet4  0  0  0  $((more + 5))\n" \
        >"$work/p$more"
    printf "${head#*$ }  Ethernet0  0  0  0  $((more + 5))\n  Ethernet4  0  0  0  7\n" \
        >"$work/q$more"
done
for kind in p q; do
    "$ROCESIM" explain "$work/links.csv" --counters "$work/${kind}0" --counters "$work/${kind}1000" \
        >"$work/said" 2>&1 || fail "$kind: $(cat "$work/said")"
    ! grep -q '^main cause' "$work/said" || fail "$kind: counters of no port accuse one: $(cat "$work/said")"
    grep -q "first $([ $kind = p ] && echo leaf9:Ethernet4 || echo Ethernet0)" "$work/said" ||
        fail "$kind: $(cat "$work/said")"
done
echo 'nothing of use' >"$work/c"
"$ROCESIM" explain "$work/links.csv" --counters "$work/c" --counters "$work/c" >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q 'no counters of a port' "$work/said" || fail "$(cat "$work/said")"
[ $failures -eq 0 ]
