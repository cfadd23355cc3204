# SPDX-License-Identifier: Apache-2.0
# scenarios/serving/serving_lib.sh - functions of the studies of serving, which source this file.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# value PATH: prints a number of the last run's summary (apps[0].ttft_ms.p99), or - if there is none
value() {
    value_of "$summary" "$1"
}

# calc DIGITS EXPRESSION: prints a number with DIGITS significant digits; - if the expression has a -
# as a word
calc() {
    case " $2 " in
    *' - '[0-9.]*) ;;
    *' - '*) echo - && return ;;
    esac
    awk "BEGIN { printf \"%.$1g\", $2 }"
}

# versus QUANTITY OURS THEIRS SOURCE: prints and appends a row of compare.csv with the difference in percent.
# THEIRS is - where nothing is published or known.
versus() {
    [ "$2" != - ] || return 0
    [ -s "$out/compare.csv" ] || echo "quantity,ours,theirs,difference_percent,source" >"$out/compare.csv"
    echo "$1,$(against "$2" "$3"),$4" | tee -a "$out/compare.csv"
}

# begin_study OUT QUICK COLUMNS: opens a study without rows of an earlier one
begin_study() {
    rm -f "$1/compare.csv"
    open_study "$@"
}
