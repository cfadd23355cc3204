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
