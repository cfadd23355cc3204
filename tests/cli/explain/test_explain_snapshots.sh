#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/cli/explain/test_explain_snapshots.sh - `rocesim explain --counters BEFORE --counters AFTER`.
#
# Goal: of storms planted at random, the root is named first in nine of ten from two snapshots of counters as
# switches and hosts print them: `show pfc counters`, `show queue counters`, dumps of COUNTERS_DB, `ethtool
# -S`, `rdma statistic`, OpenMetrics. Counters wrap or begin anywhere. What a form cannot say, and ports that
# the topology lacks, are named. Files that are none of these forms are refused, and garbage does not crash.
# Method: runs with storms (one or two, with and without a watchdog), slow receivers, incasts, slow links, bad
# optics, too little headroom and a wrong priority, on five topologies. Their ports.csv is written in a drawn
# form, with a few errors and drops at all ports.
# Not pinned: the words, and causes behind the first.
set -u
. tests/script.sh

cat >"$work/storms.py" <<'END'
import csv, json, os, random, subprocess, sys
rocesim, work, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def scenario(dice):
    name, shape, hosts, leaf_of = dice.choice([
        ("star", "star: {hosts: 8}", 8, lambda h: "switch0"),
        ("ls", "leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 4}", 12, lambda h: f"leaf{h // 4}"),
        ("ls1", "leaf-spine: {leaves: 4, spines: 1, hosts-per-leaf: 3}", 12, lambda h: f"leaf{h // 3}"),
        ("ls8", "leaf-spine: {leaves: 4, spines: 4, hosts-per-leaf: 8}", 32, lambda h: f"leaf{h // 8}"),
        ("ft", "fat-tree: {k: 4}", 16, None)])
    victim = dice.randrange(hosts)
    other = (victim + dice.randrange(1, hosts)) % hosts
    kinds = ["pause-storm", "slow-receiver", "incast", "two", "watchdog", "slow-link", "host-link", "optic",
             "headroom", "priority"]
    kind = dice.choice(kinds)
    of_leaves = ("slow-link", "headroom", "priority", "host-link", "optic")
    if leaf_of is None and kind in of_leaves or name == "star" and kind == "slow-link":
        kind = "slow-receiver"
    rate = dice.choice([2, 5, 8])
    faults, nodes, links, wanted = "[]", "", "", [f"host{victim}"]
    traffic = f"  - incast: {{to: host{victim}, senders: {dice.randrange(4, 7)}, "
    traffic += f"bytes: {dice.choice([2, 4])}MB}}\n  - permutation: {{bytes: 200KB}}\n"
    switch = f"{{buffer: {dice.choice([2, 4])}MB, ecn: {{enabled: {'on' if dice.random() < 0.5 else 'off'}}}"
    if kind in ("pause-storm", "watchdog"):
        faults = f"[{{part: host{victim}, kind: pause-storm, at: 20us, until: 900us}}]"
    if kind == "watchdog":
        switch += ", pfc: {watchdog: drop, watchdog-detect: 100us, watchdog-restore: 100us}"
    if kind == "slow-receiver":
        faults = f"[{{part: host{victim}, kind: slow-receiver, rate: {rate}Gbps}}]"
    if kind == "two":
        faults = (f"[{{part: host{victim}, kind: slow-receiver, rate: {rate}Gbps}}, "
                  f"{{part: host{other}, kind: pause-storm, at: 20us, until: 900us}}]")
        wanted.append(f"host{other}")
    if kind == "incast":
        wanted = [leaf_of(victim)] if leaf_of else None
    if kind == "slow-link":
        leaf = leaf_of(victim)
        spines = {"ls8": 4, "ls": 2, "ls1": 1}[name]
        slow = [f"{{part: {leaf}--spine{s}, kind: degraded, rate: 10Gbps, at: 0us}}" for s in range(spines)]
        faults = "[" + ", ".join(slow) + "]"
        wanted = ["spine0", "spine1", "spine2", "spine3", leaf]
    if kind == "host-link":
        faults = f"[{{part: {leaf_of(victim)}--host{victim}, kind: degraded, rate: 10Gbps, at: 0us}}]"
        wanted = [leaf_of(victim)]
        traffic = f"  - incast: {{to: host{victim}, senders: 1, bytes: 4MB}}\n"
        traffic += "  - permutation: {bytes: 200KB}\n"
    if kind == "optic":
        faults = f"[{{part: {leaf_of(victim)}--host{victim}, kind: bit-errors, loss-rate: 0.01, at: 0us}}]"
        wanted = [leaf_of(victim), f"host{victim}", f"{leaf_of(victim)}--host{victim}"]
        traffic = "  - permutation: {bytes: 8MB}\n"
    if kind == "headroom":
        nodes = f"nodes: {{{leaf_of(victim)}: {{switch: {{pfc: {{headroom: 1KB}}}}}}}}\n"
        wanted = [leaf_of(victim)]
    if kind == "priority":
        nodes = f"nodes: {{{leaf_of(victim)}: {{switch: {{pfc: {{priorities: 4}}}}}}}}\n"
        wanted = [leaf_of(victim)]
    congestion = dice.choice(["none", "none", "dcqcn"]) if kind != "incast" else "none"
    return kind, victim, wanted, f"""
topology: {{{shape}}}
link: {{rate: 100Gbps, delay: {dice.choice([200, 500, 1000])}ns}}
nic: {{congestion-control: {congestion}}}
switch: {switch}}}
seed: {dice.randrange(1000)}
until: 1ms
faults: {faults}
{nodes}traffic:
{traffic}"""

def rows_of(folder):
    return list(csv.DictReader(open(folder + "/ports.csv")))

errors, noise = {}, {}
def losses(row):
    """Damaged and dropped frames of a port: those of the run, and noise."""
    lost = errors.get(row["port"], 0)
    own = int(row["discards"]) if not errors else 0
    return lost + noise[row["port"]][0], own + noise[row["port"]][1]

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
                for i, word in enumerate(("errs", "drop")):
                    metrics.append(f'node_network_receive_{word}_total{{instance="{node}:9100",'
                                   f'device="{port}"}} {base + scale * losses(row)[i]}')
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
                f.write(f"     rx_crc_errors_phy: {base + scale * losses(row)[0]}\n"
                        f"     rx_discards_phy: {base + scale * losses(row)[1]}\n")
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
                values["SAI_PORT_STAT_IF_IN_ERRORS"] = str(base + scale * losses(row)[0])
                values["SAI_PORT_STAT_IF_IN_DISCARDS"] = str(base + scale * losses(row)[1])
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
                f.write(f"admin@{node}:~$ show interfaces counters\n      IFACE    STATE    RX_OK    "
                        "RX_BPS    "
                        "RX_UTIL    RX_ERR    RX_DRP    RX_OVR    TX_OK    TX_BPS    TX_UTIL    TX_ERR    "
                        "TX_DRP    TX_OVR\n-----------  -----\n")
                for port, row in mine:
                    f.write(f"  {port}        U  {value(row, 'rx_packets'):,}  12.50 MB/s  0.10%  "
                            f"{base + scale * losses(row)[0]:,}  {base + scale * losses(row)[1]:,}  0  5  "
                            "N/A  N/A  0  0  0\n")
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
    kind, victim, wanted, text = scenario(dice)
    folder = f"{work}/{number}"
    os.mkdir(folder)
    open(folder + "/s.yaml", "w").write(text)
    made = subprocess.run([rocesim, "run", folder + "/s.yaml", "-o", folder + "/out", "--quiet"],
                          capture_output=True, text=True)
    if not os.path.exists(folder + "/out/ports.csv"):
        sys.exit(f"{number}: {made.stderr}")
    rows = rows_of(folder + "/out")
    stopped_ns = sum(float(row["paused_prio3_ns"]) for row in rows)
    losing = kind in ("optic", "headroom", "priority")
    if not losing and stopped_ns < 50000 or losing and sum(int(row["discards"]) for row in rows) < 30:
        continue # nothing came of it
    tried += 1
    errors.clear()
    for row in rows:
        noise[row["port"]] = (dice.choice([0, 0, 0, 1, 3]), dice.choice([0, 0, 0, 2, 4]))
    if kind == "optic":
        for row in csv.DictReader(open(folder + "/out/events.csv")):
            if row["event"] == "drop":
                a, b = row["port"].split("->")
                errors[f"{b}->{a}"] = errors.get(f"{b}->{a}", 0) + 1
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
    if wanted is None:
        wanted = [names[row["port"]][0] for row in rows if row["port"].endswith(f"->host{victim}")]
    found += place in wanted
    if place not in wanted:
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
