# SPDX-License-Identifier: Apache-2.0
# scenarios/papers/papers_lib.sh - what the figures of scenarios/papers share; sourced by their run.sh.
#
# A figure: begin, simulate (as often as needed), measure KEY VALUE for each number, report.
# published.csv beside it has the numbers of the paper, a row per KEY:
#   key,published,unit,tolerance_percent,source
# and ends with remarks after a #. A row with a tolerance is asked for; one without is
# only shown. Only bash, sort and awk are used.

# begin OUT: settles where everything is. Sets here, out, program.
begin() {
    here=$(cd "$(dirname "$0")" && pwd)
    papers=$(dirname "$here")
    program=${ROCESIM:-$papers/../../build/release/rocesim}
    out=$1
    quick=${PAPERS_QUICK:-0}
    if [ ! -x "$program" ]; then
        echo "$program is not there: run make first" >&2
        exit 1
    fi
    mkdir -p "$out"
    echo "== $(basename "$here"): $(sed -n 's/^# [^ ]* - //p' "$here/run.sh" | head -n 1)"
    echo "key,ours" >"$out/ours.csv"
    echo "what,values,verdict" >"$out/orders.csv"
}

# seeds DEFAULT: the seeds to run, one with --quick
seeds() {
    if [ "$quick" = 1 ]; then
        seq 1 1
    else
        seq 1 "${PAPERS_SEEDS:-$1}"
    fi
}

# simulate RUN SCENARIO OPTIONS...: rocesim run into OUT/RUN, unless --resume finds it done.
simulate() {
    local run=$1 scenario=$2
    shift 2
    local done_file="$out/$run.done" command="$scenario $* $(cksum <"$here/$scenario")"
    if [ "${PAPERS_RESUME:-0}" = 1 ] && [ -f "$done_file" ] && [ -f "$out/$run/summary.json" ] &&
        [ "$(cat "$done_file")" = "$command" ]; then
        return
    fi
    rm -f "$done_file"
    if ! "$program" run "$here/$scenario" -o "$out/$run" --threads "${THREADS:-1}" --quiet "$@" \
        >"$out/$run.log" 2>&1; then
        cat "$out/$run.log" >&2
        echo "run $run failed" >&2
        exit 1
    fi
    echo "$command" >"$done_file"
    sed -n 's/^ *"wall_s": \([0-9.]*\),*$/   '"$run"': \1 s/p' "$out/$run/summary.json"
}

# field RUN NAME: the first field NAME of its summary
field() {
    sed -n 's/^ *"'"$2"'": "\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' "$out/$1/summary.json" | head -n 1
}

# measure KEY VALUE
measure() {
    echo "$1,$2" >>"$out/ours.csv"
}

# expect TEXT A OP B: an order that is asked for, OP one of < > <= >=
expect() {
    local verdict
    verdict=$(awk -v a="$2" -v b="$4" "BEGIN {
        print (a != \"\" && b != \"\" && a + 0 $3 b + 0) ? \"ok\" : \"OUT\" }")
    echo "$1,$2 $3 $4,$verdict" >>"$out/orders.csv"
}

# quantile P: of the numbers on stdin, nearest rank
quantile() {
    sort -g | awk -v p="$1" '{ value[NR] = $1 }
        END { if (NR) { k = int(NR * p); if (k < NR * p) k++; if (k < 1) k = 1; print value[k] } }'
}

mean() {
    awk '{ sum += $1 } END { if (NR) printf "%.6g\n", sum / NR }'
}

# series RUN PATH: "time_us value" of one series
series() {
    awk -F, -v path="$2" 'NR > 1 && index($0, path) { value = $NF; print $1 / 1000, value }' \
        "$out/$1/series.csv"
}

# draw FILE.svg: gnuplot commands from stdin, figures in the style of them all; DRAW_SIZE: pixels
draw() {
    if ! command -v gnuplot >/dev/null; then
        echo "   (no gnuplot: $1 is not drawn; Debian package gnuplot-nox)"
        return
    fi
    {
        echo "set terminal svg size ${DRAW_SIZE:-720,480} enhanced font 'sans-serif,14' background 'white'"
        echo "set output '$out/$1'"
        echo "set datafile separator whitespace; set grid lc rgb '#dddddd'; set key opaque"
        cat
    } | gnuplot && echo "   drawn: $out/$1"
}

# report [SHARE] [PUBLISHED]: the table; false when fewer than SHARE percent (100) of the asked rows are
# within their tolerance, which --quick only reports. PUBLISHED: published.csv or a part of it.
report() {
    local status=0
    awk -v share="${1:-100}" -v csv="$out/table.csv" -f "$papers/table.awk" \
        "$out/ours.csv" "${2:-$here/published.csv}" "$out/orders.csv" >"$out/table.txt" || status=1
    cat "$out/table.txt"
    if [ "$quick" = 1 ] && [ $status = 1 ]; then
        echo "   (--quick: nothing is asked)"
        status=0
    fi
    return $status
}
