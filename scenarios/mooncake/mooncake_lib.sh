# SPDX-License-Identifier: Apache-2.0
# scenarios/mooncake/mooncake_lib.sh - functions of the Mooncake studies, which source this file.
#
# A study calls begin OUT COLUMN..., then go NAME SCENARIO SETTING... and row VALUE... for each
# simulation, and figure at the end. Rows go to data.csv and, in columns, to table.txt. The first
# two columns are the curve and its x.
. "$(dirname "${BASH_SOURCE[0]}")/../study_lib.sh"

# begin OUT COLUMN...: creates the folder OUT and sets here, program, out, quick, trace, bench,
# widths.
begin() {
    here=$(cd "$(dirname "$0")" && pwd)
    program=${ROCESIM:-$here/../../build/release/rocesim}
    mkdir -p "$1"
    out=$(cd "$1" && pwd)
    quick=${STUDY_QUICK:-0}
    trace=$(realpath "${TRACE:-$here/small.jsonl}")
    bench='traffic[0].mooncake-bench'
    replay='traffic[0].mooncake-trace'
    status=0
    if [ ! -x "$program" ]; then
        echo "the program $program does not exist: run make first" >&2
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

# go NAME SCENARIO SETTING...: makes a run in a folder of its own; value reads the last run.
go() {
    run=$out/$(echo "$1" | tr -c 'a-zA-Z0-9.\n-' _)
    local scenario=$2 setting settings=()
    shift 2
    for setting in "$@"; do
        settings+=(--set "$setting")
    done
    [ "${scenario#/}" != "$scenario" ] || scenario=$here/$scenario
    if ! "$program" run "$scenario" -o "$run" --quiet "${settings[@]}" "${more[@]}" >"$run.log" 2>&1; then
        cat "$run.log" >&2
        echo "the run $run failed" >&2
        exit 1
    fi
    if ! grep -q '"unverified_bytes": 0' "$run/summary.json"; then
        echo "the run $run: some data arrived with wrong contents" >&2
        exit 1
    fi
}

# value PATH: prints a number of the last run's summary (apps[0].ttft_ms.p99), or - if there is none
value() {
    value_of "$run/summary.json" "$1"
}

# rounded DIGITS EXPRESSION: prints a number with DIGITS decimals
rounded() {
    awk "BEGIN { printf \"%.$1f\", $2 }"
}

# gbytes: prints the GB/s of the last run
gbytes() {
    rounded 2 "$(value 'apps[0].gbytes_per_s')"
}

# busiest: prints the busiest part of a host, or thread, of the last run, and its busy share in per
# cent
busiest() {
    awk 'function text() { sub(/.*": "/, ""); sub(/".*/, ""); return $0 }
         /"parts": \[/ { inside = 1 }
         /"records": \[/ { inside = 0 }
         inside && /"engine":/ { engine = text() }
         inside && /"part":/ { name = text() }
         inside && /"busy_percent":/ && $2 + 0 > most { most = $2 + 0; part = engine " " name }
         END { printf "%s %.0f%%", part, most }' "$run/summary.json"
}

# held NAME OURS THEIRS PERCENT: compares a value with a published one
held() {
    local off
    off=$(rounded 1 "100 * ($2 / $3 - 1)")
    if awk -v off="$off" -v limit="$4" 'BEGIN { exit !(off > limit || off < -limit) }'; then
        say "OUT: $1: $2, published $3: $off %, expected within $4 %"
        # With other settings than the published ones, a difference is no fault.
        [ "$quick" = 1 ] || [ -n "${STUDY_SETTINGS:-}" ] || status=1
    fi
}

# figure XLABEL COLUMN... [log]: draws the figure and prints its name
figure() {
    local drawn
    drawn=$(draw "$@")
    [ -z "$drawn" ] || say "figure: $drawn"
}
