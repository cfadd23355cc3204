#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_sweep.sh - rocesim sweep: grids, seeds, restarts, tables, jobs for clusters.
#
# Goal: a sweep of 60 runs (24 where runs are few) that is killed twice ends in the tables, byte for
# byte, of one that was not; a run that fails is named and in nobody's way; means and intervals are
# those of the runs; printed jobs do the same runs; mistakes are told before anything runs, columns
# that stay empty after.
# Method: small incasts, SIGKILL, a folder without room, the awk mean of a column.
# Not pinned: how long it takes, or which cluster.
set -u
. tests/script.sh

cat >"$work/base.yaml" <<'END'
topology: {star: {hosts: 4}}
parameters: {size: traffic[0].incast.bytes}
traffic: [incast: {senders: 3, bytes: 100KB, to: host0}]
END
cat >"$work/sweep.yaml" <<'END'
scenario: base.yaml
grid:
  nic.congestion-control: [dcqcn, none]
  size: [10KB, 100KB, 1MB]
seeds: SEEDS
columns: [flows.slowdown.p99, flows.fct_us.max, pfc.pause_frames, "apps[0].goodput_gbps"]
END
seeds=$(few 10 4)
runs=$((6 * seeds))
sed -i "s/SEEDS/$seeds/" "$work/sweep.yaml"
sweep() {
    "$ROCESIM" sweep "$work/sweep.yaml" --quiet "$@" >"$work/out" 2>"$work/err"
}

sweep -o "$work/a" -j 2 || fail "a sweep: $(cat "$work/err")"
grep -q "6 points, $runs runs (0 were there), 0 failed" "$work/out" || fail "said: $(cat "$work/out")"
[ "$(wc -l <"$work/a/runs.csv")" -eq $((runs + 1)) ] && [ "$(wc -l <"$work/a/points.csv")" -eq 7 ] ||
    fail "rows of the tables"

# Killed twice, when some of its runs stand, and gone on with. False: on a busy machine the kills
# came too late to tell anything.
kill_twice() {
    local stand child pid
    rm -rf "$work/b"
    for stand in $((runs / 6)) $((runs / 2)); do
        sweep -o "$work/b" -j 2 &
        child=$!
        until [ "$(find "$work/b/runs" -name summary.json 2>/dev/null | wc -l)" -ge $stand ]; do
            kill -0 $child 2>/dev/null || break
            sleep 0.005
        done
        pid=$(pgrep -P $child rocesim | head -n 1)
        kill -KILL "${pid:-$child}"
        wait $child 2>/dev/null
        # What it had begun goes on to its end, in folders that the next one looks at.
        for _ in $(seq 6000); do
            pgrep -f "$work/b/runs" >/dev/null || break
            sleep 0.05
        done
    done
    [ ! -e "$work/b/points.csv" ]
}
kill_twice || kill_twice || kill_twice || fail "the kills came too late, three times"
sweep -o "$work/b" -j 2 || fail "after two kills: $(cat "$work/err")"
grep -q "(0 were there)" "$work/out" && fail "nothing of the killed sweeps was used"
for table in runs.csv points.csv; do
    cmp "$work/a/$table" "$work/b/$table" || fail "$table differs after kills"
done

# A row per point: the mean over its seeds.
mean=$(awk -F, -v n="$seeds" '$2 == 6 { sum += $8 } END { printf "%.9g", sum / n }' "$work/a/runs.csv")
[ "$(awk -F, '$1 == 6 { printf "%.9g", $6 }' "$work/a/points.csv")" = "$mean" ] ||
    fail "mean: $mean, $(tail -n 1 "$work/a/points.csv")"
# `rocesim compare` takes the folder for all its runs.
"$ROCESIM" compare "$work/a" >"$work/compared" 2>&1 || fail "compare: $(cat "$work/compared")"
[ "$(awk 'NR == 1 { print $1, NF } /^runs/ { print $2 }' "$work/compared" | xargs)" = "p1 6 $seeds" ] ||
    fail "compared: $(head -n 2 "$work/compared")"
[ "$("$ROCESIM" compare --csv "$work/a" | wc -l)" -eq $((runs + 1)) ] || fail "compare --csv of a sweep"
"$ROCESIM" explain "$work/a" >"$work/out" 2>&1
[ $? = 2 ] && grep -q 'holds a sweep, expected one of its runs, in ' "$work/out" || fail "$(cat "$work/out")"
"$ROCESIM" compare "$work/none" >"$work/out" 2>&1
[ $? = 2 ] && grep -q 'none: there is no such folder, expected' "$work/out" || fail "$(cat "$work/out")"

head -n 1 "$work/a/points.csv" | grep -q \
    '^point,nic.congestion-control,size,runs,failed,flows.slowdown.p99,flows.slowdown.p99_ci95,' ||
    fail "header of points.csv: $(head -n 1 "$work/a/points.csv")"

# A run that cannot be written is named; when there is room again only it is run.
rm -r "$work/a/runs/p3-s3"
touch "$work/a/runs/p3-s3"
sweep -o "$work/a" -j 2 && fail "a failed run: exit status 0"
grep -q "^p3-s3: .*is not a folder" "$work/err" || fail "not named: $(cat "$work/err")"
grep -q "^p3-s3,3,3,dcqcn,1MB,,,,,,,.*is not a folder" "$work/a/runs.csv" ||
    fail "no row of the failed run: $(grep p3-s3 "$work/a/runs.csv")"
awk -F, -v n="$seeds" '$1 == 3 { exit !($4 == n - 1 && $5 == 1 && $6 > 0) }' "$work/a/points.csv" ||
    fail "the point of the failed run"
rm "$work/a/runs/p3-s3"
sweep -o "$work/a" -j 2 || fail "after a failure"
grep -q "($((runs - 1)) were there), 0 failed" "$work/out" || fail "after a failure: $(cat "$work/out")"
cmp "$work/a/runs.csv" "$work/b/runs.csv" || fail "runs.csv differs after a failure"

# Jobs for a scheduler; the tables afterwards.
sweep -o "$work/c" --print-jobs || fail "--print-jobs"
[ "$(wc -l <"$work/out")" -eq $runs ] || fail "--print-jobs: $(wc -l <"$work/out") lines"
mkdir "$work/bin" && ln -s "$(realpath "$ROCESIM")" "$work/bin/rocesim"
sweep -o "$work/c" --slurm || fail "--slurm"
cp "$work/out" "$work/job"
grep -q "^#SBATCH --array=1-$runs\$" "$work/job" || fail "--slurm: no array"
sed -n 's/^\(p[0-9]*\)$/\1/p' "$work/job" >/dev/null
for task in 1 $runs; do
    SLURM_ARRAY_TASK_ID=$task PATH=$work/bin:$PATH bash "$work/job" >/dev/null || fail "task $task"
done
for run in p1-s1 "p6-s$seeds"; do
    diff -r -I '"wall_' -x manifest.json "$work/c/runs/$run" "$work/b/runs/$run" >/dev/null ||
        fail "the job of $run gave something else"
done

# The jobs as a scheduler runs them, one after the other; then the tables are those of the sweep.
sweep -o "$work/d" --print-jobs || fail "--print-jobs of a folder"
PATH=$work/bin:$PATH bash "$work/out" >"$work/ran" 2>&1 || fail "printed jobs: $(head -n 3 "$work/ran")"
sweep -o "$work/d" || fail "tables after printed jobs: $(cat "$work/err")"
grep -q "($runs were there), 0 failed" "$work/out" || fail "after printed jobs: $(cat "$work/out")"
cmp "$work/d/points.csv" "$work/b/points.csv" || fail "points.csv of printed jobs"

# Figures: a curve per congestion control, sizes along x, intervals.
"$ROCESIM" plot "$work/b" -o "$work/sweep.gnuplot" >"$work/out" || fail "plot of a sweep"
grep -q "sweep.gnuplot: flows.slowdown.p99 by size, 2 curves" "$work/out" || fail "plot: $(cat "$work/out")"
grep -q "with yerrorlines.*title 'dcqcn'.*with yerrorlines.*title 'none'" "$work/sweep.gnuplot" ||
    fail "plot: curves"
half=$(awk -F, '$1 == 5 { print $6, $7 }' "$work/b/points.csv")
grep -qF "100000 $half" "$work/sweep.gnuplot" || fail "plot: no point 100000 $half"
"$ROCESIM" plot "$work/b" -o "$work/y.gnuplot" --x nic.congestion-control --y flows.fct_us.max >"$work/out" ||
    fail "plot --x --y"
grep -q "set xtics ('dcqcn' 1" "$work/y.gnuplot" || fail "plot: names along x"
"$ROCESIM" plot "$work/b" --x nonsense 2>"$work/err" && fail "plot: a parameter that is not there"

# Seeds alone: the scenario is the only point.
printf 'scenario: base.yaml\nseeds: 3\n' >"$work/seeds.yaml"
"$ROCESIM" sweep "$work/seeds.yaml" -o "$work/seeds" --quiet >"$work/out" 2>&1 ||
    fail "seeds: $(cat "$work/out")"
grep -q '1 point, 3 runs' "$work/out" && [ "$(grep -c '^p1-s[123],1,' "$work/seeds/runs.csv")" = 3 ] ||
    fail "seeds alone: $(cat "$work/out")"
echo 'scenario: base.yaml' >"$work/seeds.yaml"
"$ROCESIM" sweep "$work/seeds.yaml" -o "$work/nothing" --quiet >"$work/out" 2>&1
[ $? = 2 ] && grep -q 'neither grid nor points, expected one of them, variants or seeds' "$work/out" ||
    fail "no points: $(cat "$work/out")"

# -- mistakes

refused() {
    local what=$1
    shift
    sweep "$@"
    [ $? -eq 2 ] && grep -qe "$what" "$work/err" || fail "expected '$what', got $(cat "$work/err")"
}
sed -i 's/10KB, 100KB/20KB, 100KB/' "$work/sweep.yaml"
refused "holds another sweep" -o "$work/b"
mkdir "$work/mine" && touch "$work/mine/thesis.tex"
refused "holds something and no sweep" -o "$work/mine"
refused "no -o, expected a folder"
refused "-j is '0', expected 1 to" -o "$work/none" -j 0
sed -i 's/dcqcn, none/dcqcn, nonsense/' "$work/sweep.yaml"
refused 'sweep.yaml:[0-9]*:[0-9]*: nic.congestion-control=nonsense: .*no algorithm "nonsense"' -o "$work/none"
sed -i 's/dcqcn, nonsense/dcqcn, none/; s/pause_frames/stops/' "$work/sweep.yaml"
refused "sweep.yaml:6:49: column 'pfc.stops': .* has no 'pfc.stops', expected one of pause_frames" \
    -o "$work/none"
sed -i 's/pfc.stops/drops.egress-full/; s/to: host0/to: host9/' "$work/sweep.yaml" "$work/base.yaml"
refused "base.yaml:3:.*host9" -o "$work/none"
sed -i 's/to: host9/to: host0/' "$work/base.yaml"
cp "$work/sweep.yaml" "$work/kept.yaml"
# twice SED-COMMAND TEXT: what would be counted twice is refused.
twice() {
    sed "$1" "$work/kept.yaml" >"$work/sweep.yaml"
    refused "$2" -o "$work/none"
}
twice 's/^seeds:.*/seeds: [3, 5, 3]/' "sweep.yaml:[0-9]*:8: seed 3 is there twice"
twice 's/dcqcn, none/none, none/' "the point nic.congestion-control=none, size=100KB is there twice"
twice 's/columns: \[/&flows.fct_us.p50, flows.fct_us.p50, /' "column flows.fct_us.p50 is there twice"
twice 's/^grid:/&\n  seed: [1, 2]/' "'seed' is among the parameters, expected it under seeds"
cp "$work/kept.yaml" "$work/sweep.yaml"
sed -i 's/^seeds:.*/seads: 3/' "$work/sweep.yaml"
refused "unknown key 'seads' in a sweep, did you mean 'seeds'" -o "$work/none"
[ -e "$work/none" ] && fail "a refused sweep made its folder"

# One point that cannot be built is in nobody's way; a column that no run has is told.
cat >"$work/sweep.yaml" <<'END'
scenario: base.yaml
grid: {"traffic[0].incast.senders": [9, 2]}
columns: ["pfc.roots[0].ports", flows.completed]
END
sweep -o "$work/e"
[ $? -eq 1 ] && grep -q "^p1-s1: .*expected at least 9" "$work/err" ||
    fail "a point that cannot be built: $(cat "$work/err")"
grep -q "^warning: column 'pfc.roots\[0\].ports' is empty: .*; pfc has .*pause_frames" "$work/err" ||
    fail "an empty column: $(cat "$work/err")"
grep -q "flows.completed' is empty" "$work/err" && fail "a column with numbers is called empty"

# Columns have the names that compare writes, all of them; others are refused before anything runs.
cat >"$work/nics.yaml" <<'END'
topology: {star: {hosts: 3}}
nic: {model: detailed, cache: {policy: hybrid}}
traffic: [contexts: {tokens: 10, operations: 10, warm-up: 0}, incast: {senders: 2, bytes: 20KB, to: host0}]
END
"$ROCESIM" run "$work/nics.yaml" -o "$work/one" --quiet >/dev/null || fail "a run of the columns"
"$ROCESIM" compare --csv "$work/one" >"$work/one.csv"
python3 - "$work/one.csv" >"$work/names" <<'END'
import csv, sys
head, row = list(csv.reader(open(sys.argv[1])))
texts = {"run", "folder", "scenario", "congestion_control", "ended", "digest", "version"}
for name, value in zip(head, row):
    if name not in texts and not name.endswith("].port"):
        print(name)
END
[ "$(wc -l <"$work/names")" -gt 80 ] || fail "compare tells few names: $(wc -l <"$work/names")"
{
    printf 'scenario: nics.yaml\ngrid: {nic.mtu: [4096]}\ncolumns:\n'
    sed 's/.*/  - "&"/' "$work/names"
} >"$work/sweep.yaml"
sweep -o "$work/n" || fail "a name of compare is refused: $(cat "$work/err")"
python3 - "$work/one.csv" "$work/n/points.csv" <<'END' || fail "columns differ from compare"
import csv, sys
one, points = [dict(zip(*list(csv.reader(open(name)))[:2])) for name in sys.argv[1:]]
for name, value in one.items():
    assert name not in points or points[name] == value or float(points[name] or "nan") == float(value), \
        (name, value, points[name])
END

# refuses COLUMN TEXT
refuses() {
    printf 'scenario: nics.yaml\ngrid: {nic.mtu: [4096]}\ncolumns: ["%s"]\n' "$1" >"$work/sweep.yaml"
    refused "$2" -o "$work/none"
}
refuses 'flows.by_size[0-10kb].slowdown.p99' "did you mean '0-10KB'"
refuses 'flows.slowdown.p95' "did you mean 'p90'"
refuses 'apps[1].goodput' "expected one of kind"
refuses 'apps[contexts].mop' "did you mean 'mops'"
refuses 'flows.slowdown' "is no number, expected one of mean"
refuses 'flows.by_size[9].count' "expected one of 0-10KB"
refuses 'flows.by_size[0-10KB' "has no ']'"
refuses 'nics[*].cache.l9' "expected one of"
# -- variants, the short form, and settings of the command line
cat >"$work/sweep.yaml" <<'END'
scenario: base.yaml
set: {nic.mtu: 1024}
variants:
  plain: {}
  lossy: {link.loss-rate: 0.01, nic.mtu: 2048}
  slow: {topology.star.rate: 10Gbps}
grid:
  size: [10KB, 100KB, 1MB]
quick: {variants: [plain, slow], grid: {size: [10KB]}, seeds: 2}
columns: [flows.fct_us.max]
END
# points OPTION...: the variants and sizes that a sweep runs
points() {
    rm -rf "$work/v"
    sweep -o "$work/v" "$@" || fail "sweep $*: $(cat "$work/err")"
    tail -n +2 "$work/v/points.csv" | cut -d, -f2-4 | tr '\n' ' '
}
said=$(points)
# shellcheck disable=SC2059 # a variant has no %
wanted=$(for variant in plain lossy slow; do printf "$variant,%s,1\n" 10KB 100KB 1MB; done | tr "\n" " ")
[ "$said" = "$wanted" ] ||
    fail "variants: $said"
mtu() { sed -n 's/^  mtu: //p' "$work/v/runs/$1/scenario.yaml" | head -n 1; }
[ "$(mtu p1-s1) $(mtu p4-s1)" = "1KiB 2KiB" ] || fail "a variant does not change what is set for all"
said=$(points --quick)
[ "$said" = "plain,10KB,2 slow,10KB,2 " ] || fail "--quick: $said"
said=$(points --set variant=slow --set size=20KB,30KB --set nic.mtu=4096)
[ "$said" = "slow,20KB,1 slow,30KB,1 " ] && [ "$(mtu p1-s1)" = 4KiB ] || fail "--set: $said"
refused "expected a name under variants" -o "$work/none" --set variant=other
refused "expected it under seeds" -o "$work/none" --set seed=3
"$ROCESIM" sweep training/overlap --quick -o "$work/deep/folder" --print-jobs >"$work/out" 2>&1 &&
    [ "$(grep -c 'training/gpt.yaml' "$work/out")" = 2 ] || fail "a sweep by its name: $(cat "$work/out")"

# A scenario without a sweep file: tables and runs are those of the file with the same grid.
cat >"$work/sweep.yaml" <<'END'
scenario: base.yaml
set: {switch.pfc.priorities: [3, 4]}
grid: {nic.congestion-control: [dcqcn, none], size: [10KB, 100KB]}
seeds: 2
END
direct() {
    "$ROCESIM" sweep "$work/base.yaml" --quiet "$@" >"$work/out" 2>"$work/err"
}
sweep -o "$work/by-file" || fail "a sweep with set: $(cat "$work/err")"
direct -o "$work/direct" --seeds 2 --set nic.congestion-control=dcqcn,none --set size=10KB,100KB \
    --set switch.pfc.priorities=[3,4] || fail "a scenario without a sweep file: $(cat "$work/err")"
cmp "$work/by-file/points.csv" "$work/direct/points.csv" &&
    cmp "$work/by-file/runs.csv" "$work/direct/runs.csv" ||
    fail "a scenario without a sweep file has other tables"
[ "$(wc -l <"$work/direct/runs.csv")" = 9 ] || fail "8 runs, not $(wc -l <"$work/direct/runs.csv") rows"
"$ROCESIM" plot "$work/direct" --json | grep -q '"words":"flows.slowdown.p99 by ' ||
    fail "the figure of usual columns is not the slowdown"
"$ROCESIM" plot "$work/direct" --json --x nic.congestion-control | grep -q '"style":"points"' ||
    fail "a line joins the names of congestion controls"
sweep -o "$work/more" --seeds 3 --set size=10KB && [ "$(wc -l <"$work/more/runs.csv")" = 7 ] ||
    fail "--seeds of a sweep file: $(cat "$work/err" "$work/more/runs.csv")"
unasked() {
    local what=$1
    shift
    direct -o "$work/none" "$@"
    [ $? -eq 2 ] && grep -qe "$what" "$work/err" && ! [ -e "$work/none" ] ||
        fail "expected '$what', got $(cat "$work/err")"
}
unasked "base.yaml is a scenario, which is one run, expected several values"
unasked "^--set nic.mtu=1024,banana: " --set nic.mtu=1024,banana
unasked "--seeds is '0', expected how many: 1 to 10000" --seeds 0
unasked "'seed' is among the parameters" --set seed=3,4
"$ROCESIM" sweep - -o "$work/none" --seeds 2 <"$work/base.yaml" 2>"$work/err"
[ $? -eq 2 ] && grep -q "expected a file, since each run reads it" "$work/err" ||
    fail "a scenario on the standard input: $(cat "$work/err")"

"$ROCESIM" run training/overlap >"$work/out" 2>&1
[ $? = 2 ] && grep -q "rocesim sweep training/overlap" "$work/out" ||
    fail "run of a sweep: $(cat "$work/out")"

exit $((failures > 0))
