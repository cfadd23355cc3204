#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_courses.sh - what is told of each prompt adds up, with failures and without.
#
# Goal: wait, computing, sending and a decoding step are a prompt's time to its first token, their means
# those of all; computing takes what the formula says; cached tokens add up to those reused. A prompt whose
# blocks lie on a node that is gone is computed in full and served. One that was never begun has no cached
# tokens, not 0 of them; those given to a node that is gone are counted and told. A run that is cut tells of
# those admitted.
# Method: 60 prompts of three conversations over two prefill and two decode nodes, apps.csv and awk.
# Not pinned: how long anything waits.
set -u
. tests/script.sh

. tests/apps/mooncake/prompts.sh

scenario
run() { # SETTINGS...
    "$ROCESIM" run "$work/one.yaml" -o "$work/out" --quiet "$@" >"$work/log" 2>&1 ||
        fail "$*: $(cat "$work/log")"
}
# A line for each prompt: prefill input cached admitted wait compute send ttft
all_prompts() {
    prompts prefill input_tokens cached_tokens admitted_ms wait_ms compute_ms send_ms ttft_ms
}
near() { # WHAT GOT EXPECTED
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a - b < 0.001 && b - a < 0.001) }' || fail "$1: $2, expected $3"
}

run
[ "$(all_prompts | wc -l) $(value requests) $(value failed)" = "60 60 0" ] || fail "not 60 prompts are told"
all_prompts | awk '
    { left = $8 - $5 - $6 - $7 - 28
      formula = 20 + ($2 - $3) * 0.01 + ($2 * $2 - $3 * $3) * 714e-9
      if (left * left > 1e-6) { print "prompt " NR - 1 " has parts that leave " left " ms"; bad = 1 }
      if (($6 - formula)^2 > 1e-6) { print "prompt " NR - 1 " computes " $6 " ms, not " formula; bad = 1 } }
    END { exit bad }' || fail "parts do not add up"
near "cached tokens" "$(all_prompts | awk '{ n += $3 } END { print n }')" "$(value reused_tokens)"
for part in "5 wait_ms" "6 compute_ms" "7 send_ms" "8 ttft_ms.mean"; do
    near "mean of ${part#* }" "$(all_prompts | awk -v c="${part% *}" '{ n += $c } END { print n / NR }')" \
        "$(value "${part#* }")"
done
[ "$(value fetched_blocks)" -gt 5 ] || fail "hardly a block is fetched"

# host2 computes prompts, too, and goes for good, and the conductor does not learn of it: who wants its blocks
# does without them. (test_mooncake_lost.sh has a conductor that learns.)
run --set 'faults=[{part: host2, at: 300ms}]' --set 'traffic[0].mooncake-trace.client-ttl=never'
[ "$(value fetches_failed)" -gt 0 ] || fail "no fetch failed"
[ $(($(value requests) + $(value failed))) = 60 ] || fail "served and failed are not all"
lost=$(all_prompts | awk '$1 != "host2" && $8 == "-"' | wc -l)
[ "$lost" = 0 ] || fail "$lost prompts of the node that is still there were not served"
never=$(all_prompts | awk '$5 == "-" && $3 == "-"' | wc -l)
[ "$never" -gt 0 ] && [ "$never" = "$(all_prompts | awk '$5 == "-" || $3 == "-"' | wc -l)" ] ||
    fail "$never prompts were not begun and have no cached tokens"
[ "$(value unanswered)" -gt 0 ] && [ "$(value unanswered)" -le "$(value failed)" ] ||
    fail "$(value unanswered) prompts were not answered, of $(value failed) that failed"
grep -q "^warning: $(value unanswered) prompts were sent to prefill nodes that did not answer" "$work/log" ||
    fail "the user is not told: $(cat "$work/log")"

run --set until=255ms
served=$(value requests)
[ "$served" -gt 5 ] && [ "$served" -lt 20 ] || fail "$served served in 255 ms"
[ "$(all_prompts | awk '$8 != "-"' | wc -l)" = "$served" ] || fail "first tokens are not those served"
[ "$(all_prompts | wc -l)" = 21 ] || fail "not those admitted are told" # from 10 ms on, 12 ms apart
run --set until=60ms # the first first token comes later: seconds are those from 10 ms on
near "seconds of a run that was cut" "$(value seconds)" 0.050
# Cut while the KV of prompts that are computed is on its way: nothing is left behind (seen by leak checkers).
run --set until=60ms --set topology.star.rate=100Mbps
[ "$(all_prompts | awk '$6 != "-" && $8 == "-"' | wc -l)" -gt 0 ] ||
    fail "a prompt was to be computed and not served"
# So are transfers that took too long, slices of which still wait for a node that is gone.
run --set until=45ms --set 'traffic[0].mooncake-trace.engine.slice-timeout=1ms' \
    --set 'faults=[{part: "host[3-4]", at: 11ms}]'
[ "$(value timed_out)" -gt 0 ] || fail "no slice took too long"
exit $((failures > 0))
