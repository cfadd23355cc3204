#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/explain/test_explain_causes.sh - `rocesim explain` names planted causes of all kinds first, and
# accuses no healthy run.
#
# Goal: of each kind of cause that docs/explain.md lists beside those of test_explain_planted.sh, the first
# one has this kind and place. Runs without a plant have no cause, but for minor ones, and the right verdict.
# Method: a table of plants, one small scenario a row; a table of healthy runs.
# Not pinned: numbers and words, and causes after the first.
set -u
. tests/script.sh
start_forks

# row KIND PLACE VERDICT LINE...: a scenario of these lines, whose first cause is KIND at PLACE (patterns).
rows=0
row() {
    sometimes 3 || return 0
    local name=$((rows += 1))
    printf '%s\n' "name: r$name" "${@:4}" >"$work/$name.yaml"
    rocesim run "$work/$name.yaml" -o "$work/$name" --quiet >/dev/null 2>"$work/err" ||
        [ -s "$work/$name/summary.json" ] || fail "run $*: $(cat "$work/err")"
    rocesim explain "$work/$name" --json >"$work/$name.json" || fail "explain $*"
    printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$1" "$2" "$3" "${*:4}" >>"$work/table"
}
plant() { row "$1" "$2" cause "${@:3}"; }
healthy() { row none '' "$@"; }

wide='topology: {leaf-spine: {leaves: 4, spines: 1, hosts-per-leaf: 4, host-rate: 100Gbps,
    fabric-rate: 400Gbps, delay: 2us}}'
short="${wide/2us/1us}"
even='topology: {leaf-spine: {leaves: 4, spines: 4, hosts-per-leaf: 4, host-rate: 100Gbps,
    fabric-rate: 100Gbps}}'
star='topology: {star: {hosts: 8, rate: 100Gbps, delay: 500ns}}'
far='topology: {star: {hosts: 4, rate: 100Gbps, delay: 10us}}'
tree='topology: {fat-tree: {k: 4, rate: 100Gbps, delay: 1us}}'
shift='traffic: [{permutation: {bytes: 2MB, stride: 4}}]'
early='switch: {ecn: {kmin: 40KB, kmax: 160KB}}'
many='traffic: [{incast: {to: host0, from: "host[1-6]", senders: 6, bytes: 2MB}}]'
uec='nic: {transport: uec-rud, priority: 1, ack-priority: 6}'
mrc='nic: {transport: mrc, priority: 1, ack-priority: 6}'
reps='nic: {repath: reps, ooo: place, congestion-control: dctcp}'
trim='switch: {mmu: trimming}'

# What a sender may have under way: a window, one host's window, READs, posted messages.
plant window hosts "$even" 'nic: {window: 16000}' "$shift"
plant window host5 "$wide" 'nodes: {host5: {nic: {window: 20000}}}' "$shift"
plant window hosts "$far" 'nic: {transport: irn, window: 24KB}' 'traffic: [{permutation: {bytes: 2MB}}]'
plant read-credit hosts "$wide" 'nic: {max-rd-atomic: 1}' \
    'traffic: [{permutation: {bytes: 8KB, messages: 40, verb: read, stride: 4}}]'
plant queue-depth hosts "$wide" 'traffic: [{permutation: {bytes: 16KB, messages: 40, depth: 1, stride: 4}}]'
# The same of perftest, which has no rows in flows.csv.
plant read-credit host1 "$wide" 'nic: {max-rd-atomic: 1}' \
    'traffic: [{perftest: {test: ib_read_bw, from: host1, to: host9, size: 8KB, iterations: 300}}]'
plant queue-depth host2 "$star" 'traffic: [{perftest: {test: ib_send_bw, from: host2, to: host5, size: 2KB,
    tx-depth: 1, iterations: 300}}]'
plant window host0 "$far" 'nic: {window: 24KB}' \
    'traffic: [{perftest: {from: host0, to: host3, size: 1MB, iterations: 10}}]'

# Many flows that few equal links carry; a few that too many links would carry.
plant oversubscribed 'leaf?->spine?' 'topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 8}}' \
    'traffic: [{permutation: {bytes: 4MB, stride: 8, qps: 4}}]'
plant hash-collision '*' 'topology: {leaf-spine: {leaves: 2, spines: 8, hosts-per-leaf: 8}}' \
    'traffic: [{permutation: {bytes: 4MB, stride: 8}}]'

# Congestion control by marks: thresholds, CNPs, senders that do not react.
plant ecn-thresholds leaf2 "$wide" 'nodes: {leaf2: {switch: {ecn: {kmin: 5KB, kmax: 10KB, pmax: 1}}}}' \
    'traffic: [{permutation: {bytes: 4MB, stride: 4, qps: 4}}, {incast: {to: host8, senders: 2, bytes: 2MB}}]'
plant ecn-thresholds leaf1 "$wide" "$early" 'nodes: {leaf1: {switch: {ecn: {kmin: 20MB, kmax: 30MB}}}}' \
    'traffic: [{incast: {to: host4, from: "host[0,8-10,12]", senders: 5, bytes: 2MB}}]'
low='switch: {ecn: {kmin: 2KB, kmax: 4KB, pmax: 1}}'
plant ecn-thresholds 'switch0->host0' "$star" "$low" "$many"
plant ecn-thresholds 'leaf?->spine?' "$even" "$low" 'traffic: [{permutation: {bytes: 8MB, stride: 4}}]'
plant ecn-out-of-reach 'switch0->host0' "$star" 'switch: {buffer: 4MB, ecn: {kmin: 20MB, kmax: 40MB}}' "$many"
plant no-cnps host0 "$star" "$early" 'nodes: {host0: {nic: {cnp-interval: 1s}}}' "$many"
plant no-cnps host1 'topology: {star: {hosts: 8, rate: 400Gbps, delay: 1us}}' "$early" \
    'nodes: {host1: {nic: {cnp-interval: 1s}}}' 'traffic: [{incast: {to: host1, senders: 6, bytes: 2MB}}]'
plant no-reaction host3 "$star" "$early" 'nodes: {host3: {nic: {congestion-control: none}}}' "$many"
plant no-reaction host2 "$star" "$early" 'nodes: {host2: {nic: {ecn: false}}}' "$many"
plant rate-recovery host8 "seed: 3" "$short" \
    'nodes: {host3: {nic: {dcqcn: {rpg-ai-rate: 1Mbps, rpg-hai-rate: 1Mbps}}}}' 'traffic:
  - permutation: {bytes: 40MB, stride: 4}
  - incast: {to: host12, from: "[host3, host0, host1]", senders: 3, bytes: 2MB}'

plant rate-recovery hosts "$star" 'switch: {ecn: {kmin: 20KB, kmax: 60KB, pmax: 1}}' 'nic: {dcqcn:
    {rpg-ai-rate: 1Mbps, rpg-hai-rate: 1Mbps, rpg-threshold: 31, rpg-time-reset: 10ms}}' \
    'traffic: [{incast: {to: host0, senders: 6, bytes: 10MB}}]'

plant rate-recovery host1 "$star" 'nic: {congestion-control: timely, timely: {ai-rate: 1Mbps,
    hai-rate: 1Mbps}}' 'traffic: [{flows: {list: [host1 host0 20MB 0us]}}, {incast: {to: host0,
    from: "host[2-5]", senders: 4, bytes: 500KB, start: 100us}}]'

# Packets that are sent again: reordering, timers, and what switches dropped and why.
plant reordering network "$even" 'network: {load-balancer: random}' \
    'traffic: [{permutation: {bytes: 500KB, stride: 4}}]'
plant reordering 'leaf1--host5' "$wide" \
    'links: {"leaf1--host5": {reorder-rate: 0.02, reorder-delay: 5us}}' "$shift"
plant short-timeout hosts "$far" 'nic: {timeout: 3, congestion-control: none}' \
    'traffic: [{flows: {list: [host0 host1 2MB 0us, host2 host3 1MB 0us]}}]'
plant short-timeout host2 "$wide" 'link: {delay: 5us}' 'nodes: {host2: {nic: {timeout: 1}}}' "$shift"
# Flows that fail for it lost all of their time; an incast alone fails none.
plant short-timeout hosts "$wide" 'nic: {timeout: 1, congestion-control: none}' \
    'traffic: [{incast: {to: host0, from: "host[1,4-6,8,9]", senders: 6, bytes: 2MB}}]'
# Packets that are sent again are no fair share of the port that drops them.
plant small-buffer 'leaf0' "$wide" 'nic: {timeout: 8, congestion-control: none}' \
    'switch: {buffer: 3MB, pfc: {enabled: false}}' \
    'traffic: [{incast: {to: host0, from: "host[1,4-6,8,9]", senders: 6, bytes: 4MB}}]'
# Go-back-N refuses the packets behind a lost one, which is no reordering.
plant incast 'leaf2->host10' "seed: 5362" 'topology: {leaf-spine: {leaves: 4, spines: 4, hosts-per-leaf: 4,
    host-rate: 400Gbps, fabric-rate: 400Gbps, delay: 1us}}' 'nic: {congestion-control: swift}' \
    'switch: {buffer: 200KB, pfc: {enabled: false}}' 'traffic: [{flows: {list: [host3 host10 1MB 0us,
    host6 host10 1MB 0us, host4 host10 1MB 0us, host0 host10 1MB 0us]}}]'
plant small-buffer leaf1 'seed: 3' "$even" 'switch: {pfc: {enabled: false}}' 'nic: {timeout: 8}' \
    'nodes: {leaf1: {switch: {buffer: 60KB}}}' 'traffic: [{permutation: {bytes: 1MB, stride: 4}},
    {incast: {to: host5, senders: 3, bytes: 1MB}}]'
plant lossy-class 'switch0->host0' "$star" 'switch: {buffer: 2MB, pfc: {priorities: [4]}}' \
    'nic: {congestion-control: none, timeout: 6}' "$many"
plant headroom spine0 'seed: 3' "$even" 'nodes: {spine0: {switch: {pfc: {headroom: 1KB, threshold: 10KB}}}}' \
    'nic: {congestion-control: none, timeout: 8}' 'traffic: [{permutation: {bytes: 4MB, stride: 4, qps: 4}},
    {incast: {to: host0, senders: 8, bytes: 1MB}}]'

# Inside hosts and their NICs. A limit there is no slow receiver.
plant pcie host2 "$wide" 'nic: {model: detailed}' 'nodes: {host2: {nic: {detailed: {pcie: {lanes: 1}}}}}' \
    'traffic: [{permutation: {bytes: 500KB, stride: 4}}]'
plant pcie host5 'topology: {star: {hosts: 8, rate: 400Gbps, delay: 2us}}' 'nic: {model: detailed}' \
    'nodes: {host5: {nic: {detailed: {pcie: {lanes: 1}}}}}' \
    'traffic: [{permutation: {bytes: 1MB, stride: 1}}]'
plant processing-units 'host*' "$star" 'nic: {model: detailed, detailed: {pu: {count: 1, receive: 2us}}}' \
    'traffic: [{permutation: {bytes: 1MB}}]'
plant processing-units host0 "$star" 'nic: {model: detailed, detailed: {pu: {count: 1, send: 1us}}}' \
    'traffic: [{perftest: {test: ib_write_bw, size: 64, iterations: 2000}}]'
plant posting-core host0 "$star" 'nic: {model: detailed, detailed: {cpu: {post: 500ns}}}' \
    'traffic: [{perftest: {test: ib_write_bw, size: 64, iterations: 2000}}]'
plant posting-core host3 "$star" 'nic: {model: detailed}' 'nodes: {host3: {nic: {detailed:
    {cpu: {mmio-fence: 2us}}}}}' \
    'traffic: [{perftest: {test: ib_send_bw, size: 1KB, from: host3, to: host1, iterations: 2000}}]'
plant cache-misses 'host*' "$star" 'nic: {model: detailed, detailed: {context: {entries: 16}}}' \
    'traffic: [{contexts: {tokens: 256, pattern: uniform, operations: 2000}}]'
plant host-path host3 "$wide" 'nodes: {host3: {nic: {host: {memory-bandwidth: 40Gbps}}}}' "$shift"

# Programs.
plant straggler host3 "$star" 'traffic: [{training: {model: gpt-13b, layers: 2, hidden: 512, heads: 8,
    vocab: 1024, microbatches: 2, slow-ranks: "3", slow-factor: 4}}]'
cat >"$work/late.goal" <<'END'
num_ranks 3
rank 0 {
c: calc 50000
s: send 262144b to 1 tag 1
s requires c
}
rank 1 {
r: recv 262144b from 0 tag 1
c: calc 3000000
c requires r
s: send 262144b to 2 tag 2
s requires c
}
rank 2 {
r: recv 262144b from 1 tag 2
c: calc 60000
c requires r
}
END
plant late-dependency host1 "$star" 'traffic: [{workload: {file: late.goal}}]'
plant overload host1 "$far" 'traffic: [{serving: {prefill: 1, decode: 1, requests: 60, rate: 400,
    prompt-tokens: 1000, output-tokens: 5}}]'
plant overload 'host[12]' "until: 3s
$far" 'traffic: [{serving: {prefill: 2, decode: 1, requests: 1000, rate: 600, prompt-tokens: 2000,
    output-tokens: 100}}]'

plant kv-transfers 'host1->switch0' "${star/100Gbps/25Gbps}" 'traffic: [{serving: {prefill: 1, decode: 2,
    requests: 20, rate: 400, prompt-tokens: 2000, output-tokens: 5}}]'

# Flows whose packets spread: no collisions, but links that are too few.
plant oversubscribed 'leaf?->spine0' 'topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4,
    host-rate: 100Gbps, fabric-rate: 50Gbps}}' "$uec" "$trim" "$shift"
for seed in 3 4; do
    healthy healthy "seed: $seed" "$even" "$uec" "$trim" "$shift"
    healthy healthy "seed: $seed" "$even" "$mrc" "$trim" "$shift"
    healthy healthy "seed: $seed" "$even" "$reps" "$shift"
done
healthy healthy "$tree" "$uec" "$trim" 'traffic: [{permutation: {bytes: 500KB, stride: 4}}]'
healthy healthy "$wide" 'nic: {congestion-control: hpcc}' "$shift"
healthy healthy "$wide" "$shift"
healthy '*' "$star" 'traffic: [{perftest: {from: host0, to: host3, size: 64KB, iterations: 100}}]'
healthy '*' "$star" 'traffic: [{collective: {bytes: 2MiB}}]'
healthy fair-shares "$star" 'traffic: [{all-to-all: {bytes: 100KB}}]'
healthy '*' "$star" 'traffic: [{training: {model: gpt-13b, layers: 2, hidden: 512, heads: 8, vocab: 1024,
    microbatches: 2}}]'
# Thousands of messages that begin and end one after another.
healthy fair-shares "$star" 'traffic: [{training: {model: gpt-13b, layers: 1, hidden: 4096, heads: 8,
    vocab: 16384, tp: 1, dp: 4, microbatches: 1, sequence: 64}}]'
healthy no-flows "$far" 'traffic: [{serving: {prefill: 1, decode: 1, requests: 10, rate: 5,
    prompt-tokens: 500, output-tokens: 5}}]'
healthy no-flows 'topology: {star: {hosts: 8, rate: 56Gbps, delay: 500ns}}' \
    'nic: {model: detailed, profile: connectx-3}' 'traffic: [{herd: {server: host0}}]'
# Acknowledgements that are lost cost nothing, and one application of two is slowed by fair shares.
healthy fair-shares "$star" 'links: {"switch0--host3": {loss-rate: 0.02, loss-direction: forward}}' \
    'nic: {ack-interval: 1}' 'traffic: [{flows: {list: [host3 host1 4MB 0us]}},
    {collective: {kind: all-to-all, ranks: 3, bytes: 96KB}}]'
# A limit that explain does not know: it says so, and what it knows.
healthy unexplained "$star" 'traffic: [{flows: {list: [host0 host1 1MB 0us, host2 host3 1MB 0us]}}]' \
    'nic: {congestion-control: swift, swift: {max-window: 1}}'

# Requests that had not ended are in no figure, and are counted.
printf '%s\n' 'until: 400ms' "$far" 'traffic: [{serving: {prefill: 1, decode: 1, requests: 60, rate: 4000,
    prompt-tokens: 2000, output-tokens: 4}}]' >"$work/cut.yaml"
rocesim run "$work/cut.yaml" -o "$work/cut" --quiet >/dev/null 2>&1
rocesim explain "$work/cut" >"$work/out"
grep -q 'no cause was found .* 55 had not ended' "$work/out" || fail "a run that was cut: $(cat "$work/out")"

# Remedies of one host or cable set that one, and an application that computes most of the time is named.
# says PATTERN LINE...: explain prints the pattern about a scenario of these lines.
says() {
    printf '%s\n' "${@:2}" >"$work/says.yaml"
    rocesim run "$work/says.yaml" -o "$work/says" --quiet >/dev/null 2>&1
    rocesim explain "$work/says" >"$work/out"
    grep -q -e "$1" "$work/out" || fail "no '$1': $(head -n 9 "$work/out")"
    rm -r "$work/says"
}
says '--set nodes.host5.nic.window=auto' "$wide" 'nodes: {host5: {nic: {window: 20000}}}' "$shift"
says '--set nodes.host2.nic.detailed.pcie.lanes=16' "$wide" 'nic: {model: detailed}' \
    'nodes: {host2: {nic: {detailed: {pcie: {lanes: 1}}}}}' "$shift"
says '--set links.leaf1--host5.bit-error-rate=0' "$wide" 'links: {leaf1--host5: {bit-error-rate: 1e-7}}' \
    'nic: {timeout: 8}' "$shift"
says '--set nic.mtu=4096' "$wide" 'nic: {mtu: 256, model: detailed, profile: connectx-6}' "$shift"
says '^the application collective itself takes the time' "$wide" \
    'traffic: [{collective: {kind: all-reduce, ranks: 8, bytes: 1MiB, repeat: 4, compute: 500us}}]'

python3 - "$work" <<'END' || fail "causes"
import fnmatch, json, sys
wrong = 0
for line in open(sys.argv[1] + "/table"):
    name, kind, place, verdict, text = line.rstrip("\n").split("\t")[:5] if "\t" in line else (None,) * 5
    if name is None:
        continue  # the rest of a scenario of several lines
    told = json.load(open(f"{sys.argv[1]}/{name}.json"))
    causes = [(c["kind"], c["place"]) for c in told["causes"] if not c["minor"]]
    first = causes[0] if causes else ("none", "")
    right = first[0] == kind and fnmatch.fnmatch(first[1], place)
    if not right or not fnmatch.fnmatch(told["verdict"], verdict):
        print("expected", kind, place, verdict, "found", causes[:3], told["verdict"], "in", name, text[:150])
        wrong += 1
sys.exit(wrong > 0)
END
[ $failures -eq 0 ]
