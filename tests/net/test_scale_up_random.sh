#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_scale_up_random.sh - random scale-up networks, and a large one.
#
# Goal: nothing is lost between accelerators: all transfers and collectives end, and both ends of each link
# count the same packets and bytes, with repetitions and links that go down; none is faster than its bytes
# can be; digests are equal on 1 and 3 threads and in 2 ranks; 1024 accelerators take less than 128 MiB; what
# scale-up networks cannot do is refused; explain names links that wait for credits, links that repeat packets
# and receivers that senders share.
# Method: SCALE_UP_RANDOM scenarios (24) of random_scale_up.py from the number SCALE_UP_FIRST (1) on, with
# either model. To run one again: SCALE_UP_FIRST=N SCALE_UP_RANDOM=1 ctest -R test_scale_up_random.
# Does not pin: times; tests/net/test_scale_up.sh has closed forms.
set -u
. tests/script.sh
start_forks
count=${SCALE_UP_RANDOM:-$(few 24 8)}
first=${SCALE_UP_FIRST:-1}
within 60 python3 tests/net/random_scale_up.py "$ROCESIM" "$work" "$first" "$count" >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"

# -- 1024 accelerators, each with 8 links
rocesim run scale-up/sue --set bytes=64KiB -o "$work/out" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
memory=$(python3 -c "import json
print(json.load(open('$work/out/summary.json'))['wall_memory_bytes'] >> 20)")
[ "$memory" -lt 128 ] || [ -n "${TEST_FEW:-}" ] || fail "1024 accelerators take $memory MiB"

# -- refusals
cat >"$work/small.yaml" <<'YAML'
topology: {star: {hosts: 1, nics-per-host: 4, rate: 100Gbps}}
scale-up: {model: packets}
traffic: [accelerators: {pattern: all-to-all, bytes: 64KiB, messages: 20}]
YAML
refused() { # TEXT OPTION...: the run says TEXT
    local text=$1
    shift
    rocesim run "$work/small.yaml" "$@" >"$work/log" 2>&1 && fail "accepted: $*"
    grep -q -- "$text" "$work/log" || fail "$*: $(cat "$work/log")"
}
refused "scale-up.train" --set scale-up.train=1MiB --set scale-up.credits=4KiB
refused "scale-up.protocol" --set scale-up.protocol=pcie
refused "expected" --set scale-up.error-rate=2
refused "scale-up.packet is 512 bytes: expected 256 or fewer" --set scale-up.packet=512
refused "scale-up.packet is 257 bytes: expected 256 or fewer" --set scale-up.protocol=ualink \
    --set scale-up.packet=257
refused "scale-up.packet: 8KiB is out of range: expected 16 .. 4096" --set scale-up.protocol=sue \
    --set scale-up.packet=8KiB
rocesim run "$work/small.yaml" --set scale-up.protocol=sue --set scale-up.packet=4096 -o "$work/out" --quiet \
    >"$work/log" 2>&1 || fail "SUE, packets of 4096 bytes: $(cat "$work/log")"

# -- packets between accelerators are no frames, and no other way leads around a dead link
rocesim run "$work/small.yaml" -o "$work/out" --yes \
    --set 'captures=[{ports: "host0-gpu0->host0-switch1", file: a.pcap}]' >"$work/log" 2>&1
grep -q 'no frame in captures/a.pcap: none passed its ports' "$work/log" ||
    fail "a capture: $(cat "$work/log")"
rocesim run "$work/small.yaml" -o "$work/out" --yes \
    --set 'faults=[{part: host0-gpu1--host0-switch1, kind: down, at: 1us}]' >"$work/log" 2>&1 &&
    fail "a run ends with a link that stays down"
rocesim explain "$work/out" >"$work/log" 2>&1
grep -q 'host0-gpu1--host0-switch1 went down once' "$work/log" || fail "a dead link: $(cat "$work/log")"
grep -q 'network.convergence' "$work/log" && fail "routing cannot help: $(cat "$work/log")"

# -- explain
rocesim run "$work/small.yaml" --set scale-up.credits=8KiB --set scale-up.delay=2us -o "$work/out" \
    >"$work/log" 2>&1 || fail "$(cat "$work/log")"
rocesim explain "$work/out" >"$work/log" 2>&1
grep -q 'waited for credits for .* of the run; so did' "$work/log" || fail "credits: $(cat "$work/log")"
grep -q 'scale-up.credits=' "$work/log" || fail "no remedy: $(cat "$work/log")"
rocesim run "$work/small.yaml" --set scale-up.error-rate=0.01 -o "$work/out" >"$work/log" 2>&1
rocesim explain "$work/out" >"$work/log" 2>&1
grep -q 'damaged packets again, which cost it' "$work/log" || fail "retries: $(cat "$work/log")"
rocesim run "$work/small.yaml" --set 'traffic[0].accelerators.pattern=incast' \
    --set 'traffic[0].accelerators.bytes=1MiB' -o "$work/out" >"$work/log" 2>&1
rocesim explain "$work/out" >"$work/log" 2>&1
grep -q 'main cause: several accelerators send to host0-gpu0' "$work/log" ||
    fail "an incast: $(cat "$work/log")"
# A link that comes up again serves what waits for it at once, not when routes have changed.
rocesim run "$work/small.yaml" -o "$work/out" \
    --set 'faults=[{part: host0-gpu1--host0-switch1, kind: down, at: 0s, until: 200us}]' >"$work/log" 2>&1
grep -q 'done at 2[0-9][0-9]\.[0-9]* us' "$work/log" || fail "a link that comes up: $(cat "$work/log")"
# Series of these ports are counters of the timeline.
rocesim run "$work/small.yaml" --set scale-up.credits=8KiB -o "$work/out" \
    --set 'observe=[{series: "port[host0-gpu0->*].credit_wait_ps", every: 1us}]' >"$work/log" 2>&1 &&
    rocesim timeline "$work/out" -o "$work/timeline.json" >>"$work/log" 2>&1 ||
    fail "timeline: $(cat "$work/log")"
grep -q 'credit_wait_ps' "$work/timeline.json" || fail "the timeline lacks credits"
[ "$failures" -eq 0 ]
