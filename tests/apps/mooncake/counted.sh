# SPDX-License-Identifier: Apache-2.0
# counted.sh - hits of a trace of prompts, counted by awk and as scenarios/mooncake/trace.yaml has them.
#
# Sourced after tests/script.sh. The count is exact: LRU over whole prompts, in the order of the trace.

# count TRACE REQUESTS BLOCKS: token hits, block hits, tokens, blocks; BLOCKS 0: unlimited
count() {
    head -n "$2" "$1" | awk -v room="$3" '
        { match($0, /"input_length": *[0-9]+/); input = substr($0, RSTART, RLENGTH); sub(/.*: */, "", input)
          input += 0
          match($0, /"hash_ids": *\[[^]]*\]/); list = substr($0, RSTART, RLENGTH)
          gsub(/[^0-9,]/, "", list)
          n = split(list, ids, ",")
          for (hits = 0; hits < n && (ids[hits + 1] in last); hits++) {}
          block_hits += hits; blocks += n; tokens += input
          token_hits += hits * 512 < input ? hits * 512 : input
          for (i = 1; i <= n; i++) {
              if (!(ids[i] in last)) held++
              last[ids[i]] = ++use; at[use] = ids[i]
              while (room > 0 && held > room) {
                  oldest++
                  if ((at[oldest] in last) && last[at[oldest]] == oldest) { delete last[at[oldest]]; held-- }
                  delete at[oldest]
              }
          } }
        END { printf "%d %d %d %d", token_hits, block_hits, tokens, blocks }'
}
value() {
    sed -n 's/^ *"'"$1"'": \([0-9.]*\),*$/\1/p' "$work/out/summary.json" | head -n 1
}
replay() { # TRACE SETTINGS...
    local settings=(--set "trace=$1") setting
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    if ! "$ROCESIM" run scenarios/mooncake/trace.yaml -o "$work/out" --quiet "${settings[@]}" \
        >"$work/log" 2>&1; then
        fail "$*: $(cat "$work/log")"
        return
    fi
    sed -n '/"apps"/,$p' "$work/out/summary.json" >"$work/apps"
    grep -q '"failed": 0' "$work/apps" || fail "$*: prompts failed"
    grep -q '"unverified_bytes": 0' "$work/apps" || fail "$*: something arrived wrong"
    grep -q '"verified_bytes": 0' "$work/apps" && fail "$*: nothing was verified"
}
# same TRACE REQUESTS CAPACITY SETTINGS...: as counted
same() {
    local file=$1 requests=$2 capacity=$3 room=0 got expected
    sometimes 3 || return 0
    shift 3
    [ "$capacity" = unlimited ] || room=$((capacity / 512))
    expected=$(count "$file" "$requests" "$room")
    replay "$(realpath "$file")" "requests=$requests" "capacity_tokens=$capacity" "$@"
    got="$(value token_hits) $(value block_hits) $(value tokens) $(value blocks)"
    [ "$got" = "$expected" ] || fail "$file $requests $capacity $*: $got, counted $expected"
    [ "$(sed -n 's/^ *"requests": \([0-9]*\),*$/\1/p' "$work/apps" | head -n 1)" = "$requests" ] ||
        fail "$file $*: not all of $requests prompts were served"
}
