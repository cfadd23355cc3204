#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_plugins.sh - plug-ins: files of C whose parts scenarios choose by name.
#
# labels: plain
# Goal: every kind of row works from a file of C and from an object, on the command line and in a scenario;
# its attributes are known to params, check, schema and settings; results name the file and its hash; a file
# that changed, another version, another layout and an object that is none are refused with a sentence; the
# compiler runs once for each content; sweeps, ranks and fast-forward know plug-ins.
# Method: the examples in examples/plugins, and tests/world/plugin_kinds/kinds.c for the other kinds. The
# cache of objects is a scratch folder.
# Not pinned: --plugin-limits (test_plugin_limits.sh); the page CONTRIBUTING.md (test_contributing.sh).
# Rerun: ctest --test-dir build/release -R '^test_plugins$' --output-on-failure
set -u
. tests/script.sh
export XDG_CACHE_HOME="$work/cache"
plugins=examples/plugins
star="$work/star.yaml"
cat >"$star" <<'END'
topology: {star: {hosts: 4}}
traffic: [incast: {senders: 3, bytes: 500KB, to: host0}]
END

# same NAME A B, other NAME A B: the digests of two runs
digest() {
    "$ROCESIM" run "$@" --json >"$work/json" 2>"$work/said" || { cat "$work/said" >&2; return 1; }
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["digest"])' "$work/json"
}
other() { [ -n "$2" ] && [ -n "$3" ] && [ "$2" != "$3" ] || fail "$1: the digests are '$2' and '$3'"; }
same() { [ -n "$2" ] && [ "$2" = "$3" ] || fail "$1: the digests are '$2' and '$3'"; }

# refused TEXT ARGUMENT...: the command ends with 2, and its message has the text.
refused() {
    local text=$1 status=0
    shift
    "$ROCESIM" "$@" >"$work/said" 2>&1 || status=$?
    [ $status -eq 2 ] && grep -qF -- "$text" "$work/said" ||
        fail "rocesim $*: status $status, expected 2 and '$text': $(cat "$work/said")"
}

# -- one row of each kind changes what happens, and so does its attribute
halve=(--plugin $plugins/halve.c --set nic.congestion-control=halve)
before=$(digest "$star")
plain=$(digest "$star" "${halve[@]}")
other "halve" "$before" "$plain"
other "nic.halve.factor" "$plain" "$(digest "$star" "${halve[@]}" --set nic.halve.factor=0.9)"

cat >"$work/parts.yaml" <<END
plugins: [$PWD/$plugins/parts.c]
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2}}
traffic: [flows: {list: [host0 host2 300KB 0us, host1 host3 300KB 0us]}]
END
without=$(digest "$work/parts.yaml")
for set in network.load-balancer=deal switch.marking=each nic.model=late; do
    other "$set" "$without" "$(digest "$work/parts.yaml" --set $set)"
done
same "twice is go-back-N" "$without" "$(digest "$work/parts.yaml" --set nic.transport=twice)"
all=(--set network.load-balancer=deal --set switch.marking=each)
all+=(--set nic.model=late --set nic.transport=twice)
with=$(digest "$work/parts.yaml" "${all[@]}")
for set in network.deal.burst=7 network.each.every=3 nic.late.delay=5us; do
    other "$set" "$with" "$(digest "$work/parts.yaml" "${all[@]}" --set $set)"
done
refused "did you mean 'burst'" check "$work/parts.yaml" --set network.deal.bursts=7
detailed=(--plugin $plugins/parts.c --set nic.model=detailed)
other "store" "$(digest "$star" "${detailed[@]}")" \
    "$(digest "$star" "${detailed[@]}" --set nic.detailed.store=dear --set nic.dear.cost=9us)"
cat >"$work/cache.yaml" <<'END'
topology: {star: {hosts: 2}}
nic: {model: detailed, cache: {policy: lru, l1: {entries: 9}}}
traffic: [contexts: {tokens: 64, operations: 2000}]
END
other "policy" "$(digest "$work/cache.yaml")" \
    "$(digest "$work/cache.yaml" --plugin $plugins/parts.c --set nic.cache.policy=stack)"
other "scheduler" "$(digest $plugins/shortest.yaml)" \
    "$(digest $plugins/shortest.yaml --set nic.scheduler=ring)"
other "node kind" "$(digest $plugins/inspector.yaml)" \
    "$(digest $plugins/inspector.yaml --set node.inspector.time=1us)"
kinds=tests/world/plugin_kinds/kinds.yaml
kind=$(digest $kinds)
other "topology" "$kind" "$(digest $kinds --set topology.chain.hosts=5)"
other "application" "$kind" "$(digest $kinds --set traffic[0].once.bytes=2MB)"
squeezed=(--set 'traffic[0].once.bytes=2MB')
squeezed+=(--set 'links={"switch2--switch3": {rate: 25Gbps}}')
other "buffer" "$(digest $kinds "${squeezed[@]}")" \
    "$(digest $kinds "${squeezed[@]}" --set network.plain.limit=20KB)"

# -- attributes are known everywhere
known=(--plugin $plugins/halve.c)
"$ROCESIM" params nic.halve "${known[@]}" | grep -q "share of the rate that remains" || fail "params"
"$ROCESIM" params nic.congestion-control "${known[@]}" | grep -q " halve;" || fail "params: choices"
"$ROCESIM" schema scenario "${known[@]}" | grep -q '"halve"' || fail "schema"
"$ROCESIM" check "$star" "${halve[@]}" | grep -q "congestion control halve" || fail "check"
refused "nic.halve.factor: 2 is out of range" run "$star" "${halve[@]}" --set nic.halve.factor=2
refused "expected one of" run "$star" --set nic.congestion-control=halve

# -- results name the plug-in, and scenario.yaml runs again until the plug-in changes
cp $plugins/halve.c "$work/mine.c"
mine=(--plugin "$work/mine.c" --set nic.congestion-control=halve)
"$ROCESIM" run "$star" "${mine[@]}" -o "$work/out" >/dev/null 2>&1 || fail "run -o"
hash=$(sha256sum "$work/mine.c" | cut -d ' ' -f 1)
grep -q "\"sha256\": \"$hash\"" "$work/out/summary.json" || fail "summary.json has not the hash $hash"
same "scenario.yaml" "$plain" "$(digest "$work/out/scenario.yaml")"
"$ROCESIM" explain "$work/out" >/dev/null || fail "explain"
"$ROCESIM" compare "$work/out" "$work/out" | grep -q mine.c || fail "compare does not name the plug-in"
sed -i 's/never less than 1 %/never below 1 %/' "$work/mine.c"
refused "has changed since this scenario was written" run "$work/out/scenario.yaml"

# -- the compiler runs once for each content of all files that it reads
cat >"$work/cc" <<'END'
#!/bin/sh
echo . >>"${0%/*}/compiled"
exec cc "$@"
END
chmod +x "$work/cc"
compiled() { wc -l <"$work/compiled"; }
sed 's,"1/2",FACTOR,; s,#include "world/plugin.h",&\n#include "factor.h",' $plugins/halve.c >"$work/own.c"
own=(--plugin "$work/own.c" --set nic.congestion-control=halve)
echo '#define FACTOR "1/2"' >"$work/factor.h"
same "header, first" "$plain" "$(CC="$work/cc" digest "$star" "${own[@]}")"
same "header, again" "$plain" "$(CC="$work/cc" digest "$star" "${own[@]}")"
[ "$(compiled)" -eq 1 ] || fail "the compiler ran $(compiled) times for one content"
echo '#define FACTOR "9/10"' >"$work/factor.h"
other "header, changed" "$plain" "$(CC="$work/cc" digest "$star" "${own[@]}")"
echo '#define FACTOR "1/2"' >"$work/factor.h"
same "header, as before" "$plain" "$(CC="$work/cc" digest "$star" "${own[@]}")"
[ "$(compiled)" -le 3 ] || fail "the compiler ran $(compiled) times for two contents"

# -- objects, versions and what is none
object() { cc -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off -fPIC -shared -I . "$@"; }
object $plugins/halve.c -o "$work/halve.so" || fail "an object does not compile"
same "object" "$plain" "$(digest "$star" --plugin "$work/halve.so" --set nic.congestion-control=halve)"
instead() { sed "s/^WORLD_PLUGIN\$/#undef $1\n#define $1 $2\n&/" $plugins/halve.c; }
instead WORLD_PLUGIN_VERSION 0u >"$work/old.c"
refused "compile it again with the headers of this program" check "$star" --plugin "$work/old.c"
instead WORLD_PLUGIN_LAYOUT 1u >"$work/old.c"
refused "compile it again with the headers of this program" check "$star" --plugin "$work/old.c"
refused "there is no such plug-in" check "$star" --plugin "$work/nothing.c"
echo 'int x;' >"$work/none.c"
refused "no symbol rocesim_plugin" check "$star" --plugin "$work/none.c"
echo 'int x = ;' >"$work/wrong.c"
refused "wrong.c:1:9: error" check "$star" --plugin "$work/wrong.c"
cp "$star" "$work/text.so"
refused "cannot be loaded" check "$star" --plugin "$work/text.so"
sed 's/"halve", sizeof/"dcqcn", sizeof/' $plugins/halve.c >"$work/taken.c"
refused "there is a congestion control 'dcqcn' already" check "$star" --plugin "$work/taken.c"
CC=no-compiler refused "there is no compiler 'no-compiler'" check "$star" --plugin $plugins/shortest.c
ROCESIM_PLUGIN_FOLDER="" refused "plug-ins are not allowed here" check "$star" "${halve[@]}"
mkdir "$work/allowed"
ROCESIM_PLUGIN_FOLDER="$work/allowed" refused "the only folder" check "$star" "${halve[@]}"
cp "$work/halve.so" "$work/allowed/"
printf 'plugins: [halve.so]\nnic: {congestion-control: halve}\n' | cat - "$star" >"$work/named.yaml"
same "allowed folder" "$plain" "$(ROCESIM_PLUGIN_FOLDER="$work/allowed" digest "$work/named.yaml")"
refused "plugins is a mapping, expected a list of files" check "$star" --set 'plugins={a: b}'

# -- fast-forward knows no state that a plug-in does not declare
refused "fast-forward does not know the state of 'halve'" check "$star" "${halve[@]}" \
    --set fast-forward.mode=exact

# -- sweeps
cat >"$work/sweep.yaml" <<END
scenario: star.yaml
grid: {nic.congestion-control: [halve, dcqcn]}
END
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/sweep" --quiet --plugin $plugins/halve.c >"$work/said" 2>&1 ||
    fail "sweep: $(cat "$work/said")"
[ "$(find "$work/sweep/runs" -name summary.json | wc -l)" -eq 2 ] || fail "the sweep has not two results"

exit $((failures > 0))
