#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/rates/test_contexts_record.sh - the file that traffic.contexts.record-file names.
#
# Goal: a run writes one line per operation, which pattern replay reads; a check writes nothing; a file
# that cannot be written is named, and the exit status is 1. Method: a short run on two hosts, and
# /dev/full. Does not pin: which queue pairs are used.
set -u
. tests/script.sh

cat >"$work/record.yaml" <<'EOF'
topology: {pair: {}}
nic: {model: detailed}
traffic:
  - contexts: {host: host0, peer: host1, tokens: 8, operations: 200, warm-up: 0}
EOF
record="traffic[0].contexts.record-file=$work/record.txt"

"$ROCESIM" check "$work/record.yaml" --set "$record" >/dev/null 2>"$work/err" ||
    fail "check: $(cat "$work/err")"
[ ! -e "$work/record.txt" ] || fail "check wrote the record"
"$ROCESIM" run "$work/record.yaml" --set "$record" --quiet >/dev/null 2>"$work/err" ||
    fail "run: $(cat "$work/err")"
[ "$(grep -cE '^[0-7]$' "$work/record.txt")" -ge 200 ] || fail "$(wc -l <"$work/record.txt") lines"
"$ROCESIM" run "$work/record.yaml" --quiet --set "traffic[0].contexts.pattern=replay" \
    --set "traffic[0].contexts.replay-file=$work/record.txt" >/dev/null 2>"$work/err" ||
    fail "replay: $(cat "$work/err")"
"$ROCESIM" run "$work/record.yaml" --set "traffic[0].contexts.record-file=/dev/full" --quiet \
    >/dev/null 2>"$work/err"
[ $? -eq 1 ] && grep -q "/dev/full: cannot write: No space" "$work/err" ||
    fail "a full disk: $(cat "$work/err")"
[ $failures -eq 0 ]
