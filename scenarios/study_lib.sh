# SPDX-License-Identifier: Apache-2.0
# scenarios/study_lib.sh - functions of the studies of several kinds; their libraries source it.
#
# A library sets `out` and `quick`. `out` is a folder with data.csv: the first column is the curve,
# the second is x.

# value_of FILE PATH: prints a number of a summary by its path (apps[0].mops,
# nics[0].cache.l1_hits), or - if there is none
value_of() {
    awk -v wanted="$2" '
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
        END { if (!found) print "-" }' "$1"
}

# pick QUICK ALL: prints the values of x: QUICK with --quick, else ALL
pick() {
    if [ "$quick" = 1 ]; then echo "$1"; else echo "$2"; fi
}

# draw XLABEL COLUMN... [log]: draws figure.svg with a panel for each column over x and a line for
# each curve, and prints its name. `axis` is the column of x if it is not the second; `labels`: x is
# a word.
draw() {
    local xlabel=${1//\'/} column curve curves index panels=0 log=
    shift
    command -v gnuplot >/dev/null || { echo "gnuplot is not installed: no figure is drawn" >&2; return 0; }
    curves=$(tail -n +2 "$out/data.csv" | cut -d, -f1 | awk '!seen[$0]++')
    for column in "$@"; do
        if [ "$column" = log ]; then log=1; else panels=$((panels + 1)); fi
    done
    {
        echo "set datafile separator ','; set datafile missing '-'; set key below; set grid"
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
    echo "$out/figure.svg"
}
