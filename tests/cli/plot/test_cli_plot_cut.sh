#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_plot_cut.sh - figures of series that were cut, and of files that are none.
#
# Goal: curves stop where the data of a cut series.csv stop, and figure and terminal say so; a pipe or
# a device in place of a table is refused at once.
# Method: the same run with and without outputs.series-max.
# Not pinned: the wording.
set -u
. tests/script.sh
start_forks

quick=scenarios/quickstart.yaml
rocesim run $quick -o "$work/whole" --quiet >/dev/null || fail "run"
rows=$(($(wc -l <"$work/whole/series.csv") - 1))
rocesim run $quick -o "$work/cut" --quiet --set outputs.series-max=$((rows / 3)) >/dev/null || fail "run"
for kind in queue queue-cdf; do
    rocesim plot "$work/whole" --kind $kind -o "$work/whole.gnuplot" >"$work/out" || fail "$kind"
    grep -q "cut" "$work/out" "$work/whole.gnuplot" && fail "$kind: a whole series is said to be cut"
    rocesim plot "$work/cut" --kind $kind -o "$work/cut.gnuplot" >"$work/out" || fail "$kind, cut"
    grep -q "series.csv is cut" "$work/out" || fail "$kind: nothing on the terminal: $(cat "$work/out")"
    grep -q "series.csv is cut" "$work/cut.gnuplot" || fail "$kind: nothing in the figure"
done
# The last point of the curve is the last row, not the end of the run.
last=$(tail -n 1 "$work/cut/series.csv" | cut -d, -f1)
rocesim plot "$work/cut" --kind queue -o "$work/cut.gnuplot" >/dev/null
awk -v ns="$last" '/^\$c/ { on = 1; next } /^EOD/ { on = 0 } on { x = $1 }
    END { exit !(x == ns || x * 1000 == ns || x * 1000000 == ns) }' "$work/cut.gnuplot" ||
    fail "the curve goes on behind $last ns: $(grep -B1 EOD "$work/cut.gnuplot" | head -n 1)"

for file in /dev/zero "$work/fifo"; do
    [ -e "$file" ] || mkfifo "$file"
    rm "$work/cut/series.csv"
    ln -s "$file" "$work/cut/series.csv"
    within 60 rocesim plot "$work/cut" --kind queue -o "$work/cut.gnuplot" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] && grep -q "series.csv: is no regular file" "$work/err" || fail "$file: $(cat "$work/err")"
done

# One of two runs without its file, or with the header alone: the figure of the other says so.
# told KIND FILE TEXT
told() {
    rocesim plot "$work/damaged" "$work/whole" --kind "$1" -o "$work/two.gnuplot" >"$work/out" ||
        fail "$1 of a run with damaged $2"
    grep -q "damaged has $3 $2" "$work/out" || fail "$1, $2: nothing on the terminal: $(cat "$work/out")"
    grep -q "^set label .*damaged has $3 $2" "$work/two.gnuplot" || fail "$1, $2: nothing in the figure"
}
cp -r "$work/whole" "$work/damaged"
for pair in load:ports.csv queue:series.csv; do
    kind=${pair%:*}
    file=${pair#*:}
    rocesim plot "$work/damaged" "$work/whole" --kind "$kind" -o "$work/two.gnuplot" >"$work/out" &&
        ! grep -q "damaged has" "$work/out" || fail "$kind: whole folders are said to be damaged"
    head -n 1 "$work/whole/$file" >"$work/damaged/$file"
    told "$kind" "$file" "an empty"
    rm "$work/damaged/$file"
    told "$kind" "$file" no
done
sed '2s/^/"/' "$work/whole/ports.csv" >"$work/damaged/ports.csv"
rocesim plot "$work/damaged" "$work/whole" --kind load -o "$work/two.gnuplot" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q "damaged/ports.csv:2:1: " "$work/err" || fail "an open quote: $(cat "$work/err")"
# Cut within the header, behind the columns that are read: damaged, and not empty.
head -n 1 "$work/whole/ports.csv" | head -c -5 >"$work/damaged/ports.csv"
rocesim plot "$work/damaged" "$work/whole" --kind load -o "$work/two.gnuplot" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q "damaged/ports.csv:1:1: the file ends within this row" "$work/err" ||
    fail "a cut header: $(cat "$work/err")"
exit $((failures > 0))
