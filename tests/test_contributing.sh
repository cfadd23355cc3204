#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_contributing.sh - the code on the page CONTRIBUTING.md compiles as it stands there.
#
# Goal: the two files of the congestion control "halve" compile with all warnings, also with the
# parameters that the page adds, and their place in nic_cc_all does not matter.
# Method: the blocks of the page are cut out by their indentation. Not pinned: the conformance test with
# halve, which takes minutes.
set -u
. tests/script.sh

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

folder = sys.argv[1] + "/nic/cc"
os.makedirs(folder)
open(folder + "/halve.h", "w").write(block("Create `nic/cc/halve.h`:", 7))
code = block("Create `nic/cc/halve.c`:", 7)
open(folder + "/halve.c", "w").write(code)
start, end = code.index("// Halves the rate,"), code.index("// Adds 1 %")
code = code[:start] + block("`cc->config`:", 4) + "\n" + code[end:]
code = code.replace(".cnp = ", ".attrs = &halve_attrs,\n    .cnp = ")
open(folder + "/with.c", "w").write(code)
END
for file in halve with; do
    "${CC:-cc}" -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wconversion -Werror -fsyntax-only -I "$work" -I . \
        "$work/nic/cc/$file.c" || fail "$file.c does not compile"
done
grep -rn 'nic_cc_all\[0\]' --include='*.[ch]' nic apps compat world results cli tests &&
    fail "the first row of nic_cc_all has a meaning"
exit $((failures > 0))
