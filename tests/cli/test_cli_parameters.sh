#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Goal: a scenario's parameters are short names for --set, of one path or several.
# Method: values set by name are in the resolved scenario where the paths say, and leave everything
# else alone; names that are no parameter are still paths; what is no path is refused.
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
exit 0
