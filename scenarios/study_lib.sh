# SPDX-License-Identifier: Apache-2.0
# scenarios/study_lib.sh - functions of the studies of several kinds; their libraries source it.
#
# A library sets `out` and `quick`. `out` is a folder with data.csv: the first column is the curve,
# the second is x. STUDY_SETTINGS has a line for each --set NAME=VALUE of the command line.

# setting NAME: prints the value of --set NAME=VALUE; returns 1 if there is none
setting() {
    local line value found=1
    while IFS= read -r line; do
        if [ "${line%%=*}" = "$1" ]; then
            found=0
            value=${line#*=}
        fi
    done <<<"${STUDY_SETTINGS:-}"
    [ $found = 0 ] || return 1
    echo "$value"
}

# is_parameter NAME: tells whether this study has the parameter NAME: it calls pick NAME or seeds
is_parameter() {
    grep -q -e "\$(pick $1 ." "$0" || { [ "$1" = seeds ] && grep -q '\$(seeds ' "$0"; }
}

# take_settings: sorts the settings of the command line. Those of the study's parameters are lists of
# values; `more` gets the other ones as options for each simulation. Stops at a wrong setting.
take_settings() {
    local line
    more=()
    while IFS= read -r line; do
        [ -n "$line" ] || continue
        if [[ ! "$line" =~ ^[][A-Za-z0-9_.*-]+= ]]; then
            echo "--set $line: expected NAME=VALUE" >&2
            exit 2
        elif [[ ! "${line%%=*}" =~ ^[a-z0-9-]+$ ]] || ! is_parameter "${line%%=*}"; then
            more+=(--set "$line")
        elif [[ ! "${line#*=}" =~ ^[A-Za-z0-9.:/_+,\ -]+$ ]]; then
            echo "--set $line: expected values of letters, digits and . : / _ + -, with spaces between" >&2
            exit 2
        fi
    done <<<"${STUDY_SETTINGS:-}"
}
take_settings

# open_study OUT QUICK COLUMNS: creates the folder OUT with data.csv, and sets here, program, out, quick
# and more
open_study() {
    here=$(cd "$(dirname "$0")" && pwd)
    program=${ROCESIM:-$here/../../build/release/rocesim}
    out=$1
    quick=$2
    if [ ! -x "$program" ]; then
        echo "the program $program does not exist: run make first" >&2
        exit 1
    fi
    take_settings
    mkdir -p "$out"
    echo "== $(sed -n 's/^# \([^ ]* - .*\)/\1/p' "$0" | head -n 1)"
    echo "$3" | tee "$out/data.csv"
}

# simulate_file SCENARIO NAME=VALUE...: runs a scenario beside the study and sets summary to its
# summary.json
simulate_file() {
    local scenario=$1 set=() option
    shift
    for option in "$@"; do
        set+=(--set "$option")
    done
    summary=$out/run/summary.json
    if ! "$program" run "$here/$scenario" -o "$out/run" --quiet --yes "${set[@]}" "${more[@]}" \
        >"$out/run.log" 2>&1; then
        cat "$out/run.log" >&2
        echo "a run failed: $program run $here/$scenario ${set[*]}" >&2
        exit 1
    fi
}

# put VALUE...: prints a row and appends it to data.csv
put() {
    local IFS=,
    echo "$*" | tee -a "$out/data.csv"
}

# against OURS THEIRS: prints "ours,theirs,difference in percent"; - where nothing is published
against() {
    if [ "$2" = - ]; then
        echo "$1,-,-"
    else
        echo "$1,$2,$(awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.1f", 100 * (a / b - 1) }')"
    fi
}

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

# pick [NAME] QUICK ALL: prints the values of x: those of --set NAME=VALUES, else QUICK with --quick,
# else ALL
pick() {
    local values
    if [ $# -eq 3 ]; then
        if values=$(setting "$1"); then
            echo "${values//,/ }"
            return
        fi
        shift
    fi
    if [ "$quick" = 1 ]; then echo "$1"; else echo "$2"; fi
}

# quoted TEXT: prints a JSON string
quoted() {
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

# describe KIND MEMBER VALUE...: writes figure.json, which says to other programs how figure.svg
# shows data.csv. A value is a JSON value.
describe() {
    printf '{"kind": "%s"' "$1"
    shift
    while [ $# -ge 2 ]; do
        printf ', "%s": %s' "$1" "$2"
        shift 2
    done
    echo '}'
} >"$out/figure.json"

# draw XLABEL COLUMN... [log]: draws figure.svg with a panel for each column over x and a line for
# each curve, and prints its name. `axis` is the column of x if it is not the second; `labels`: x is
# a word.
draw() {
    local xlabel=${1//\'/} column curve curves index panels=0 log= shown=
    local x_title=$1
    shift
    for column in "$@"; do
        if [ "$column" = log ]; then log=1; else shown+=${shown:+, }$(quoted "$column"); fi
    done
    # With words as x, they are the labels of bars.
    if [ -n "${labels:-}" ]; then
        describe bars x_label "$(quoted "$x_title")" x 1 columns "[$shown]"
    else
        describe lines x_label "$(quoted "$x_title")" x $((${axis:-2} - 1)) columns "[$shown]" \
            x_log "$([ -n "$log" ] && echo true || echo false)"
    fi
    log=
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
