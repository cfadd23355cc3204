#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_cli_headroom_planted.sh - rocesim headroom names the one unsafe port of an imported fabric.
#
# Goal: in SONiC configurations of many forms (a wrong profile for a port, for one of its priority groups,
# with the old references in brackets; ports of 100, 400 and 800 Gbit/s;
# cables from 5 m to 4 km; MTU 9100; a pool of headroom) exactly the planted port or pool is named, with
# the bytes that it lacks; without the plant nothing is.
# Method: a generator of leaf-spine fabrics. Its profiles have what docs/headroom.md asks for, by the formula.
# Does not pin: the layout of the text.
set -u
. tests/script.sh
start_forks

cat >"$work/make.py" <<'END'
import json, math, os, random, sys
from fractions import Fraction

folder, form, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(seed)
mtu = 9118 if form == "mtu" else 4096 + 58
response = 1000  # ns


def least(rate, metres):
    f = mtu
    X = Fraction(rate * 10**6 * (2 * 5 * metres + response) * 1000, 8 * 10**12) + 2 * f + 108
    T = math.ceil(X) - 1
    n = T // (f + 24)
    return f + max(n * f, T - 24 * (n + 1))


leaves, spines, hosts = random.choice([2, 3, 4]), random.choice([2, 3]), random.choice([2, 4])
lengths = [40, 300, 4000] if form == "far" else [5, 40, 300]
fabric_rate = random.choice([100000, 400000, 800000])
switches = [f"leaf{i}" for i in range(leaves)] + [f"spine{i}" for i in range(spines)]
cables = {}  # (leaf, spine): metres
for leaf in range(leaves):
    for spine in range(spines):
        cables[leaf, spine] = random.choice(lengths)
bad_switch = random.choice(switches)
planted = None
os.makedirs(folder)
for name in switches:
    ports = []  # port, speed, metres, neighbour and its port
    number = int(name[-1])
    if name.startswith("leaf"):
        ports = [(random.choice([100000, 400000]), 5, f"host{number}-{h}", "eth1") for h in range(hosts)]
        ports += [(fabric_rate, cables[number, s], f"spine{s}", f"Ethernet{8 * number}")
                  for s in range(spines)]
    else:
        ports = [(fabric_rate, cables[leaf, number], f"leaf{leaf}", f"Ethernet{8 * (hosts + number)}")
                 for leaf in range(leaves)]
    config = {"DEVICE_METADATA": {"localhost": {"hostname": name}}, "PORT": {},
              "CABLE_LENGTH": {"AZURE": {}}, "DEVICE_NEIGHBOR": {}, "BUFFER_PG": {}, "PORT_QOS_MAP": {},
              "BUFFER_PROFILE": {},
              "BUFFER_POOL": {"ingress_lossless_pool": {"size": "64000000", "type": "ingress",
                                                        "mode": "dynamic"}}}
    bad_port = random.randrange(len(ports)) if name == bad_switch else -1
    total, most = 0, 0
    for i, (speed, metres, far, far_port) in enumerate(ports):
        port = f"Ethernet{8 * i}"
        need = least(speed, metres)
        total += 2 * need
        most = max(most, 2 * need)
        profile = f"pg_lossless_{speed}_{metres}m_profile"
        reference = lambda p: f"[BUFFER_PROFILE|{p}]" if form == "brackets" else p
        make = lambda xoff: {"xon": "19456", "xoff": str(xoff), "size": str(19456 + xoff), "dynamic_th": "0",
                             "pool": reference("ingress_lossless_pool").replace("PROFILE", "POOL")}
        config["BUFFER_PROFILE"][profile] = make(need)
        config["PORT"][port] = {"speed": str(speed), "admin_status": "up", "mtu": "9100"}
        config["CABLE_LENGTH"]["AZURE"][port] = f"{metres}m"
        config["DEVICE_NEIGHBOR"][port] = {"name": far, "port": far_port}
        config["PORT_QOS_MAP"][port] = {"pfc_enable": "3,4"}
        key = {f"{port}|3-4": profile}
        if form == "groups":
            key = {f"{port}|3": profile, f"{port}|4": profile}
        if i == bad_port and form != "healthy" and form != "pool":
            lacks = random.choice([1, 500, need // 2])
            config["BUFFER_PROFILE"]["other"] = make(need - lacks)
            planted = {"port": f"{name}->{far}", "lacks": lacks}
            key = {f"{port}|3-4": "other"}
            if form == "groups":
                one = random.choice([3, 4])
                key = {f"{port}|{one}": "other", f"{port}|{7 - one}": profile}
        config["BUFFER_PG"].update({k: {"profile": reference(v)} for k, v in key.items()})
    if form in ("pool", "shared"):
        pool = total // 2 if total // 2 >= most else most
        if name == bad_switch and form == "pool":
            pool = most - 777
            planted = {"pool": name, "lacks": 777}
        config["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] = str(pool)
    json.dump(config, open(f"{folder}/{name}.json", "w"), indent=2)
json.dump(planted, open(f"{folder}.planted", "w"))
END

seeds=(${ROCESIM_SEEDS:-5}) # further ones: ROCESIM_SEEDS="1 2 3"
count=0
for form in profile groups brackets far mtu pool shared healthy; do
    for seed in "${seeds[@]}"; do
        name="$work/$form-$seed"
        python3 "$work/make.py" "$name" $form $seed || fail "$form $seed: cannot be made"
        rocesim import "$name" -o "$name.yaml" >"$work/said" 2>&1 || fail "$form $seed: $(cat "$work/said")"
        mtu=4096
        [ $form = mtu ] && mtu=9100
        rocesim headroom "$name.yaml" --mtu $mtu --response 1us --json >"$name.out" 2>"$work/said"
        status=$?
        python3 - "$name" $status <<'END' || fail "$form $seed, status $status: $(head -c 3000 "$name.out")"
import json, sys
planted = json.load(open(sys.argv[1] + ".planted"))
found = json.load(open(sys.argv[1] + ".out"))
named = [(unsafe["port"], unsafe["lacks_bytes"]) for unsafe in found["unsafe"]]
pools = [(pool["switch"], pool["port_bytes"] - pool["configured_bytes"]) for pool in found["pools"]
         if pool["verdict"] == "unsafe"]
expected = planted or {}
assert named == ([(planted["port"], planted["lacks"])] if "port" in expected else []), (planted, named)
assert pools == ([(planted["pool"], planted["lacks"])] if "pool" in expected else []), (planted, pools)
assert int(sys.argv[2]) == (planted is not None)
END
        count=$((count + 1))
    done
done
[ $count -eq $((8 * ${#seeds[@]})) ] || fail "$count cases"
exit $((failures > 0))
