#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/cli/test_cli_expect.sh - `rocesim expect`: expectations, exit statuses, JUnit.
#
# Goal: each operator accepts and refuses what it should at its limits; short names, sums and fields
# of the only application are found; an unknown value, a wrong file and a refused scenario end with
# status 2, a missed expectation and a stall with 1; the report is XML with the counts of the outcomes.
# Method: expectations on a run with known results. Rerun:
# ctest --test-dir build/release -R '^test_cli_expect$' --output-on-failure
set -u
. tests/script.sh
root=$PWD
cd "$work" || exit 1
cp "$root/scenarios/quickstart.yaml" base.yaml

# expects STATUS TEXT EXPECTATION...: a file with the expectations ends with a status and says a text.
expects() {
    local status=$1 text=$2
    shift 2
    printf 'scenario: base.yaml\nexpect:\n' >file.yaml
    printf -- '  - "%s"\n' "$@" >>file.yaml
    "$ROCESIM" expect file.yaml --junit junit.xml >said 2>&1
    local got=$?
    [ $got = "$status" ] || fail "$*: status $got, not $status: $(cat said)"
    grep -qF -- "$text" said || fail "$*: does not say $text: $(cat said)"
}

"$ROCESIM" run base.yaml --json --quiet >summary.json || fail "run"
count=$(sed -n '/^  "flows": {/,/}/s/^    "count": \([0-9]*\),/\1/p' summary.json | head -n 1)
[ -n "$count" ] || fail "no count of flows in summary.json"
expects 0 ok "flows.count == $count" "flows.count <= $count" "flows.count >= $count" \
    "flows.count < $((count + 1))" "flows.count > $((count - 1))" "flows.count != 0" \
    "flows.count within 0 of $count" "flows.count within 10 % of $count" "ended == done" \
    "ended != stalled" "drops == 0" "pauses == 0" "conservation.ok == true" "transfers_done == $count"
[ "$(grep -c '<testcase' junit.xml)" = 15 ] || fail "junit: $(cat junit.xml)"
grep -q 'failures="0" errors="0"' junit.xml || fail "junit: $(cat junit.xml)"
for wrong in "flows.count < $count" "flows.count > $count" "flows.count != $count" "ended == stalled" \
    "flows.count within 1 of $((count + 2))" "flows.count == word"; do
    expects 1 FAIL "$wrong"
    grep -q 'failures="1" errors="0"' junit.xml || fail "$wrong: $(cat junit.xml)"
done
if command -v python3 >/dev/null; then
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' junit.xml || fail "junit is no XML"
fi
expects 2 UNKNOWN "flows.nothing == 0"
grep -q 'failures="0" errors="1"' junit.xml || fail "unknown: $(cat junit.xml)"
expects 2 'is no expectation' "flows.count"
expects 2 'is no expectation' "flows.count < many"
expects 2 'is no expectation' "flows.count within 3"
expects 2 'is no expectation' "flows.count < 3us"

# -- files
printf 'scenario: base.yaml\nexpekt: [drops == 0]\n' >file.yaml
"$ROCESIM" expect file.yaml >said 2>&1
[ $? = 2 ] && grep -q "'expect'" said || fail "a wrong key: $(cat said)"
printf 'scenario: base.yaml\nset: {nic.mtu: 17}\nexpect: [drops == 0]\n' >file.yaml
"$ROCESIM" expect file.yaml >said 2>&1
[ $? = 2 ] && grep -q 'nic.mtu' said || fail "a refused scenario: $(cat said)"
printf 'scenario: pfc-deadlock\nexpect: [drops == 0]\n' >stalls.yaml
printf 'scenario: pfc-deadlock\nexpect: [ended == stalled]\n' >may-stall.yaml
"$ROCESIM" expect stalls.yaml >said 2>&1
[ $? = 1 ] && grep -q 'stalled' said || fail "a stall: $(cat said)"
"$ROCESIM" expect may-stall.yaml >said 2>&1 || fail "a stall that is expected: $(cat said)"
"$ROCESIM" expect "$root/examples/ci/fabric.yaml" file.yaml -o kept >said 2>&1
[ $? = 2 ] && [ -f 'kept/rails carry the all-reduce/summary.json' ] || fail "two files: $(cat said)"

# -- the page's examples
awk '/^```yaml/ { n++; f = "page" n ".yaml"; next } /^```/ { f = ""; next } f { print >f }' \
    "$root/docs/formats/expect.md"
"$ROCESIM" expect page1.yaml page2.yaml >said 2>&1 || fail "the page's examples: $(cat said)"

# -- with a plug-in
printf 'scenario: base.yaml\nset: {nic.congestion-control: halve}\nexpect: [ended == done]\n' >plugin.yaml
XDG_CACHE_HOME=$PWD/cache "$ROCESIM" expect plugin.yaml --plugin "$root/examples/plugins/halve.c" \
    >said 2>&1 ||
    fail "--plugin: $(cat said)"

exit $((failures > 0))
