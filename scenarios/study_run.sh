# SPDX-License-Identifier: Apache-2.0
# scenarios/study_run.sh - the command line of every folder of studies, whose script `run` sources this.
#
# A study is a sweep NAME.sweep.yaml beside `run`, which `rocesim sweep` runs as well; or, if a sweep cannot
# express it, a script NAME.sh or NAME/run.sh, whose first comment has "NAME - its question". The head of
# `run` is the help text. `out` is the folder of results; `noun` is what the folder calls a study; with
# `repeats=1`, the studies know --resume and --seeds.
here=$(cd "$(dirname "$0")" && pwd)
out=out/$(basename "$here")
noun=${noun:-study}
# The program is ROCESIM, or that of the source tree, or the installed one.
if [ -z "${ROCESIM:-}" ] && [ ! -x "$here/../../build/release/rocesim" ]; then
    export ROCESIM=rocesim
fi

usage() {
    sed -n '3,/^set -eu/p' "$0" | sed -n 's/^# \{0,1\}//p' >&2
    exit 2
}

# script_of NAME: prints the script of a study; returns 1 if there is none
script_of() {
    local script
    for script in "$here/$1.sweep.yaml" "$here/$1.sh" "$here/$1/run.sh"; do
        if [ -f "$script" ] && [[ "$1" != *_lib ]]; then
            echo "$script"
            return
        fi
    done
    return 1
}

studies() {
    local path name
    for path in "$here"/*.sh "$here"/*/run.sh "$here"/*.sweep.yaml; do
        name=${path#"$here"/}
        name=${name%.sweep.yaml}
        name=${name%.sh}
        name=${name%/run}
        if script_of "$name" >/dev/null; then echo "$name"; fi
    done
}

list() {
    local name script
    for name in $(studies | sort); do
        script=$(script_of "$name")
        case $script in
        *.yaml) printf '%-14s %s\n' "$name" "$(sed -n '1s/^# //p' "$script")" ;;
        *) printf '%-14s %s\n' "$name" "$(sed -n 's/^# [^ ]* - //p' "$script" | head -n 1)" ;;
        esac
    done
}

# sweep_figure NAME FOLDER: writes data.csv and figure.json as scripts of studies do (study_lib.sh), for
# programs that draw: x is the last parameter, the others name the curve.
sweep_figure() {
    awk -F, -v name="$1" -v about="$2/figure.json" '
        # A column is named by the end of its path, and by more of it where that alone says too little.
        function short(path, parts, n) {
            n = split(path, parts, ".")
            if (n > 1 && parts[n] == "mean") return parts[n - 1]
            if (n > 1 && (parts[n] ~ /^(max|min|p[0-9]+)$/ || parts[n] in seen)) {
                return parts[n - 1] "_" parts[n]
            }
            return parts[n]
        }
        NR == 1 {
            for (i = 1; i <= NF; i++) at[$i] = i
            last = at["runs"] - 1
            printf "curve,x"
            for (i = at["failed"] + 1; i <= NF; i++) {
                if ($i ~ /_ci95$/) continue
                column[++count] = i
                title = short($i)
                seen[title] = 1
                printf ",%s", title
                list = list (count > 1 ? ", " : "") "\"" title "\""
            }
            print ""
            printf "{\"kind\": \"lines\", \"x_label\": \"%s\", \"x\": 1, ", $last >about
            printf "\"columns\": [%s]}\n", list >about
            next
        }
        {
            curve = ""
            for (i = 2; i < last; i++) curve = curve (i > 2 ? " " : "") $i
            printf "%s,%s", (curve == "" ? name : curve), $last
            for (i = 1; i <= count; i++) printf ",%s", ($column[i] == "" ? "-" : $column[i])
            print ""
        }' "$2/points.csv" >"$2/data.csv"
}

# run_sweep FILE FOLDER: runs a sweep, prints its points and draws them
run_sweep() {
    local set=() line program=${ROCESIM:-$here/../../build/release/rocesim}
    while IFS= read -r line; do
        [ -z "$line" ] || set+=(--set "$line")
    done <<<"$STUDY_SETTINGS"
    [ "$STUDY_QUICK" = 0 ] || set+=(--quick)
    echo "== $(sed -n '1s/^# //p' "$1")"
    mkdir -p "$(dirname "$2")"
    "$program" sweep "$1" -o "$2" --quiet "${set[@]}" || return 1
    cat "$2/points.csv"
    sweep_figure "$(basename "$2")" "$2" || return 1
    command -v gnuplot >/dev/null || { echo "gnuplot is not installed: no figure is drawn" >&2; return 0; }
    "$program" plot "$2" -o "$2/figure.svg"
}

# run_studies ARGUMENT...: does what the command line asks for, and ends the script
run_studies() {
    local names=() name status=0
    export STUDY_QUICK=0 STUDY_SETTINGS= STUDY_RESUME=0 STUDY_SEEDS=
    while [ $# -gt 0 ]; do
        case ${repeats:-0}$1 in
        ?-o) [ $# -ge 2 ] || usage; out=$2; shift ;;
        ?--set) [ $# -ge 2 ] || usage; STUDY_SETTINGS+=$2$'\n'; shift ;;
        ?--quick) STUDY_QUICK=1 ;;
        1--resume) STUDY_RESUME=1 ;;
        1--seeds) [ $# -ge 2 ] || usage; STUDY_SEEDS=$2; shift ;;
        ?-*) usage ;;
        ?all) for name in $(studies); do names+=("$name"); done ;;
        *) names+=("$1") ;;
        esac
        shift
    done
    if [ ${#names[@]} -eq 0 ]; then
        list
        exit 0
    fi
    for name in "${names[@]}"; do
        if ! script_of "$name" >/dev/null; then
            echo "there is no $noun '$name'; these exist:" >&2
            list >&2
            exit 2
        fi
    done
    for name in "${names[@]}"; do
        case $(script_of "$name") in
        *.yaml) run_sweep "$(script_of "$name")" "$out/$name" ;;
        *) bash "$(script_of "$name")" "$out/$name" ;;
        esac || status=1
    done
    exit $status
}
