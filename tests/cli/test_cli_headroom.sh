#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_cli_headroom.sh - rocesim headroom: what ports need, and which of them are unsafe.
#
# Goal: measured headroom and reserve equal closed forms to the byte, for many rates, cables, MTUs and
# response times; the bound for mixed sizes and the vendor's formula are those of docs/headroom.md; a port of
# an imported fabric whose headroom is planted too small is the only one that is named, and the profile that
# is written makes it safe; bad options are refused.
# Method: the formulas are written down again here, in Python with exact numbers.
# Does not pin: the layout of the text.
set -u
. tests/script.sh
start_forks

cat >"$work/port.yaml" <<'END'
topology: {star: {hosts: 2}}
link: {rate: 100Gbps, delay: 500ns}
END
for case in 10:1m:256:0ns 10:10000m:256:0ns 25:5m:1024:1us 40:40m:4096:auto 100:5m:4096:auto \
    100:300m:1024:3937ns 100:10000m:4096:auto 200:300m:4096:500ns 400:40m:2048:auto \
    800:5m:4096:1537ns 13:40m:512:777ns; do
    IFS=: read -r rate length mtu response <<<"$case"
    options=(--length "$length" --mtu "$mtu" --burst 50000B)
    [ "$response" = auto ] || options+=(--response "$response")
    rocesim headroom "$work/port.yaml" --set "link.rate=${rate}Gbps" "${options[@]}" --json \
        >"$work/out.json" 2>"$work/said"
    [ $? -le 1 ] || fail "$case: $(cat "$work/said")"
    python3 - "$work/out.json" "$mtu" <<'END' || fail "$case: $(cat "$work/out.json")"
import json, math, sys
from fractions import Fraction
kind = json.load(open(sys.argv[1]))["kinds"][0]
f = g = int(sys.argv[2]) + 58
rate, response, length = kind["rate_bps"], kind["response_ps"], kind["length_m"]
assert kind["frame_bytes"] == f
time = 2 * kind["delay_ps"] + response
X = Fraction(rate * time, 8 * 10**12) + f + g + 108
frames = math.ceil(X / (f + 24))
for key, value in [("headroom_bytes", f * frames), ("headroom_closed_form_bytes", f * frames),
                   ("reserve_bytes", f * (frames - 1)), ("reserve_closed_form_bytes", f * (frames - 1)),
                   ("xoff_bytes", f * math.ceil(50000 / (f - 58)))]:
    assert kind[key] == value, (key, kind[key], value)
T = math.ceil(X) - 1
n = T // (f + 24)
assert kind["least_bytes"] == f + max(n * f, T - 24 * (n + 1))
sizes = range(f, 61, -4)
worst = max(s * math.ceil((X - f + s) / (s + 24)) for s in sizes)
assert kind["worst_frame_headroom_bytes"] == worst <= kind["least_bytes"], (worst, kind["least_bytes"])
sum_ = 9100 + 2 * length * rate / 1e6 * 1e9 / 198e6 / 8192 + 819.2 + response / 1e12 * rate / 8
assert kind["vendor_bytes"] == math.ceil((1024 + sum_ * 144 / 64) / 1024) * 1024
assert kind["safe"] == (kind["configured_bytes"] >= kind["least_bytes"])
END
done

# An imported fabric: one port of the spine has a profile of 5 m and a cable of 300 m.
mkdir "$work/fabric"
for switch in leaf1 leaf2 spine1; do
    python3 - "$switch" <<'END' >"$work/fabric/$switch.json"
import json, sys
name = sys.argv[1]
peers = {"leaf1": ["spine1"], "leaf2": ["spine1"], "spine1": ["leaf1", "leaf2"]}[name]
config = {"DEVICE_METADATA": {"localhost": {"hostname": name}}, "PORT": {}, "CABLE_LENGTH": {"AZURE": {}},
          "DEVICE_NEIGHBOR": {}, "BUFFER_PG": {}, "PORT_QOS_MAP": {},
          "BUFFER_POOL": {"ingress_lossless_pool": {"size": "16000000", "type": "ingress",
                                                    "mode": "dynamic"}},
          "BUFFER_PROFILE": {
              "pg_lossless_100000_5m_profile": {"xon": "19456", "xoff": "48000", "size": "67456",
                                                "dynamic_th": "-1", "pool": "ingress_lossless_pool"},
              "pg_lossless_100000_300m_profile": {"xon": "19456", "xoff": "90000", "size": "109456",
                                                  "dynamic_th": "-1", "pool": "ingress_lossless_pool"}}}
for i in range(4):
    port = f"Ethernet{4 * i}"
    far = i < len(peers)
    up = far or name != "spine1"
    config["PORT"][port] = {"speed": "100000", "admin_status": "up" if up else "down"}
    wrong = name == "spine1" and i == 1
    config["CABLE_LENGTH"]["AZURE"][port] = "300m" if far else "5m"
    profile = "pg_lossless_100000_300m_profile" if far and not wrong else "pg_lossless_100000_5m_profile"
    config["BUFFER_PG"][f"{port}|3-4"] = {"profile": profile}
    config["PORT_QOS_MAP"][port] = {"pfc_enable": "3,4"}
    if far:
        config["DEVICE_NEIGHBOR"][port] = {"name": peers[i], "port": "Ethernet0" if name == "spine1" else
                                           f"Ethernet{4 * (int(name[4]) - 1)}"}
print(json.dumps(config))
END
done
rocesim import "$work/fabric" -o "$work/fabric.yaml" >"$work/said" 2>&1 || fail "import: $(cat "$work/said")"
rocesim headroom "$work/fabric.yaml" -o "$work/profiles" --json >"$work/out.json" 2>"$work/said"
status=$?
[ $status -eq 1 ] || fail "status $status: $(cat "$work/said")"
python3 - "$work" <<'END' || fail "imported: $(cat "$work/out.json")"
import json, sys
found = json.load(open(sys.argv[1] + "/out.json"))
assert [u["port"] for u in found["unsafe"]] == ["spine1->leaf2"], found["unsafe"]
unsafe = found["unsafe"][0]
least = found["kinds"][unsafe["kind"]]["least_bytes"]
assert unsafe["configured_bytes"] == 48000 and unsafe["lacks_bytes"] == least - 48000
profiles = json.load(open(sys.argv[1] + "/profiles/spine1.json"))["BUFFER_PROFILE"]
profile = profiles["pg_lossless_100000_300m_profile"]
assert int(profile["xoff"]) == least and int(profile["size"]) == int(profile["xon"]) + least
assert profile["dynamic_th"] == "-1" and profile["pool"] == "ingress_lossless_pool"
config = json.load(open(sys.argv[1] + "/fabric/spine1.json"))
config["BUFFER_PROFILE"].update({"pg_lossless_100000_300m_profile": profile})
config["BUFFER_PG"]["Ethernet4|3-4"]["profile"] = "pg_lossless_100000_300m_profile"
json.dump(config, open(sys.argv[1] + "/fabric/spine1.json", "w"))
END
rocesim import "$work/fabric" -o "$work/fabric.yaml" >"$work/said" 2>&1 || fail "import: $(cat "$work/said")"
rocesim headroom "$work/fabric.yaml" >"$work/said" 2>&1 ||
    fail "the corrected profile is unsafe: $(cat "$work/said")"

# Lists: each length with each response time is a kind; a port is named once. Cells: each frame takes whole
# ones, and the least for mixed sizes is the optimum of a knapsack, which a recursion finds again here.
rocesim headroom "$work/port.yaml" --length 5m,300m --response 0ns,1us --cell 254B --mtu 1024 --json \
    -o "$work/lists" >"$work/out.json" 2>"$work/said"
[ $? -le 1 ] || fail "lists: $(cat "$work/said")"
python3 - "$work" <<'END' || fail "lists and cells: $(cat "$work/out.json")"
import json, sys
from fractions import Fraction
from math import ceil
found = json.load(open(sys.argv[1] + "/out.json"))
assert sorted((k["length_m"], k["response_ps"]) for k in found["kinds"]) == [
    (5, 0), (5, 10**6), (300, 0), (300, 10**6)]
assert len({u["port"] for u in found["unsafe"]}) == len(found["unsafe"])
f, cell = 1082, 254
cells = lambda size: ceil(size / cell) * cell
for kind in found["kinds"]:
    X = Fraction(kind["rate_bps"] * (2 * kind["delay_ps"] + kind["response_ps"]), 8 * 10**12) + 2 * f + 108
    assert kind["headroom_bytes"] == kind["headroom_closed_form_bytes"] == cells(f) * ceil(X / (f + 24))
    T = ceil(X) - 1
    items = [(max((k - 1) * cell + 1, 62) + 24, k * cell) for k in range(1, ceil(f / cell) + 1)]
    sums = [0] * (T + 1)
    for t in range(1, T + 1):
        sums[t] = max([sums[t - 1]] + [sums[t - w] + v for w, v in items if w <= t])
    assert kind["least_bytes"] == sums[T] + cells(f), (kind, sums[T])
profiles = json.load(open(sys.argv[1] + "/lists/switch0.json"))["BUFFER_PROFILE"]
for length in (5, 300):
    worst = max(k["least_bytes"] for k in found["kinds"] if k["length_m"] == length)
    assert int(profiles[f"pg_lossless_100000_{length}m_profile"]["xoff"]) == worst
END

refused() { # TEXT ARGUMENT...
    rocesim headroom "${@:2}" >"$work/said" 2>&1
    [ $? -eq 2 ] && grep -q -- "$1" "$work/said" || fail "${*:2}: $(cat "$work/said")"
}
refused 'expected a time up to 1 ms' "$work/port.yaml" --response 2ms
refused 'expected metres' "$work/port.yaml" --length 3km
refused 'expected 256, 512, 1024, 2048 or 4096, or' "$work/port.yaml" --mtu 1500
refused 'expected bytes' "$work/port.yaml" --burst lots
refused 'expected bytes from 1 to 4096' "$work/port.yaml" --cell 0B
refused "'4km', expected metres" "$work/port.yaml" --length 5m,4km
rocesim headroom "$work/port.yaml" --set switch.pfc.enabled=off >"$work/said" 2>&1 ||
    fail "without lossless classes: $(cat "$work/said")"
exit $((failures > 0))
