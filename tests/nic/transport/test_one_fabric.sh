# SPDX-License-Identifier: Apache-2.0
# tests/nic/transport/test_one_fabric.sh - hosts of RoCE and of Ultra Ethernet on one fabric.
#
# Goal: in classes of their own, both deliver everything: RoCE's class is lossless and pauses, Ultra
# Ethernet's is trimmed and never drops. In one class, packets of RoCE are dropped where those of Ultra
# Ethernet are trimmed, and both deliver everything, too. Digests are equal on 1, 2 and 4 threads.
# Method: scenarios/uec/coexist.yaml with short transfers. Each row is a set of transports.
# Ultra Ethernet and MRC share a class evenly (scenarios/uec/three.yaml).
# Not pinned: how much of the link RoCE gets (docs/models/uec.md).
. tests/script.sh
program=$ROCESIM
scenario=scenarios/uec/coexist.yaml

# run NAME OPTIONS...
run() {
    within 20 "$program" run $scenario -o "$work/$1" --quiet --set bytes=500KB --set switch.buffer=2MB \
        "${@:2}" >"$work/$1.txt" 2>&1 ||
        fail "$1: $(tail -1 "$work/$1.txt")"
    python3 - "$work/$1" >"$work/$1.facts" <<'PY'
import json, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
print("digest", summary["digest"])
print("completed", summary["flows"]["completed"])
print("dropped", summary["packets"]["dropped"])
print("trimmed", summary["trimmed"])
print("pauses", summary["pfc"]["pause_frames"])
print("delivered", summary["flows"]["delivered_bytes"])
PY
}
# value NAME FACT
value() { sed -n "s/^$2 \([^ ]*\).*/\1/p" "$work/$1.facts"; }

for ways in uec-rud uec-rod; do
    for classes in apart same; do
        name=$ways-$classes
        for threads in 1 2 4; do
            run "$name-$threads" --set classes=$classes --threads $threads --set control=none \
                --set "nodes.host[4-7].nic.transport=$ways" --set "nodes.host[12-15].nic.transport=$ways"
            [ "$(value "$name-$threads" digest)" = "$(value "$name-1" digest)" ] ||
                fail "$name: $threads threads have another digest"
        done
        [ "$(value "$name-1" completed)" = 8 ] && [ "$(value "$name-1" delivered)" = 4000000 ] ||
            fail "$name: $(value "$name-1" completed) flows, $(value "$name-1" delivered) bytes are complete"
        [ "$(value "$name-1" trimmed)" -gt 0 ] || fail "$name: nothing was trimmed"
    done
    [ "$(value "$ways-apart-1" pauses)" -gt 0 ] || fail "$ways: RoCE's class was never paused"
    [ "$(value "$ways-apart-1" dropped)" = 0 ] || fail "$ways: packets were dropped in classes of their own"
    [ "$(value "$ways-same-1" dropped)" -gt 0 ] || fail "$ways: RoCE lost nothing in one class"
done

# Ultra Ethernet and MRC have the same window, so they share a class evenly.
within 20 "$program" run scenarios/uec/three.yaml -o "$work/three" --quiet --set classes=same \
    >"$work/three.txt" 2>&1 || fail "three: $(tail -1 "$work/three.txt")"
python3 - "$work/three/flows.csv" <<'PY' || fail "Ultra Ethernet and MRC do not share evenly"
import csv, sys
times = [float(row["fct_ns"]) for row in csv.DictReader(open(sys.argv[1]))]
uec, mrc = sum(times[4:8]), sum(times[8:12])
print(f"{uec / 4e6:.2f} and {mrc / 4e6:.2f} ms")
sys.exit(not 0.85 < uec / mrc < 1.15)
PY
exit $((failures > 0))
