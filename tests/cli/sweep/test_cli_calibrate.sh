#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_cli_calibrate.sh - rocesim calibrate, and scenarios that include its constants.
#
# Goal: constants that made the points are found again from afar, within their stated error; what no point
# depends on is told as unknown, as are two of which the points know the sum alone; held points are predicted
# and not fitted to; the file that is written gives the same run as --set, by scenario and by command, and
# --set stands over it; HERD's files say what the program has by default; mistakes are told with their place.
# Method: HERD with a service model whose times are known, runs of a few hundred requests.
# Does not pin: how many runs it takes.
set -u
. tests/script.sh
start_forks

cat >"$work/base.yaml" <<'END'
topology: {star: {hosts: 5, rate: 100Gbps, delay: 300ns}}
parameters: {workers: "traffic[0].herd.workers", put: "traffic[0].herd.update-percentage"}
nic: {congestion-control: none}
traffic:
  - herd: {server: host0, clients: 8, workers: 1, keys: 5000, service: model, requests: 500, window: 4,
           postlist: 4, ports: 1, permutation: false, cpu: {look: 1ns}}
END
get='traffic[0].herd.model.get'
put='traffic[0].herd.model.put'
mops() { # FILE OPTIONS...
    rocesim run "$@" --quiet --json | sed -n 's/^ *"mops": \([0-9.]*\),$/\1/p' | head -n 1
}
digest() { rocesim run "$@" --quiet --json | sed -n 's/^ *"digest": "\(.*\)",$/\1/p'; }
truth() { mops "$work/base.yaml" --set "$get=150ns" --set "$put=70ns" --set "workers=$1" --set "put=$2"; }
plan() { # EXTRA: constants besides
    cat <<END
scenario: base.yaml
constants:
  get: {path: "$get", unit: ns, from: 10, to: 500, note: "of \"one\" GET"}
  put: {path: ["$put"], unit: ns, from: 10, to: 500}
  overlap: {path: "traffic[0].herd.cpu.overlap", value: 3, origin: published}
$1
points:
  - {name: GETs, set: {workers: 1, put: 0}, column: "apps[0].mops", value: $(truth 1 0)}
  - {name: half, set: {workers: 1, put: 50}, column: "apps[0].mops", value: $(truth 1 50), error: 1%}
  - {name: PUTs, set: {workers: 1, put: 100}, column: "apps[0].mops", value: $(truth 1 100)}
  - {name: two workers, set: {workers: 2, put: 0}, column: "apps[0].mops", value: $(truth 2 0)}
  - {name: held one, set: {workers: 2, put: 100}, column: "apps[0].mops", value: 100, held: true}
END
}
plan "  spare: {path: \"traffic[0].herd.cpu.memory\", unit: ns, from: 10, to: 500}" >"$work/plan.yaml"
rocesim calibrate "$work/plan.yaml" -o "$work/constants.yaml" >"$work/said" 2>&1 ||
    fail "$(cat "$work/said")"
near() { # NAME VALUE
    awk -v name="$1" -v wanted="$2" '$1 == name { v = $2 + 0; found = v > 0.97 * wanted && v < 1.03 * wanted }
        END { exit !found }' "$work/said" || fail "$1 is not $2: $(cat "$work/said")"
}
near get 150
near put 70
grep -q '^  spare .*do not determine' "$work/said" || fail "what nothing depends on is told as known"
grep -q '^  overlap  *3  published' "$work/said" || fail "a kept constant is not told"
grep -q '^  held one .*held out' "$work/said" || fail "a held point is fitted to"
grep -q 'fit: 0\.[0-9]* % root' "$work/said" || fail "what made the points is no fit"

# The same run by --set, by the command's constants, by the scenario's.
value() { sed -n '/^'"$1"':/,/value/s/^  value: //p' "$work/constants.yaml"; }
expected=$(digest "$work/base.yaml" --set "$get=$(value get)" --set "$put=$(value put)" \
    --set "traffic[0].herd.cpu.memory=$(value spare)")
[ "$expected" != "$(digest "$work/base.yaml")" ] || fail "constants change nothing"
[ "$(digest "$work/base.yaml" --set "constants=$work/constants.yaml")" = "$expected" ] ||
    fail "--set constants"
mkdir "$work/there"
{ echo "constants: [../constants.yaml]" && cat "$work/base.yaml"; } >"$work/there/with.yaml"
[ "$(digest "$work/there/with.yaml")" = "$expected" ] || fail "a scenario's constants"
[ "$(digest "$work/there/with.yaml" --set "$get=40ns")" = \
    "$(digest "$work/base.yaml" --set "$get=40ns" --set "$put=$(value put)")" ] ||
    fail "--set is below constants"
grep -q 'origin: published' "$work/constants.yaml" && grep -q 'error: ' "$work/constants.yaml" ||
    fail "the file does not say origins and errors"

# Two whose sum alone is known.
plan "  base: {path: \"traffic[0].herd.model.batch\", unit: ns, from: 1, to: 100}" >"$work/sum.yaml"
rocesim calibrate "$work/sum.yaml" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
grep -q 'correlation' "$work/said" || fail "what stands for each other is not told: $(cat "$work/said")"

# HERD's own.
for card in connectx-3 connect-ib; do
    options=(scenarios/herd/herd.yaml --set "profile=$card" --set measure=20us --set warm_up=0s)
    [ $card = connectx-3 ] || options+=(--set rate=109.09Gbps) # two ports
    [ "$(digest "${options[@]}")" = \
        "$(digest "${options[@]}" --set "constants=scenarios/herd/constants/herd-$card.yaml")" ] ||
        fail "herd-$card.yaml is not what the program has"
done
rocesim calibrate scenarios/herd/constants/herd-figure-2.yaml >"$work/said" 2>&1 ||
    fail "$(cat "$work/said")"
grep -q '^  t_dma_read .*fitted, +-' "$work/said" || fail "figure 2: $(cat "$work/said")"
# What the profile and the scenario have is what the figure tells, and echoes of 64 bytes come out unasked.
awk '$1 == "propagation_us" { link = $2 - 130 } $1 == "t_answer" { answer = $2 - 520 }
     /^  ECHO 64 B/ { echo_percent = $6; held = /held out/ }
     END { exit !(link * link < 30 * 30 && answer * answer < 110 * 110 && held &&
                  echo_percent * echo_percent < 25) }' \
    "$work/said" || fail "figure 2 tells other constants: $(cat "$work/said")"

# refused WHAT SED-SCRIPT TEXT: plan.yaml changed
refused() {
    sed "$2" "$work/plan.yaml" >"$work/bad.yaml"
    rocesim calibrate "$work/bad.yaml" -o "$work/none" >"$work/said" 2>&1
    [ $? = 2 ] && [ ! -e "$work/none" ] && grep -q "$3" "$work/said" || fail "$1: $(cat "$work/said")"
}
refused "a column that is not there" 's/apps\[0\].mops", value: 100/apps[0].mopz", value: 100/' 'mopz'
refused "no value" 's/value: 100, //' "bad.yaml:[0-9]*:[0-9]*: a point has no 'value'"
refused "an unknown key" 's/held: true/hold: true/' "did you mean 'held'"
refused "from above to" 's/from: 10, to: 500, note/from: 10, to: 5, note/' "not below"
refused "a path that is not there" 's/model.get/model.gets/' "gets"
refused "fewer points than constants" '/GETs\|half\|two workers/d' 'points for'
cat >"$work/wrong.yaml" <<'END'
get: {path: "traffic[0].herd.model.get", value: 40ns, origin: guessed}
END
rocesim check "$work/base.yaml" --set "constants=$work/wrong.yaml" >"$work/said" 2>&1 &&
    fail "an origin that is none is taken"
grep -q 'wrong.yaml:1:.*origin' "$work/said" || fail "$(cat "$work/said")"

# With a plug-in, the plan may name its parts.
sed 's/^scenario: base.yaml$/&\nset: {nic.congestion-control: halve}/' "$work/plan.yaml" >"$work/with.yaml"
XDG_CACHE_HOME=$work/cache "$ROCESIM" calibrate "$work/with.yaml" --plugin examples/plugins/halve.c \
    >"$work/said" 2>&1 || fail "--plugin: $(cat "$work/said")"

exit $((failures > 0))
