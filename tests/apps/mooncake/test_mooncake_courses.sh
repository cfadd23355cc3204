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

awk 'BEGIN {
    for (i = 0; i < 60; i++) {
        blocks = 2 + int(i / 10)
        list = ""
        for (b = 0; b < blocks; b++) list = list (b ? ", " : "") (i % 3) * 1000 + b
        printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 3, \"hash_ids\": [%s, %d]}\n",
            i * 12, blocks * 512 + 100, list, 5000 + i
    }
}' >"$work/trace.jsonl"
cat >"$work/one.yaml" <<'END'
topology: {star: {hosts: 5, rate: 100Gbps, delay: 500ns}}
nic: {mtu: 4096, congestion-control: none}
traffic:
  - mooncake-trace:
      trace: trace.jsonl
      prefill: 2
      decode: 2
      kv-bytes-per-token: 1024
      prefill-fixed: 20ms
      prefill-token: 10us
      log: on
      engine: {ack-timeout: 8, ack-retries: 1, retries: 1, rail-pause: 1ms, handshake-timeout: 20ms,
               metadata-timeout: 20ms}
END
run() { # SETTINGS...
    "$ROCESIM" run "$work/one.yaml" -o "$work/out" --quiet "$@" >"$work/log" 2>&1 ||
        fail "$*: $(cat "$work/log")"
}
value() { awk -F, -v field="$1" '$3 == "" && $5 == field { print $6 }' "$work/out/apps.csv"; }
# A line for each prompt: prefill input cached admitted wait compute send ttft; "-": null
prompts() {
    awk -F, '$3 == "prompts" { v[$4, $5] = $6 == "" ? "-" : $6; n = $4 >= n ? $4 + 1 : n }
        END { for (i = 0; i < n; i++) print v[i, "prefill"], v[i, "input_tokens"], v[i, "cached_tokens"],
            v[i, "admitted_ms"], v[i, "wait_ms"], v[i, "compute_ms"], v[i, "send_ms"], v[i, "ttft_ms"] }' \
        "$work/out/apps.csv"
}
near() { # WHAT GOT EXPECTED
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a - b < 0.001 && b - a < 0.001) }' || fail "$1: $2, expected $3"
}

run
[ "$(prompts | wc -l) $(value requests) $(value failed)" = "60 60 0" ] || fail "not 60 prompts are told"
prompts | awk '
    { left = $8 - $5 - $6 - $7 - 28
      formula = 20 + ($2 - $3) * 0.01 + ($2 * $2 - $3 * $3) * 714e-9
      if (left * left > 1e-6) { print "prompt " NR - 1 " has parts that leave " left " ms"; bad = 1 }
      if (($6 - formula)^2 > 1e-6) { print "prompt " NR - 1 " computes " $6 " ms, not " formula; bad = 1 } }
    END { exit bad }' || fail "parts do not add up"
near "cached tokens" "$(prompts | awk '{ n += $3 } END { print n }')" "$(value reused_tokens)"
for part in "5 wait_ms" "6 compute_ms" "7 send_ms" "8 ttft_ms.mean"; do
    near "mean of ${part#* }" "$(prompts | awk -v c="${part% *}" '{ n += $c } END { print n / NR }')" \
        "$(value "${part#* }")"
done
[ "$(value fetched_blocks)" -gt 5 ] || fail "hardly a block is fetched"

# host2 computes prompts, too, and goes for good, and the conductor does not learn of it: who wants its blocks
# does without them. (test_mooncake_lost.sh has a conductor that learns.)
run --set 'faults=[{part: host2, at: 300ms}]' --set 'traffic[0].mooncake-trace.client-ttl=never'
[ "$(value fetches_failed)" -gt 0 ] || fail "no fetch failed"
[ $(($(value requests) + $(value failed))) = 60 ] || fail "served and failed are not all"
lost=$(prompts | awk '$1 != "host2" && $8 == "-"' | wc -l)
[ "$lost" = 0 ] || fail "$lost prompts of the node that is still there were not served"
never=$(prompts | awk '$5 == "-" && $3 == "-"' | wc -l)
[ "$never" -gt 0 ] && [ "$never" = "$(prompts | awk '$5 == "-" || $3 == "-"' | wc -l)" ] ||
    fail "$never prompts were not begun and have no cached tokens"
[ "$(value unanswered)" -gt 0 ] && [ "$(value unanswered)" -le "$(value failed)" ] ||
    fail "$(value unanswered) prompts were not answered, of $(value failed) that failed"
grep -q "^warning: $(value unanswered) prompts were sent to prefill nodes that did not answer" "$work/log" ||
    fail "the user is not told: $(cat "$work/log")"

run --set until=255ms
served=$(value requests)
[ "$served" -gt 5 ] && [ "$served" -lt 20 ] || fail "$served served in 255 ms"
[ "$(prompts | awk '$8 != "-"' | wc -l)" = "$served" ] || fail "first tokens are not those served"
[ "$(prompts | wc -l)" = 21 ] || fail "not those admitted are told" # from 10 ms on, 12 ms apart
run --set until=60ms # the first first token comes later: seconds are those from 10 ms on
near "seconds of a run that was cut" "$(value seconds)" 0.050
# Cut while the KV of prompts that are computed is on its way: nothing is left behind (seen by leak checkers).
run --set until=60ms --set topology.star.rate=100Mbps
[ "$(prompts | awk '$6 != "-" && $8 == "-"' | wc -l)" -gt 0 ] ||
    fail "a prompt was to be computed and not served"
# So are transfers that took too long, slices of which still wait for a node that is gone.
run --set until=45ms --set 'traffic[0].mooncake-trace.engine.slice-timeout=1ms' \
    --set 'faults=[{part: "host[3-4]", at: 11ms}]'
[ "$(value timed_out)" -gt 0 ] || fail "no slice took too long"
exit $((failures > 0))
