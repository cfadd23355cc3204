# SPDX-License-Identifier: Apache-2.0
# scenarios/wan/wan_lib.sh - functions of the WAN studies, which source this file.
#
# A study calls begin OUT COLUMN,COLUMN..., then simulate SCENARIO NAME=VALUE... and put VALUE...
# for each simulation, and draws a figure at the end. Rows go to data.csv.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# begin OUT COLUMNS: creates the folder OUT and sets out, program, quick, here and more.
begin() {
    open_study "$1" "${STUDY_QUICK:-0}" "$2"
}

# simulate SCENARIO NAME=VALUE...: runs the scenario and sets summary to its summary.json
simulate() {
    simulate_file "$@"
}

# value PATH...: prints numbers of the summary by their paths (apps[0].goodput_gbps), separated by
# commas; - stands for a number that does not exist
value() {
    local path row=""
    for path in "$@"; do
        row+=${row:+,}$(value_of "$summary" "$path")
    done
    echo "$row"
}

# transport NAME...: prints numbers of apps[0].transport
transport() {
    local paths=()
    for name in "$@"; do
        paths+=("apps[0].transport.$name")
    done
    value "${paths[@]}"
}

# lost: prints the number of packets that buffers and links lost
lost() {
    awk -F: '/^  "drops"/ { inside = 1 } inside && /^  }/ { exit }
        inside && $1 !~ /units/ { sub(/,/, "", $2); sum += $2 } END { print sum + 0 }' "$summary"
}

two='function min(a, b) { return a < b ? a : b } function max(a, b) { return a > b ? a : b }'
# calc EXPRESSION: prints a number; the expression may use min(a, b) and max(a, b)
calc() {
    awk "$two BEGIN { x = ($1); printf \"%.6g\", x }"
}

# whole EXPRESSION: prints the integer part of a number
whole() {
    awk "$two BEGIN { x = ($1); printf \"%.0f\", int(x) }"
}

# seconds TIME: prints a time in seconds, for example 0.03 for 30ms
seconds() {
    awk -v t="$1" 'BEGIN { n = t + 0; u = t; sub(/^[0-9.]*/, "", u)
        print n * (u == "us" ? 1e-6 : u == "ms" ? 1e-3 : u == "ns" ? 1e-9 : 1) }'
}

# frame_of TRANSPORT: prints the bytes of a full packet on a link, with headers, preamble and gap
frame_of() {
    # Selective transports carry the address in each packet.
    if [ "$1" = go-back-n ]; then echo 4178; else echo 4194; fi
}

# column NAME: prints the number of a column of data.csv
column() {
    head -n 1 "$out/data.csv" | tr , '\n' | grep -nx "$1" | cut -d: -f1
}

# lines XNAME YNAME [gnuplot command]...: draws figure.svg, y over x, with a line for each value of
# the first column
lines() {
    local x=$1 y=$2 command x_log=false y_log=false
    shift 2
    for command in "$@"; do
        case $command in "set logscale"*x*) x_log=true ;; esac
        case $command in "set logscale"*y*) y_log=true ;; esac
    done
    describe lines x_label "$(quoted "$x")" x $(($(column "$x") - 1)) columns "[$(quoted "$y")]" \
        x_log $x_log y_log $y_log
    command -v gnuplot >/dev/null || { echo "gnuplot is not installed: no figure is drawn" >&2; return 0; }
    {
        echo "set datafile separator ','; set datafile missing '-'; set key outside; set grid"
        echo "set terminal svg size 720,420; set output '$out/figure.svg'"
        echo "set xlabel '$x' noenhanced; set ylabel '$y' noenhanced"
        for command in "$@"; do echo "$command"; done
        printf 'plot '
        tail -n +2 "$out/data.csv" | cut -d, -f1 | awk '!seen[$0]++' | while read -r curve; do
            printf "'< grep \"^%s,\" %s/data.csv' using %s:%s with linespoints title '%s' noenhanced, " \
                "$curve" "$out" "$(column "$x")" "$(column "$y")" "$curve"
        done | sed 's/, $//'
        echo
    } >"$out/figure.gnuplot"
    gnuplot "$out/figure.gnuplot"
    echo "$out/figure.svg"
}

# heat XNAME YNAME ZNAME [MOST]: draws figure.svg, a map for each value of the first column. Colours
# go from 0 to MOST (100). Blue stands for large values, or with -MOST for small values.
heat() {
    describe heat x $(($(column "$1") - 1)) y $(($(column "$2") - 1)) columns "[$(quoted "$3")]" \
        most "${4:-100}"
    command -v gnuplot >/dev/null || { echo "gnuplot is not installed: no figure is drawn" >&2; return 0; }
    local x y z most=${4:-100} curves count colours="0 '#b2182b', 50 '#f7f7f7', 100 '#2166ac'"
    x=$(column "$1") y=$(column "$2") z=$(column "$3")
    curves=$(tail -n +2 "$out/data.csv" | cut -d, -f1 | awk '!seen[$0]++')
    count=$(echo "$curves" | wc -l)
    [ "${most#-}" = "$most" ] || colours="0 '#2166ac', 50 '#f7f7f7', 100 '#b2182b'"
    {
        echo "set terminal svg size $((380 * count)),380; set output '$out/figure.svg'"
        echo "set multiplot layout 1,$count; set cbrange [0:${most#-}]; unset colorbox"
        echo "set palette defined ($colours)"
        echo "set xlabel '$1' noenhanced; set ylabel '$2' noenhanced; set tics out scale 0.3 font ',9'"
        echo "$curves" | while read -r curve; do
            echo "\$map << END"
            awk -F, -v c="$curve" -v x="$x" -v y="$y" -v z="$z" '
                BEGIN { nx = ny = 0 }
                NR > 1 && $1 == c {
                    if (!($x in xs)) { xs[$x] = nx; xname[nx++] = $x }
                    if (!($y in ys)) { ys[$y] = ny; yname[ny++] = $y }
                    value[xs[$x], ys[$y]] = $z }
                END { for (i = 0; i < nx; i++) for (j = 0; j < ny; j++)
                    if ((i, j) in value)
                        print i, j, value[i, j], xname[i], yname[j],
                            sprintf(value[i, j] >= 10 ? "%.3g" : "%.2g", value[i, j])
                    else
                        print i, j, "NaN", xname[i], yname[j], "\"\"" }' "$out/data.csv"
            echo END
            echo "set title '$curve' noenhanced font ',10'"
            echo "plot \$map using 1:2:3:xtic(4):ytic(5) with image notitle," \
                "\$map using 1:2:6 with labels font ',8' notitle"
        done
    } >"$out/figure.gnuplot"
    gnuplot "$out/figure.gnuplot"
    echo "$out/figure.svg"
}

# bars YNAME LABELS [gnuplot command]...: draws figure.svg with a bar for each row, labelled with
# its first LABELS columns
bars() {
    describe bars labels "$2" columns "[$(quoted "$1")]"
    command -v gnuplot >/dev/null || { echo "gnuplot is not installed: no figure is drawn" >&2; return 0; }
    local name=$1 labels=$2 command
    shift 2
    {
        echo "set terminal svg size $((140 + 22 * $(wc -l <"$out/data.csv"))),520"
        echo "set output '$out/figure.svg'; set ylabel '$name' noenhanced"
        echo "set style fill solid 0.7; set boxwidth 0.7; set yrange [0:*]; set grid y"
        echo "set xtics rotate by 90 right noenhanced font ',9' nomirror"
        for command in "$@"; do echo "$command"; done
        echo "\$rows << END"
        awk -F, -v y="$(column "$name")" -v labels="$labels" 'NR > 1 {
            text = $1
            for (i = 2; i <= labels; i++) text = text " " $i
            print NR - 1 ",\"" text "\"," $y }' "$out/data.csv"
        echo END
        echo "set datafile separator ','; plot \$rows using 1:3:xtic(2) with boxes notitle"
    } >"$out/figure.gnuplot"
    gnuplot "$out/figure.gnuplot"
    echo "$out/figure.svg"
}
