# SPDX-License-Identifier: Apache-2.0
# scenarios/mooncake/mooncake_lib.sh - what the studies share; sourced by them.
#
# A study: begin OUT COLUMN..., then go NAME SCENARIO SETTING... and row VALUE... for each simulation,
# figure at the end. Rows go to data.csv and, in columns, to table.txt. The first two columns are the
# curve and its x.

# begin OUT COLUMN...: sets here, program, out, quick, trace, bench, widths.
begin() {
    here=$(cd "$(dirname "$0")" && pwd)
    program=${ROCESIM:-$here/../../build/release/rocesim}
    mkdir -p "$1"
    out=$(cd "$1" && pwd)
    quick=${MOONCAKE_QUICK:-0}
    trace=$(realpath "${TRACE:-$here/small.jsonl}")
    bench='traffic[0].mooncake-bench'
    replay='traffic[0].mooncake-trace'
    status=0
    if [ ! -x "$program" ]; then
        echo "$program is not there: run make first" >&2
        exit 1
    fi
    program=$(realpath "$program")
    shift
    : >"$out/table.txt"
    (IFS=,; echo "$*") >"$out/data.csv"
    say "== $(sed -n 's/^# \([^ ]* - .*\)/\1/p' "$0" | head -n 1)"
    columns "$@"
}

say() {
    echo "$@" | tee -a "$out/table.txt"
}

columns() {
    printf '%-22s' "$1" | tee -a "$out/table.txt"
    shift
    printf ' %14s' "$@" | tee -a "$out/table.txt"
    say ''
}

row() {
    (IFS=,; echo "$*") >>"$out/data.csv"
    columns "$@"
}

# pick QUICK ALL: the values of x
pick() {
    if [ "$quick" = 1 ]; then echo "$1"; else echo "$2"; fi
}

# go NAME SCENARIO SETTING...: a run, in its folder; value asks about the last one.
go() {
    run=$out/$(echo "$1" | tr -c 'a-zA-Z0-9.\n-' _)
    local scenario=$2 setting settings=()
    shift 2
    for setting in "$@"; do
        settings+=(--set "$setting")
    done
    [ "${scenario#/}" != "$scenario" ] || scenario=$here/$scenario
    if ! "$program" run "$scenario" -o "$run" --quiet "${settings[@]}" >"$run.log" 2>&1; then
        cat "$run.log" >&2
        echo "run $run failed" >&2
        exit 1
    fi
    if ! grep -q '"unverified_bytes": 0' "$run/summary.json"; then
        echo "run $run: something arrived wrong" >&2
        exit 1
    fi
}

# value PATH: a number of the last run's summary (apps[0].ttft_ms.p99); - if none
value() {
    awk -v wanted="$1" '
        { line = $0; match(line, /^ */); depth = RLENGTH / 2; sub(/^ */, "", line); sub(/,$/, "", line)
          key = ""
          if (match(line, /^"[^"]*": /)) {
              key = substr(line, 2, RLENGTH - 4)
              line = substr(line, RLENGTH + 1)
          }
          if (line ~ /^[\]}]/) next
          if (key != "") name[depth] = key
          else if (depth > 0) name[depth] = "[" (count[depth]++) "]"
          path = ""
          for (d = 1; d <= depth; d++) path = path (name[d] ~ /^\[/ || path == "" ? "" : ".") name[d]
          if (line ~ /^[\[{]/) { count[depth + 1] = 0; next }
          if (path == wanted) { gsub(/"/, "", line); print line; found = 1; exit } }
        END { if (!found) print "-" }' "$run/summary.json"
}

# rounded DIGITS EXPRESSION
rounded() {
    awk "BEGIN { printf \"%.$1f\", $2 }"
}

# gbytes: GB/s of the last run
gbytes() {
    rounded 2 "$(value 'apps[0].gbytes_per_s')"
}

# busiest: the part of a host, or the thread, that was busiest in the last run, and its share in per cent
busiest() {
    awk 'function text() { sub(/.*": "/, ""); sub(/".*/, ""); return $0 }
         /"parts": \[/ { inside = 1 }
         /"records": \[/ { inside = 0 }
         inside && /"engine":/ { engine = text() }
         inside && /"part":/ { name = text() }
         inside && /"busy_percent":/ && $2 + 0 > most { most = $2 + 0; part = engine " " name }
         END { printf "%s %.0f%%", part, most }' "$run/summary.json"
}

# held NAME OURS THEIRS PERCENT: a row that is held against a published one
held() {
    local off
    off=$(rounded 1 "100 * ($2 / $3 - 1)")
    if awk -v off="$off" -v limit="$4" 'BEGIN { exit !(off > limit || off < -limit) }'; then
        say "OUT: $1: $2, published $3: $off %, expected within $4 %"
        [ "$quick" = 1 ] || status=1
    fi
}

# figure XLABEL COLUMN... [log]: a panel for each column over x, a line for each curve
figure() {
    local xlabel=${1//\'/} column curve curves index panels=0 log=
    shift
    command -v gnuplot >/dev/null || { echo "no gnuplot: no figure" >&2; return 0; }
    curves=$(tail -n +2 "$out/data.csv" | cut -d, -f1 | awk '!seen[$0]++')
    for column in "$@"; do
        if [ "$column" = log ]; then log=1; else panels=$((panels + 1)); fi
    done
    {
        echo "set datafile separator ','; set datafile missing '-'; set key top left; set grid"
        echo "set terminal svg size $((460 * panels)),400; set output '$out/figure.svg'"
        echo "set multiplot layout 1,$panels; set xlabel '$xlabel'"
        [ -z "$log" ] || echo "set logscale x 2"
        for column in "$@"; do
            [ "$column" != log ] || continue
            index=$(head -n 1 "$out/data.csv" | tr , '\n' | grep -n "^$column\$" | cut -d: -f1)
            echo "set ylabel '$column' noenhanced; set yrange [0:*]"
            printf 'plot '
            while read -r curve; do
                printf "'< grep \"^%s,\" %s/data.csv' using %s with linespoints title '%s' noenhanced, " \
                    "$curve" "$out" "${axis:-2}:$index${labels:+:xtic(2)}" "$curve"
            done <<<"$curves" | sed 's/, $//'
            echo
        done
    } >"$out/figure.gnuplot"
    gnuplot "$out/figure.gnuplot"
    say "figure: $out/figure.svg"
}
