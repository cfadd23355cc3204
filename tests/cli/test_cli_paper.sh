#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/cli/test_cli_paper.sh - `rocesim new paper`: the template of a paper makes all that it promises.
#
# Goal: the folder has what its README lists; make makes every table and, with gnuplot, every figure;
# the claims hold; a folder that exists is never touched; the template is no scenario of the library.
# Method: the template with fewer seeds and loads. Rerun:
# ctest --test-dir build/release -R '^test_cli_paper$' --output-on-failure
set -u
. tests/script.sh
cd "$work" || exit 1
command -v make >/dev/null || { echo "skip: no make" && exit 77; }

"$ROCESIM" new paper mine >said || fail "new paper: $(cat said)"
for file in $(sed -n 's/^| `\([a-zA-Z.]*\)` .*/\1/p' mine/README.md); do
    [ -f "mine/$file" ] && grep -qx "mine/$file" said || fail "no $file"
done
"$ROCESIM" new paper mine >out 2>said
[ $? = 2 ] && grep -q 'exists' said && [ ! -s out ] || fail "a folder that exists: $(cat said)"
"$ROCESIM" list | grep -q templates && fail "the template is listed as a scenario"

sed -e 's/^seeds: .*/seeds: 2/' -e 's/\[0.3, 0.5, 0.7\]/[0.3, 0.5]/' mine/sweep.yaml >mine/small.yaml
options=(-C mine ROCESIM="$ROCESIM" SETTINGS=small.yaml JOBS=2 CONTROLS=dcqcn,hpcc
    ARENA="--quick --cells incast-8,rtt-10us")
make "${options[@]}" tables >said 2>&1 || fail "make tables: $(tail -n 5 said)"
for table in slowdown.csv slowdown.tex arena.tex; do
    [ -s "mine/tables/$table" ] || fail "no table $table"
done
[ "$(grep -c 'pm' mine/tables/slowdown.tex)" = 6 ] || fail "slowdown.tex: $(cat mine/tables/slowdown.tex)"
if command -v gnuplot >/dev/null; then
    make "${options[@]}" figures >said 2>&1 || fail "make figures: $(tail -n 5 said)"
    for figure in $(sed -n 's/^| figure .*`\(figures[^`]*\)`.*/\1/p' mine/README.md); do
        grep -q '<svg' "mine/$figure" || fail "no $figure"
    done
fi
make "${options[@]}" check >said 2>&1 || fail "make check: $(cat said)"
make "${options[@]}" clean >said 2>&1 && [ ! -e mine/results ] || fail "make clean: $(cat said)"
exit $((failures > 0))
