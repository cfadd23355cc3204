# SPDX-License-Identifier: Apache-2.0
# tests/fast_forward.sh - compares full runs with runs that skip: sourced after tests/script.sh.

# strip FOLDER: leaves only what fast-forward may not change.
strip() {
    rm -f "$1/manifest.json" "$1/scenario.yaml" "$1/schema.json"
    sed -i -E '/"wall_/d; /"digest"/d; /"fast_forward"/,/^  \},?$/d' "$1/summary.json"
}

# number NAME: of the run in $work/memo.
number() {
    sed -n "s/^ *\"$1\": \"\?\([0-9a-z]*\).*/\1/p" "$work/summary" | head -n 1
}

# same NAME [OPTION]...: runs $work/s.yaml in full and with fast-forward; compares. 1: it is not valid.
same() {
    local name=$1 status=0 skipped=0
    shift
    rm -rf "$work/full" "$work/memo"
    within 60 "$ROCESIM" run "$work/s.yaml" -o "$work/full" --quiet "$@" >"$work/log" 2>&1 || status=$?
    [ $status -ne 2 ] || return 1
    within 60 "$ROCESIM" run "$work/s.yaml" -o "$work/memo" --quiet --set fast-forward.mode=exact "$@" \
        >"$work/log" 2>&1 || skipped=$?
    if [ $status -ne $skipped ]; then
        fail "$name: status $skipped, expected $status: $(tail -n 1 "$work/log")"
        return
    fi
    cp "$work/memo/summary.json" "$work/summary"
    strip "$work/full"
    strip "$work/memo"
    diff -r "$work/full" "$work/memo" >"$work/diff" ||
        fail "$name: $(head -n 3 "$work/diff" | cut -c 1-160)"
}

# refuses REASON [OPTION]...: nothing is skipped, and the summary says why.
refuses() {
    local reason=$1
    shift
    same "$reason" "$@"
    [ "$(number packet_hops_skipped)" = 0 ] || fail "$reason: packet-hops are skipped"
    grep -q "\"$reason\": [1-9]" "$work/summary" || fail "$* is not refused for: $reason"
}
