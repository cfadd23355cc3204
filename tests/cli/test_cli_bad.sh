#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/test_cli_bad.sh - wrong scenarios are refused with the promised message.
#
# Goal: for each tests/golden/bad/NAME.yaml, `rocesim run` exits with 2, prints one line on stderr that
# begins with the file's name and contains every line of NAME.err, and writes nothing.
# Every message says what was expected or offers a name.
# Not pinned: the wording beyond what the .err files quote.
# Method: hundreds of commands, so that no other program is started for each of them.
set -u
. tests/script.sh
start_forks
cd tests/golden/bad || exit 1
count=0

# wrong NAME TEXT: with what was said.
wrong() {
    fail "$1: $2"
    [ -z "$said" ] || printf '    %s' "$said"
}

# read_file VARIABLE FILE: all of it, a newline at its end too.
read_file() {
    IFS= read -r -d '' "$1" <"$2" || true
}

for file in *.yaml; do
    name=${file%.yaml}
    count=$((count + 1))
    # A sanitizer build of `make test-all` reads every fourth; the fuzzers of scenarios have sanitizers, too.
    [ -z "${TEST_FEW:-}" ] || [ $((count % 4)) -eq 0 ] || continue
    rocesim run "$file" -o "$work/out" >"$work/out.txt" 2>"$work/err"
    status=$?
    read_file said "$work/err"
    [ "$status" -eq 2 ] || wrong "$name" "exit status $status, expected 2"
    [ -e "$work/out" ] && wrong "$name" "wrote $(ls "$work/out")" && rm -rf "$work/out"
    [ -s "$work/out.txt" ] && wrong "$name" "printed on stdout"
    [[ $said == *$'\n' && ${said%$'\n'} != *$'\n'* ]] || wrong "$name" "not one line on stderr"
    [[ $said =~ ^"$file":[0-9]*:[0-9]*:\  ]] || wrong "$name" "does not begin with the place"
    [[ $said =~ expected|did\ you\ mean|is\ not\ one\ of ]] || wrong "$name" "does not say what was expected"
    [ -s "$name.err" ] || wrong "$name" "no expected text"
    while IFS= read -r line; do
        [[ $said == *"$line"* ]] || wrong "$name" "expected: $line"
    done <"$name.err"
    # check must say the same as run.
    rocesim check "$file" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] || wrong "$name" "check accepts it"
    read_file same "$work/err"
    [ "$said" = "$same" ] || wrong "$name" "check says something else: $same"
done
echo "$count wrong scenarios, $failures failures"
[ "$count" -ge 60 ] && [ "$failures" -eq 0 ]
