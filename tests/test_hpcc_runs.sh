#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow
# tests/test_hpcc_runs.sh - rocesim hpcc gives what runs of the HPCC project's simulator gave.
#
# Goal: FCTs and pauses to the nanosecond and in its order; with other models, FCTs close to its.
# Method: its runs, which lie beside the checkout (HPCC_RUNS names another folder): (1) fct.txt and
# pfc.txt are equal byte by byte; (2) with our own models (compat=off) mean FCTs are within 5 %;
# (3) with random numbers of our own, mean FCTs over seeds are within 3 % of its own over 20 seeds;
# (4) with its numbers, least, largest and mean FCT over seeds, which are its RngRuns, are its.
# Not pinned: inputs that it was not run on (tests/test_hpcc_agreement.sh has some).
set -u
runs=${HPCC_RUNS:-../shared/data/hpcc/runs}
[ -d "$runs" ] || { echo "skip: there is no $runs (HPCC_RUNS names the folder)" && exit 77; }
. tests/script.sh
. tests/hpcc/simulate.sh

# -- 1: its runs

for run in single x-incast2-step x-incast16-pfc x-incast2-hpcc incast2 incast16 ft8-perm; do
    simulate "$runs/$run" "$work/$run"
    cmp -s "$runs/$run/fct.txt" "$work/$run/fct.txt" || fail "$run: fct.txt differs"
    cmp -s "$runs/$run/pfc.txt" "$work/$run/pfc.txt" || fail "$run: other pauses"
    [ -s "$work/$run/fct.txt" ] || fail "$run: no flow has ended"
done

# -- 2: with our own models: within 5 %, one seed each

# Its file of next hops changes nothing where the search finds the same; another order does.
if [ -e "$runs/ft8-perm/routes.txt" ]; then
    name=$(realpath "$runs/ft8-perm/routes.txt")
    awk '{ printf "%s %s %s", $1, $2, $3; for (i = NF; i > 3; i--) printf " %s", $i; print "" }' \
        "$name" >"$work/reversed"
    simulate "$runs/ft8-perm" "$work/searched"
    simulate "$runs/ft8-perm" "$work/given" --routes "$name"
    simulate "$runs/ft8-perm" "$work/other" --routes "$work/reversed"
    cmp "$work/searched/fct.txt" "$work/given/fct.txt" || fail "ft8-perm: its routes are others"
    cmp -s "$work/searched/fct.txt" "$work/other/fct.txt" && fail "ft8-perm: reversed routes do nothing"
fi

for run in single incast2 incast16 x-incast2-step x-incast16-pfc x-incast2-hpcc ft8-perm; do
    simulate "$runs/$run" "$work/off-$run" --set compat=off
    paste "$runs/$run/fct.txt" "$work/off-$run/fct.txt" | awk -v run="$run" '
        { theirs += $7; ours += $15 }
        END {
            error = NR > 0 ? ours / theirs - 1 : 1
            printf "%s without compat: mean FCT %+.2f %%\n", run, 100 * error
            exit !(error < 0.05 && error > -0.05)
        }' || fail "$run: mean FCT without compat"
done

# Other seeds take the same paths: sanitizers see one with numbers of our own.
if [ -n "${TEST_FEW:-}" ]; then
    simulate "$runs/incast16" "$work/own" --set hpcc.draws=own
    exit $((failures > 0))
fi

# -- 3: random numbers of our own: mean FCT in ns over its seeds, seeds to run

while read -r run theirs seeds; do
    : >"$work/all"
    for seed in $(seq 1 "$seeds"); do
        rm -rf "$work/result"
        simulate "$runs/$run" "$work/result" --seed "$seed" --set hpcc.draws=own
        cat "$work/result/fct.txt" >>"$work/all"
    done
    awk -v run="$run" -v theirs="$theirs" '
        { sum += $7 }
        END {
            error = sum / NR / theirs - 1
            printf "%s: mean FCT %.0f ns, theirs %d, %+.2f %%\n", run, sum / NR, theirs, 100 * error
            exit !(NR > 0 && error < 0.03 && error > -0.03)
        }' "$work/all" || fail "$run: mean FCT"
done <<END
incast2 2099879 20
incast16 1515472 10
ft8-perm 288525 3
END

# -- 4: its random numbers: over RngRuns 1 to N, least, largest and mean FCT (mean of each run)

while read -r run seeds theirs; do
    : >"$work/all"
    for seed in $(seq 1 "$seeds"); do
        rm -rf "$work/result"
        simulate "$runs/$run" "$work/result" --seed "$seed"
        awk '{ sum += $7 } END { if (NR > 0) print sum / NR }' OFMT=%.4f "$work/result/fct.txt" >>"$work/all"
    done
    ours=$(sort -n "$work/all" | awk '
        NR == 1 { least = $1 }
        { largest = $1; sum += $1 }
        END { if (NR > 0) printf "%.0f %.0f %.0f", least, largest, sum / NR }')
    [ "$ours" = "$theirs" ] || fail "$run: least, largest and mean FCT $ours ns, theirs $theirs"
done <<END
incast2 20 1825532 2150398 2099879
incast16 20 1468132 1575863 1515472
ft8-perm 4 285185 292324 288525
END

exit $((failures > 0))
