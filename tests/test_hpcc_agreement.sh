#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/test_hpcc_agreement.sh - rocesim hpcc computes what the HPCC project's simulator does.
#
# Goal: FCTs and pauses to the nanosecond and in its order, ties and random marks included.
# Method: (1) a flow alone over two switches, against the closed form of whole-nanosecond store and
# forward; (2) inputs of ours (marks by a step; pauses; HPCC over leaves and spines with pauses;
# TIMELY; DCTCP; random marks; PINT; losses), against answers that an independent program of these
# rules gave too, which guards what (3) shows where the simulator's own runs lie beside the checkout:
# fct.txt and pfc.txt of its runs are equal byte by byte; (4) with our own models (compat=off) mean
# FCTs are within 5 %; (5) with random numbers of our own, mean FCTs over seeds are within 3 % of its
# own over 20 seeds; (6) with its numbers, least, largest and mean FCT over seeds, which are its
# RngRuns, are its.
# Not pinned: what keys no input here sets do.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=${HPCC_RUNS:-../shared/data/hpcc/runs}
failures=0

fail() {
    echo "FAIL: $1"
    failures=$((failures + 1))
}

# simulate INPUT-FOLDER RESULT-FOLDER [OPTIONS]: inputs name their files relative to where they lie.
simulate() {
    local from=$1 to=$2
    shift 2
    (cd "$from" && "$ROCESIM" hpcc config.txt -o "$to" --quiet "$@") >"$work/out" 2>&1 || {
        fail "$from: exit status $?"
        tail -n 3 "$work/out"
    }
}

# -- 1: a flow alone

mkdir "$work/line"
sed -e 's/^BUFFER_SIZE .*/BUFFER_SIZE 16/' tests/hpcc/incast/config.txt >"$work/line/config.txt"
echo 0 >"$work/line/trace.txt"
printf '4 2 3\n2 3\n0 2 100Gbps 1000ns 0\n2 3 100Gbps 700ns 0\n3 1 100Gbps 1us 0\n' \
    >"$work/line/topology.txt"
# The last packet of each follows the full ones and is as long as 1000, 100 and 537 bytes need.
for bytes in 5000000 300100 1000 537 77537; do
    printf '1\n0 1 3 100 %d 2.0\n' "$bytes" >"$work/line/flow.txt"
    rm -rf "$work/result"
    simulate "$work/line" "$work/result"
    awk -v bytes="$bytes" '
        function tx(size) { return int(size * 8 / 100) }
        BEGIN {
            split("1000 700 1000", delay, " ")
            full = int((bytes - 1) / 1000)
            last = bytes - full * 1000 + 48
            for (h = 1; h <= 3; h++) {
                # When the full packets have left this hop, and when the last one can start.
                done = full > 0 ? first + full * tx(1048) : 0
                start = arrived > done ? arrived : done
                arrived = start + tx(last) + delay[h]
                first += tx(1048) + delay[h]
                back += tx(60) + delay[h]
            }
            print arrived + back
        }' >"$work/expected"
    awk '{ print $7 }' "$work/result/fct.txt" | cmp -s - "$work/expected" ||
        fail "$bytes bytes alone take $(awk '{ print $7 }' "$work/result/fct.txt") ns, \
expected $(cat "$work/expected")"
done

# -- 2: ours

for input in incast pauses telemetry timely dctcp marks pint losses link-down moved; do
    simulate "$PWD/tests/hpcc/$input" "$work/$input"
    for file in fct.txt pfc.txt; do
        diff "tests/hpcc/$input/expected-$file" "$work/$input/$file" >"$work/diff" || {
            fail "tests/hpcc/$input: $file, expected <, is >"
            head -n 10 "$work/diff"
        }
    done
done

# -- 3: its runs

if [ ! -d "$runs" ]; then
    echo "skipped the simulator's own runs: there is no $runs (HPCC_RUNS names the folder)"
    exit $((failures > 0))
fi
for run in single x-incast2-step x-incast16-pfc x-incast2-hpcc incast2 incast16 ft8-perm; do
    simulate "$runs/$run" "$work/$run"
    cmp -s "$runs/$run/fct.txt" "$work/$run/fct.txt" || fail "$run: fct.txt differs"
    cmp -s "$runs/$run/pfc.txt" "$work/$run/pfc.txt" || fail "$run: other pauses"
    [ -s "$work/$run/fct.txt" ] || fail "$run: no flow has ended"
done

# -- 4: with our own models: within 5 %, one seed each

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

# -- 5: random numbers of our own: mean FCT in ns over its seeds, seeds to run

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

# -- 6: its random numbers: over RngRuns 1 to N, least, largest and mean FCT (mean of each run)

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
