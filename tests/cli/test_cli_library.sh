#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/cli/test_cli_library.sh - scenarios by name: list, show, new, and a name wherever a scenario is taken.
#
# Goal: every scenario of the library is listed with its question and a measured time, loads, and is
# found by its name from any folder; a file of the same name wins; a wrong name says which ones are
# similar; a copy runs to the same digest and is never written over a file.
# Method: the program in the tree and as an installation, whose folder has only the program and the
# scenarios. What it does not pin: how long scenarios take (costs.csv has measured times).
# Rerun: ctest --test-dir build/release -R '^test_cli_library$' --output-on-failure
set -u
. tests/script.sh
root=$PWD
cd "$work" || exit 1

# expect_said STATUS TEXT ARGUMENT...: the program ends with a status and says a text.
expect_said() {
    local status=$1 text=$2
    shift 2
    "$ROCESIM" "$@" >said 2>&1
    local got=$?
    [ $got = "$status" ] || fail "$*: status $got, not $status: $(head -n 3 said)"
    grep -qF -- "$text" said || fail "$*: says $(head -n 3 said), not: $text"
}

# -- the list
"$ROCESIM" list >list || fail "list"
"$ROCESIM" list --json >list.json || fail "list --json"
[ "$(grep -c '"kind": "scenario"' list.json)" -gt 40 ] || fail "the list is short: $(wc -l <list)"
awk '!NF { exit } $2 == "-" || NF < 5' list >poor
[ ! -s poor ] || fail "without a time in scenarios/costs.csv or without a question: $(cat poor)"
cut -d, -f1 "$root/scenarios/costs.csv" | sort >priced
awk '!NF { exit } { print $1 }' list | sort >listed
cmp -s priced listed || fail "scenarios/costs.csv and the list differ: $(diff priced listed)"
while read -r name; do
    "$ROCESIM" params "$name" >said 2>&1 || fail "params $name: $(head -n 2 said)"
done <listed
[ "$("$ROCESIM" list storm | awk '{ print $1 }')" = pfc-storm ] || fail "list storm: $("$ROCESIM" list storm)"

# -- names
expect_said 0 'quickstart: ok' check quickstart
expect_said 0 '64 GPUs' run collective --set bytes=1MiB --quiet
expect_said 0 'bound ' run collective --set bytes=1MiB --quiet
expect_said 0 'times their ideal time' run collective --set bytes=1MiB --set gpus=16 --explain
expect_said 0 'host6 is a slow receiver' run slow-receiver --explain
expect_said 0 'graph' topo leaf-spine
expect_said 2 "did you mean 'training/gpt'" run training/gtp
expect_said 2 "did you mean 'training/gpt'" check gpt
expect_said 2 'it is a study' run fabrics/modes
expect_said 2 'rocesim list prints' run no-such-thing-at-all
expect_said 2 'No such file' run missing.yaml
expect_said 0 'fabrics/run modes' show fabrics/modes
expect_said 0 '"gpus"' show training/gpt --json
expect_said 0 'gpus = 64' params training/gpt
"$ROCESIM" show quickstart | cmp -s - "$root/scenarios/quickstart.yaml" || fail "show is not the file"
# A file wins over the library, a folder does not.
mkdir collective && expect_said 0 '"mean_us"' run collective --set bytes=1MiB --json
printf 'seed: 1\nname: mine\ntopology: {star: {hosts: 2}}\n' >quickstart
expect_said 0 'no traffic' run quickstart

# -- copies
expect_said 0 'my.yaml' new training/ring my.yaml
[ -f ring8.goal ] || fail "the file that training/ring reads was not copied"
cmp -s my.yaml "$root/scenarios/training/ring.yaml" || fail "the copy differs"
one=$("$ROCESIM" run my.yaml | grep digest)
[ "$one" = "$("$ROCESIM" run training/ring | grep digest)" ] || fail "the copy has another digest: $one"
expect_said 2 'exists' new quickstart my.yaml
mkdir other && echo other >other/ring8.goal
expect_said 2 'another file' new training/ring other/my.yaml

# -- sweeps know names
printf 'scenario: leaf-spine\nset: {until: 10us}\nseeds: 2\n' >sweep.yaml
expect_said 0 '' sweep sweep.yaml -o swept -j 1 --quiet

# -- an installation
mkdir -p usr/bin usr/share/rocesim
ln "$ROCESIM" usr/bin/rocesim 2>/dev/null || cp "$ROCESIM" usr/bin/rocesim
cp -r "$root/scenarios" usr/share/rocesim/
usr/bin/rocesim list --json | grep -qF "$work/usr/share/rocesim/scenarios/training/gpt.yaml" ||
    fail "the installed scenarios are not found: $(usr/bin/rocesim list | head -n 2)"
ROCESIM_SCENARIOS=$work/none expect_said 2 'ROCESIM_SCENARIOS' list

# -- completion
source <("$ROCESIM" help --completion bash)
compopt() { :; }
PATH=$(dirname "$ROCESIM"):$PATH
COMP_WORDS=(rocesim run training/g) COMP_CWORD=2
_rocesim rocesim training/g run
[ "${COMPREPLY[*]}" = training/gpt ] || fail "run training/g: ${COMPREPLY[*]}"
COMP_WORDS=(rocesim run training/gpt --set gp) COMP_CWORD=4
_rocesim rocesim gp --set
[ "${COMPREPLY[*]}" = gpus= ] || fail "--set gp: ${COMPREPLY[*]}"
exit $((failures > 0))
