#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/cli/test_cli_manual.sh - manual pages, completions and versions.
#
# Goal: `rocesim --help` lists each command; each has a page without warnings that holds every option of
# its --help; both shells accept the completions, and bash completes with them; versions are told to programs.
# Method: groff, bash's own completion function with COMP_WORDS set by hand, zsh -n.
set -u
. tests/script.sh
tools/manual "$ROCESIM" "$work/manual" || fail "tools/manual"

[ "$(ls "$work/manual/man1" | wc -l)" -gt 15 ] || fail "pages: $(ls "$work/manual/man1")"
gunzip "$work"/manual/man1/*.gz
for page in "$work"/manual/man1/*.1; do
    name=$(basename "$page" .1)
    command=${name#rocesim}
    "$ROCESIM" --help | grep -q "^  rocesim ${command#-}" || fail "rocesim --help does not list ${command#-}"
    "$ROCESIM" help ${command#-} | grep -oE '^  --?[a-z-]+' | while read -r option; do
        grep -qF -- "${option//-/\\-}" "$page" || echo "$name: no $option"
    done >"$work/missing"
    [ ! -s "$work/missing" ] || fail "$(cat "$work/missing")"
    command -v groff >/dev/null || continue
    groff -man -Tutf8 -ww -z "$page" >"$work/warnings" 2>&1
    [ ! -s "$work/warnings" ] || fail "$name: $(head -n 3 "$work/warnings")"
done

# complete WORD...: prints what bash offers for the last word.
complete_words() {
    PATH="$(dirname "$ROCESIM"):$PATH" bash --norc -c '
        source "$0"
        compopt() { :; }
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _rocesim rocesim "${@: -1}" "${@: -2:1}"
        printf "%s\n" "${COMPREPLY[@]}"' "$work/manual/bash/rocesim" "$@"
}
[ "$(complete_words rocesim sw)" = sweep ] || fail "sw: $(complete_words rocesim sw)"
[ "$(complete_words rocesim run --tie)" = --tie-seed ] || fail "--tie: $(complete_words rocesim run --tie)"
complete_words rocesim run --set nic.mt | grep -qx 'nic.mtu=' || fail "--set nic.mt"
[ "$(complete_words rocesim topo READ)" = README.md ] || fail "a file: $(complete_words rocesim topo READ)"
[ "$(complete_words rocesim help conv)" = convert ] || fail "help conv"
if command -v zsh >/dev/null; then
    zsh -n "$work/manual/zsh/_rocesim" || fail "zsh does not read the completions"
fi
grep -q "'\*--set\[Set any attribute" "$work/manual/zsh/_rocesim" || fail "zsh: --set"

"$ROCESIM" --version --json | grep -q '"results": 1' || fail "$("$ROCESIM" --version --json)"
"$ROCESIM" help --completion fish >"$work/said" 2>&1
[ $? = 2 ] && grep -q 'expected bash or zsh' "$work/said" || fail "fish: $(cat "$work/said")"
"$ROCESIM" check scenarios/quickstart.yaml --set format=2 >"$work/said" 2>&1
[ $? = 2 ] && grep -q 'format' "$work/said" || fail "format 2: $(cat "$work/said")"
exit $((failures > 0))
