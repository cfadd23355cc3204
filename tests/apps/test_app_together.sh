#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/apps/test_app_together.sh - applications on the same hosts have memory of their own.
#
# Goal: memory is the host's, and what one application reads, writes and counts there is not another's: of two
# stores on a host each counts its own atomics, and what READs of another program bring does not lie where the
# Transfer Engine looks for its data.
# Method: two DrTM-KV and two sequencers on one server; the engine's bench beside READs of 3000 queue pairs.
# Not pinned: how much they slow each other down.
set -u
. tests/script.sh

values() { awk -F, -v field="$1" '$3 == "" && $5 == field { print $6 }' "$work/out/apps.csv" | tr '\n' ' '; }
run() {
    "$ROCESIM" run "$work/$1.yaml" -o "$work/out" --quiet >"$work/log" 2>&1 || fail "$1: $(cat "$work/log")"
}

shared='server: host0, clients-on: "host[1-3]", clients: 6'
cat >"$work/stores.yaml" <<END
topology: {star: {hosts: 4, rate: 100Gbps, delay: 300ns}}
nic: {model: detailed, congestion-control: none}
traffic:
  - sequencer: {version: fetch-add, $shared}
  - sequencer: {version: fetch-add, $shared}
  - drtm-kv: {items: 100, put-percent: 50, $shared}
  - drtm-kv: {items: 100, put-percent: 50, $shared}
END
run stores
[ "$(values atomics)" = "$(values words_sum)" ] ||
    fail "atomics $(values atomics), in memory $(values words_sum)"
read -r first second <<<"$(values atomics)"
[ "$first" -gt 100 ] && [ "$second" -gt 100 ] || fail "only $first and $second atomics"

cat >"$work/engine.yaml" <<'END'
topology: {star: {hosts: 3, rate: 25Gbps, delay: 20us}}
nic: {model: detailed, profile: connectx-3, congestion-control: none}
until: 3ms
traffic:
  - mooncake-bench: {from: host2, to: host1, operation: read, threads: 4, batch: 1, block: 4KiB,
                     warm-up: 50us, duration: 200us, metadata: {host: host2}}
  - contexts: {host: host1, peer: host2, tokens: 3000, verb: read, outstanding: 64}
END
run engine
[ "$(values unverified_bytes)" = "0 " ] || fail "$(values unverified_bytes) bytes are not right"
[ "$(values verified_bytes)" != "0 " ] || fail "no bytes of the engine's were looked at"
exit $((failures > 0))
