#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_shown.sh - no control character of a name reaches the terminal, whatever command prints it.
#
# Goal: escape sequences, C1 controls, marks that reverse text and broken UTF-8 in names of scenarios,
# files, folders, keys, options and values are shown as \x1b; other UTF-8, JSON and files stay exact.
# Method: each command with such names; the output has no such byte and tells the escaped form.
# Not pinned: where a long name is cut.
set -u
. tests/script.sh
start_forks

esc=$'\e[31mX\e]0;t\a'
evil="$work/e$esc"
mkdir "$evil" || exit 77
cat >"$evil/s$esc.yaml" <<'END'
name: "n\e[31mame\u009b \u202e größe"
description: "d\e]0;title\a"
topology: {star: {hosts: 4}}
traffic: [incast: {to: host0, bytes: 10KB}]
END
good=$evil/s$esc.yaml

# shown COMMAND...: it prints nothing that a terminal obeys, and something that tells of it.
shown() {
    "$@" </dev/null >"$work/out" 2>"$work/err"
    cat "$work/out" "$work/err" >"$work/both"
    LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$work/both" &&
        fail "raw: $(printf '%q ' "${@:1:4}")"
    grep -qF '\x1b' "$work/both" || grep -qF '\u001B' "$work/both" ||
        fail "not told: $(printf '%q ' "${@:1:4}"): $(head -n 2 "$work/both")"
}

shown rocesim run "$good" -o "$evil/r$esc"
grep -qF 'n\x1b[31mame\u009b \u202e größe: d\x1b]0;title\x07' "$work/out" ||
    fail "run: $(head -n 1 "$work/out")"
shown rocesim run "$good" --json
grep -qF '"n\u001B[31mame\u009b \u202e größe"' "$work/out" || fail "JSON: $(grep scenario "$work/out")"
python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["scenario"] == "n\x1b[31mame\x9b \u202e größe"' "$work/out" ||
    fail "JSON has another name"
shown rocesim check "$good"
shown rocesim run "$good" --set "nic.x$esc=1"
shown rocesim run "$good" --set "nic.mtu=$esc"
shown rocesim run "$good" --set "traffic[0].incast.to=host$esc"
shown rocesim run "$good" "--no$esc"
shown rocesim run "$evil/missing"
shown rocesim "ru$esc"
shown rocesim params "$esc"
shown rocesim compare "$evil/r$esc" "$evil/r$esc"
shown rocesim compare "$evil/r$esc" "$evil/missing"
shown rocesim diff "$evil/r$esc" "$evil/missing"
shown rocesim plot "$evil/missing" -o "$work/x.svg"
shown rocesim plot "$evil/r$esc" -o "$evil/x.gnuplot"
shown rocesim hpcc "$evil/missing"
shown rocesim calibrate "$evil/missing"
shown rocesim schema "$esc"
shown rocesim run "$good" --progress "$evil/missing/p"
printf 'scenario: "s\\e[31mX\\e]0;t\\a.yaml"\ngrid: {nic.mtu: [1024]}\n' >"$evil/sweep.yaml"
shown rocesim sweep "$evil/sweep.yaml" -o "$evil/w"
printf 'scenario: "s\\e[31mX\\e]0;t\\a.yaml"\ngrid: {"nic.m\\e[5mtu": [1024]}\n' >"$evil/sweep.yaml"
shown rocesim sweep "$evil/sweep.yaml" -o "$evil/w2"
printf '4 1 3\n3\n0 3 \e[31m100Gbps 1us 0\n' >"$evil/topo.txt"
shown rocesim run "$good" --set "topology={file: topo.txt}"
printf '\xff\x9b[31m: 1\n' >"$work/bad.yaml"
rocesim run "$work/bad.yaml" 2>&1 | LC_ALL=C grep -qP '[\x80-\xff\x1b]' && fail "bytes that are not UTF-8"

# Tables for programs stay exact where they do not go to a terminal.
rocesim compare --csv "$evil/r$esc" "$evil/r$esc" 2>/dev/null | LC_ALL=C grep -qF "$esc" ||
    fail "compare --csv changes names"
grep -qF 'n\u001B[31mame' "$evil/r$esc/summary.json" || fail "summary.json"

# -- --progress tells what it cannot write

rocesim run scenarios/quickstart.yaml --progress "$work/none/p" -o "$work/r" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && [ ! -e "$work/r" ] || fail "--progress to a bad path: status, or something is written"
grep -q "none/p: cannot write the progress: No such file or directory, expected a file for --progress" \
    "$work/err" || fail "--progress: $(cat "$work/err")"
mkfifo "$work/fifo" && within 60 rocesim run scenarios/quickstart.yaml --progress "$work/fifo" \
    >/dev/null 2>"$work/err"
[ $? -eq 2 ] || fail "--progress to a pipe: status"
exit $((failures > 0))
