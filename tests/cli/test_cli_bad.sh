#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/test_cli_bad.sh - wrong scenarios are refused with the promised message.
#
# Goal: for each tests/golden/bad/NAME.yaml, `rocesim run` exits with 2, prints one line on stderr that
# begins with the file's name and contains every line of NAME.err, and writes nothing.
# Every message says what was expected or offers a name.
# Not pinned: the wording beyond what the .err files quote.
set -u
cd "$(dirname "$0")/../golden/bad" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
count=0

fail() {
    echo "FAIL $1: $2"
    [ -s "$work/err" ] && sed 's/^/    /' "$work/err"
    failures=$((failures + 1))
}

for file in *.yaml; do
    name=${file%.yaml}
    count=$((count + 1))
    # A sanitizer build of `make test` reads every fourth; the fuzzers of scenarios have sanitizers, too.
    [ -z "${TEST_FEW:-}" ] || [ $((count % 4)) -eq 0 ] || continue
    "$ROCESIM" run "$file" -o "$work/out" >"$work/out.txt" 2>"$work/err"
    status=$?
    [ "$status" -eq 2 ] || fail "$name" "exit status $status, expected 2"
    [ -e "$work/out" ] && fail "$name" "wrote $(ls "$work/out")" && rm -rf "$work/out"
    [ -s "$work/out.txt" ] && fail "$name" "printed on stdout"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$name" "not one line on stderr"
    grep -q "^$file:[0-9]*:[0-9]*: " "$work/err" || fail "$name" "does not begin with the place"
    grep -qE "expected|did you mean|is not one of" "$work/err" ||
        fail "$name" "does not say what was expected"
    [ -s "$name.err" ] || fail "$name" "no expected text"
    while IFS= read -r line; do
        grep -qF -- "$line" "$work/err" || fail "$name" "expected: $line"
    done <"$name.err"
    # check must say the same as run.
    cp "$work/err" "$work/run.err"
    "$ROCESIM" check "$file" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] || fail "$name" "check accepts it"
    cmp -s "$work/err" "$work/run.err" || fail "$name" "check says something else"
done
echo "$count wrong scenarios, $failures failures"
[ "$count" -ge 60 ] && [ "$failures" -eq 0 ]
