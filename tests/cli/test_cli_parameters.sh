#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Goal: a scenario's parameters are short names for --set, of one path or several; those of the
# long form have values, are computed from one another and choose sections.
# Method: values set by name are in the resolved scenario where the paths say, and leave everything
# else alone; names that are no parameter are still paths; what is no path is refused. A run of the
# resolved scenario has the same digest. Overrides of paths and constants replace chosen sections.
# Does not pin: the wording of messages beyond the word at fault.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/a.yaml" <<'YAML'
parameters:
  machines: topology.star.hosts
  both: [nic.mtu, "traffic[0].perftest.tx-depth"]
topology:
  star: {hosts: 2}
traffic:
  - perftest: {iterations: 10}
YAML
fail() {
    echo "test_cli_parameters: $*; rerun: ctest --test-dir build/release -R test_cli_parameters"
    exit 1
}
run() {
    "$ROCESIM" run "$scratch/a.yaml" --quiet -o "$scratch/out" "$@" >/dev/null 2>"$scratch/err"
}
has() {
    grep -qE "^ *(- )?$1\$" "$scratch/out/scenario.yaml" || fail "$1 is not in the scenario"
}
run --set machines=5 --set both=512 --set nic.dscp=7 || fail "$(cat "$scratch/err")"
has "hosts: 5"
has "mtu: 512"
has "tx-depth: 512"
has "dscp: 7"
has "iterations: 10"
run --set machines=many && fail "a machine count of 'many' was accepted"
grep -q many "$scratch/err" || fail "the message does not show the value"
run --set machine=5 && fail "a name that is no parameter and no path was accepted"
grep -q machine "$scratch/err" || fail "the message does not show the name"
for bad in 'machines: {a: 1}' 'machines: []' 'machines:'; do
    sed -i "s/^  machines:.*/  $bad/" "$scratch/a.yaml"
    run && fail "'$bad' was accepted"
    grep -q machines "$scratch/err" || fail "the message about '$bad' does not name it"
done

# -- the long form
cat >"$scratch/a.yaml" <<'YAML'
parameters:
  gpus: {default: 8, help: number of GPUs}
  per_node: {default: 4}
  racks: {default: $(gpus / per_node)}
  size: {default: 64KiB}
  classes: {default: [3, 4], path: switch.pfc.priorities}
  mtu: nic.mtu
  network:
    default: rail
    path: topology
    choose:
      rail:
        leaf-spine: {leaves: $(racks), spines: $(max(1, racks / 2)), hosts-per-leaf: $(per_node)}
      flat: {star: {hosts: $(gpus)}}
  cc:
    default: dcqcn
    choose:
      dcqcn: {nic: {congestion-control: dcqcn}, switch: {ecn: {kmin: $(2 * size)}}}
      none: {nic: {congestion-control: none}}
      default:
  pattern:
    default: all
    path: traffic
    choose:
      all: [permutation: {bytes: $(size / per_node)}]
      incast: [incast: {to: host0, from: "host[1-$(gpus - 1)]", bytes: $(size)}]
      else: [permutation: {bytes: $(pattern)}]
link: {rate: 100Gbps}
switch: {ecn: {kmin: 1KB, kmax: 400KB}}
nic: {mtu: 2048}
observe:
  - {series: "port[host$(gpus - 1)->*].queue_bytes", every: $(gpus)us}
YAML
lacks() {
    grep -qE "^ *(- )?$1\$" "$scratch/out/scenario.yaml" && fail "$1 is in the scenario"
    return 0
}
run || fail "$(cat "$scratch/err")"
for line in "leaves: 2" "spines: 1" "hosts-per-leaf: 4" "priorities: \[3, 4\]" "bytes: 16KiB" "kmin: 128KiB" \
    "kmax: 400KB" "congestion-control: dcqcn" "every: 8us" "series: .*host7.*queue_bytes.*"; do
    has "$line"
done
grep -q "parameters" "$scratch/out/scenario.yaml" && fail "the resolved scenario has parameters"
first=$(grep '"digest"' "$scratch/out/summary.json")
"$ROCESIM" run "$scratch/out/scenario.yaml" --quiet -o "$scratch/again" >/dev/null 2>&1
[ "$first" = "$(grep '"digest"' "$scratch/again/summary.json")" ] ||
    fail "the resolved scenario has another digest"
run --set gpus=24 --set network=flat --set cc=none --set 'pattern=incast' --set 'classes=[5]' ||
    fail "$(cat "$scratch/err")"
for line in "hosts: 24" "congestion-control: none" "kmin: 1KB" "priorities: \[5\]" \
    'from: "?host\[1-23\]"?' "bytes: 64KiB"; do
    has "$line"
done
lacks "leaves: .*"
run --set pattern=7KB || fail "$(cat "$scratch/err")"
has "bytes: 7KB"
# A path replaces what a parameter put there, in whatever order they are given.
run --set topology.leaf-spine.spines=2 --set 'nic.mtu=$(gpus * 32)' --set gpus=16 --set switch.ecn.kmin=3KB ||
    fail "$(cat "$scratch/err")"
for line in "leaves: 4" "spines: 2" "mtu: 512" "kmin: 3KB"; do has "$line"; done
run --set 'parameters.gpus.default=24' || fail "$(cat "$scratch/err")"
has "leaves: 6"
cat >"$scratch/constants" <<'YAML'
gpus: {path: gpus, value: 4, origin: chosen}
leaves: {path: topology.leaf-spine.spines, value: 3, origin: chosen}
YAML
run --set "constants=$scratch/constants" || fail "$(cat "$scratch/err")"
has "leaves: 1"
has "spines: 3"
"$ROCESIM" check "$scratch/a.yaml" --set gpus=16 >"$scratch/check" || fail "check refuses it"
for line in "gpus: 16" "racks: 4" "network: rail (or flat)" "cc: dcqcn (or none, default)" \
    "classes: \[3, 4\]"; do
    grep -q " $line\$" "$scratch/check" || fail "check does not print '$line'"
done
"$ROCESIM" params "$scratch/a.yaml" >"$scratch/check" || fail "params refuses it"
for line in "gpus = 8" "    number of GPUs" "racks = 2" "mtu = 2048" "    path MTU: .*" "    sets nic.mtu" \
    "network = rail" "    one of rail, flat"; do
    grep -qx "$line" "$scratch/check" || fail "params does not print '$line': $(cat "$scratch/check")"
done
# A word is looked for in paths, in names that are accepted, and in meanings.
for pair in "kmin switch.ecn.kmin" "connectx-5 nic.profile" "websearch traffic.poisson.sizes"; do
    "$ROCESIM" params "${pair% *}" >"$scratch/check" || fail "params refuses ${pair% *}"
    grep -q "^${pair#* } = " "$scratch/check" || fail "params ${pair% *} does not print ${pair#* }"
done
run --set gpsu=16 && fail "a misspelt parameter was accepted"
grep -q "did you mean 'gpus'" "$scratch/err" || fail "no name is offered: $(cat "$scratch/err")"
run --set network=flta && fail "a misspelt choice was accepted"
grep -q "^--set network=flta: .*did you mean 'flat'" "$scratch/err" ||
    fail "no choice is offered: $(cat "$scratch/err")"
cat >"$scratch/sweep.yaml" <<'YAML'
scenario: a.yaml
grid: {network: [rail, flat], gpus: [4, 8]}
YAML
"$ROCESIM" sweep "$scratch/sweep.yaml" -o "$scratch/sweep" >/dev/null 2>"$scratch/err" ||
    fail "$(cat "$scratch/err")"
[ "$(grep -c ,done, "$scratch/sweep/runs.csv")" -eq 4 ] || fail "$(cat "$scratch/sweep/runs.csv")"
exit 0
