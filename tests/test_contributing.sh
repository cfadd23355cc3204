#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_contributing.sh - the code on the page CONTRIBUTING.md does what the page says, as it stands there.
#
# Goal: the plug-in "halve" has at most 40 lines and runs by the command of the page, so does its sweep, and
# with the parameters that the page adds; moved into the tree, it compiles with all warnings, and its place in
# nic_cc_all does not matter.
# Method: the blocks of the page are cut out by their indentation. Not pinned: the conformance test with
# halve, which takes minutes.
# Rerun: ctest --test-dir build/release -R '^test_contributing$' --output-on-failure
set -u
. tests/script.sh
export XDG_CACHE_HOME="$work/cache"

python3 - "$work" <<'END' || fail "the page has no such blocks"
import os, sys
page = open("CONTRIBUTING.md").read()

def block(after, indent):
    lines = []
    for line in page[page.index(after) + len(after) :].split("\n")[1:]:
        if line.strip() and not line.startswith(" " * indent):
            break
        lines.append(line[indent:])
    return "\n".join(lines).strip("\n") + "\n"

work = sys.argv[1]
code = block("Create `halve.c` in any folder:", 7)
open(work + "/halve.c", "w").write(code)
open(work + "/run", "w").write(block("After an edit, run it again:", 7))
open(work + "/compare", "w").write(block("Compare it with others:", 7))
open(work + "/halve-sweep.yaml", "w").write(block("where `halve-sweep.yaml` is", 7))
start, end = code.index("// Halves the rate,"), code.index("// Adds 1 %")
with_parameters = code[:start] + block("`cc->config`:", 4) + "\n" + code[end:]
with_parameters = with_parameters.replace(".cnp = ", ".attrs = &halve_attrs,\n    .cnp = ")
open(work + "/with.c", "w").write(with_parameters)
os.makedirs(work + "/nic/cc")
header = '#include "nic/congestion.h"\nextern const nic_cc_ops_t nic_cc_halve;\n'
open(work + "/nic/cc/halve.h", "w").write(header)
moved = code[: code.index("WORLD_PLUGIN\n")]
moved = moved.replace("static const nic_cc_ops_t halve", "const nic_cc_ops_t nic_cc_halve")
open(work + "/nic/cc/halve.c", "w").write(moved.replace("world/plugin.h", "nic/cc/halve.h"))
END
lines=$(wc -l <"$work/halve.c")
[ "$lines" -le 40 ] || fail "the plug-in has $lines lines, expected at most 40"
ln -s "$PWD/scenarios" "$work/scenarios"
as_written() {
    (cd "$work" && PATH="$(dirname "$ROCESIM"):$PATH" sh -e "$1" >said 2>&1) || fail "$1: $(cat "$work/said")"
}
as_written run
grep -q "congestion control halve" "$work/said" || fail "run: $(cat "$work/said")"
as_written compare
[ "$(grep -c . "$work/out/points.csv")" -eq 4 ] || fail "the sweep has not three points"
"$ROCESIM" run scenarios/quickstart.yaml --plugin "$work/with.c" --set nic.congestion-control=halve \
    --set nic.halve.factor=0.7 >"$work/said" 2>&1 || fail "with parameters: $(cat "$work/said")"
for file in halve.c with.c nic/cc/halve.c; do
    "${CC:-cc}" -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wconversion -Werror -fsyntax-only -I "$work" -I . \
        "$work/$file" || fail "$file does not compile without warnings"
done
grep -rn 'nic_cc_all\[0\]' --include='*.[ch]' nic apps compat world results cli tests &&
    fail "the first row of nic_cc_all has a meaning"
exit $((failures > 0))
