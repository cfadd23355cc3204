# SPDX-License-Identifier: Apache-2.0
# scenarios/papers/papers_lib.sh - functions of the figures of scenarios/papers; their run.sh source it.
#
# The script of a figure calls begin, then simulate as often as needed, then measure KEY VALUE for
# each number, and at last report. published.csv beside it has the numbers of the paper, a row per
# KEY:
#   key,published,unit,tolerance_percent,source
# and ends with remarks that begin with a #. A row with a tolerance is asked for; a row without one
# is only shown. The library uses only bash, sort and awk.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# begin OUT: creates the folder OUT and sets here, papers, program, out and quick.
begin() {
    here=$(cd "$(dirname "$0")" && pwd)
    papers=$(dirname "$here")
    program=${ROCESIM:-$papers/../../build/release/rocesim}
    out=$1
    quick=${STUDY_QUICK:-0}
    if [ ! -x "$program" ]; then
        echo "the program $program does not exist: run make first" >&2
        exit 1
    fi
    mkdir -p "$out"
    echo "== $(basename "$here"): $(sed -n 's/^# [^ ]* - //p' "$here/run.sh" | head -n 1)"
    echo "key,ours" >"$out/ours.csv"
    echo "what,values,verdict" >"$out/orders.csv"
}

# seeds DEFAULT: prints the seeds to run; with --quick only one
seeds() {
    if [ "$quick" = 1 ]; then
        seq 1 1
    else
        seq 1 "$(setting seeds || echo "${STUDY_SEEDS:-$1}")"
    fi
}

# simulate RUN SCENARIO OPTIONS...: runs rocesim into OUT/RUN, unless --resume finds that run
# complete.
simulate() {
    local run=$1 scenario=$2
    shift 2
    local done_file="$out/$run.done" command="$scenario $* ${more[*]} $(cksum <"$here/$scenario")"
    if [ "${STUDY_RESUME:-0}" = 1 ] && [ -f "$done_file" ] && [ -f "$out/$run/summary.json" ] &&
        [ "$(cat "$done_file")" = "$command" ]; then
        return
    fi
    rm -f "$done_file"
    if ! "$program" run "$here/$scenario" -o "$out/$run" --threads "${THREADS:-1}" --quiet "$@" "${more[@]}" \
        >"$out/$run.log" 2>&1; then
        cat "$out/$run.log" >&2
        echo "the run $run failed" >&2
        exit 1
    fi
    echo "$command" >"$done_file"
    sed -n 's/^ *"wall_s": \([0-9.]*\),*$/   '"$run"': \1 s/p' "$out/$run/summary.json"
}

# field RUN NAME: prints the first field NAME of the run's summary
field() {
    sed -n 's/^ *"'"$2"'": "\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' "$out/$1/summary.json" | head -n 1
}

# measure KEY VALUE: notes one of our numbers
measure() {
    echo "$1,$2" >>"$out/ours.csv"
}

# expect TEXT A OP B: asks for an order of two numbers; OP is one of < > <= >=
expect() {
    local verdict
    verdict=$(awk -v a="$2" -v b="$4" "BEGIN {
        print (a != \"\" && b != \"\" && a + 0 $3 b + 0) ? \"ok\" : \"OUT\" }")
    echo "$1,$2 $3 $4,$verdict" >>"$out/orders.csv"
}

# quantile P: prints the quantile P of the numbers on stdin, by nearest rank
quantile() {
    sort -g | awk -v p="$1" '{ value[NR] = $1 }
        END { if (NR) { k = int(NR * p); if (k < NR * p) k++; if (k < 1) k = 1; print value[k] } }'
}

mean() {
    awk '{ sum += $1 } END { if (NR) printf "%.6g\n", sum / NR }'
}

# series RUN PATH: prints "time_us value" lines of one series
series() {
    awk -F, -v path="$2" 'NR > 1 && index($0, path) { value = $NF; print $1 / 1000, value }' \
        "$out/$1/series.csv"
}

# draw FILE.svg: runs gnuplot commands from stdin in the common style; DRAW_SIZE is the size in
# pixels
draw() {
    if ! command -v gnuplot >/dev/null; then
        echo "   (gnuplot is not installed: $1 is not drawn; the Debian package is gnuplot-nox)"
        return
    fi
    {
        echo "set terminal svg size ${DRAW_SIZE:-720,480} enhanced font 'sans-serif,14' background 'white'"
        echo "set output '$out/$1'"
        echo "set datafile separator whitespace; set grid lc rgb '#dddddd'; set key opaque"
        cat
    } | gnuplot && echo "   drawn: $out/$1"
}

# report [SHARE] [PUBLISHED]: prints the table. Returns false if fewer than SHARE percent (100) of
# the asked rows are within their tolerance; with --quick or --set it returns true. PUBLISHED is
# published.csv or a part of it.
report() {
    local status=0
    awk -v share="${1:-100}" -v csv="$out/table.csv" -f "$papers/table.awk" \
        "$out/ours.csv" "${2:-$here/published.csv}" "$out/orders.csv" >"$out/table.txt" || status=1
    cat "$out/table.txt"
    if { [ "$quick" = 1 ] || [ -n "${STUDY_SETTINGS:-}" ]; } && [ $status = 1 ]; then
        echo "   (with --quick or --set, no row decides the exit status)"
        status=0
    fi
    return $status
}
