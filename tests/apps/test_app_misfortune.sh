#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: long
#
# tests/apps/test_app_misfortune.sh - whatever the network does, every application ends.
#
# Goal: loss, links that go down for good, few or no retries, on both models of the NIC: a run ends by
# itself, with what failed in its summary; no signal, no failed check, no stall, no hang.
# Method: each application in a small form, run under each misfortune, a bounded number of seconds; the
# exit status, how the run says it ended, and that packets are conserved (a run fails that loses count).
# Status 1 only with the message that the program failed: perftest with an error, others without a success.
# The long form does it over all rates of loss and five seeds, and with all
# transports.
# Not pinned: how much gets done.
set -u
. tests/script.sh
start_forks
full=${TEST_LONG:+yes}

# scenario NAME ENTRY: an entry of `traffic`; 6 hosts.
scenario() {
    cat >"$work/$1.yaml" <<END
topology: {star: {hosts: 6, rate: 100Gbps, delay: 300ns}}
until: 20s
nic: {congestion-control: none, timeout: 4}
traffic: [$2]
END
    names="$names $1"
}

names=""
machines='clients-on: "host[1-5]", server: host0, warm-up: 10us, measure: 50us'
scenario flows \
    'flows: {list: [host1 host0 200KB 0us, host2 host0 1MB 1us, host0 host3 64 2us], messages: 20, depth: 16}'
scenario flows-send \
    'flows: {list: [host1 host0 50KB 0us, host2 host0 9KB 1us], verb: send, messages: 20, depth: 4}'
scenario flows-read \
    'flows: {list: [host1 host0 50KB 0us, host2 host0 9KB 1us], verb: read, messages: 20, depth: 4}'
scenario incast 'incast: {to: host0, from: "host[1-5]", bytes: 100KB}'
for tool in write_bw read_bw send_bw write_lat read_lat send_lat; do
    scenario perftest-$tool "perftest: {test: ib_$tool, size: 9000, iterations: 60}"
done
rate='from: "host[1-2]", to: host0, warm-up: 10us, measure: 40us, window: 16'
scenario rate-write "verbs-rate: {verb: write, transport: rc, $rate}"
scenario rate-read "verbs-rate: {verb: read, transport: rc, $rate}"
scenario rate-send "verbs-rate: {verb: send, transport: ud, $rate}"
scenario rate-uc "verbs-rate: {verb: write, transport: uc, $rate}"
scenario rate-add "verbs-rate: {verb: fetch-add, transport: rc, $rate}"
scenario reads 'all-to-all-reads: {hosts: "*", threads-per-machine: 2, warm-up: 10us, measure: 40us}'
scenario sequencer-rpc "sequencer: {workers: 2, clients: 10, version: rpc, timeout: 10us, $machines}"
scenario sequencer-spec "sequencer: {workers: 2, clients: 10, version: spec, timeout: 10us, $machines}"
scenario sequencer-add "sequencer: {workers: 2, clients: 10, version: fetch-add, timeout: 10us, $machines}"
scenario drtm "drtm-kv: {clients: 10, items: 1000, put-percent: 50, $machines}"
for system in herd pilaf farm farm-var echo; do
    scenario $system "herd: {system: $system, workers: 2, clients: 10, keys: 1000, timeout: 10us, $machines}"
done

# misfortune NAME TEXT
misfortune() {
    printf '%s\n' "$2" >"$work/with-$1"
    misfortunes="$misfortunes $1"
}
misfortunes=""
if [ "$full" = yes ]; then
    misfortune none ''
    misfortune loss-1e-4 'link: {loss-rate: 0.0001}'
    misfortune loss-1e-2 'link: {loss-rate: 0.01}'
    seeds='1 2 3 4 5'
else
    seeds=1
fi
misfortune loss-1e-1 'link: {loss-rate: 0.1}'
misfortune down 'links: {"switch0--host0": {down: [{at: 25us}]}}'

# failed_program: whether the run of $file said only that its program failed, and rightly
failed_program() {
    local kind reason
    kind=$(sed -n 's/^traffic: \[\([a-z-]*\): .*/\1/p' "$file")
    case $kind in
        perftest) reason='transport retry limit exceeded' ;;
        *) reason='none of its requests succeeded' ;;
    esac
    [ "$(grep -vE '^(warning|note): ' "$work/err")" = "rocesim: traffic[0] ($kind) failed: $reason" ] &&
        ! grep -qE '^      "(mops|responses)": [0-9.]*[1-9]' "$work/out" # of clients, not of workers
}

# try APP MISFORTUNE RETRIES MODEL SEED [OPTION]...
try() {
    local file=$work/try.yaml status=0
    sometimes 5 || return 0
    cat "$work/$1.yaml" "$work/with-$2" >"$file"
    local options="--set nic.retry-count=$3 --set nic.model=$4 --seed $5 ${*:6}"
    # shellcheck disable=SC2086 # a list of words
    within 120 rocesim run "$file" --quiet --json $options >"$work/out" 2>"$work/err" || status=$?
    if [ $status -eq 1 ] && failed_program; then status=0; fi
    if [ $status -ne 0 ] || ! grep -q '"ended": "done"' "$work/out"; then
        fail "$1, $2, retry-count $3, $4, seed $5: status $status, $(grep '"ended"' "$work/out") \
$(head -n 3 "$work/err")"
        cp "$file" "$work/failed.yaml"
        echo "rerun: rocesim run FILE $options, FILE being:"
        sed 's/^/    /' "$file"
    fi
}

for app in $names; do
    for misfortune in $misfortunes; do
        for retries in 0 7; do
            for model in ideal detailed; do
                for seed in $seeds; do
                    try "$app" "$misfortune" $retries $model "$seed"
                done
            done
        done
    done
done

# Transports that keep records of losses: where the sender has failed, the receiver does not ask for
# ever. Packets are held back for longer than the time-outs of a far too short nic.timeout.
held='delay: 20us, loss-rate: 0.05, duplicate-rate: 0.1, reorder-rate: 0.1, reorder-delay: 300us'
misfortune held "link: {$held}"
short='--set nic.timeout=1 --set nic.congestion-control=dctcp --set nic.window=4KB'
try sequencer-add held 0 ideal 821453158778 --set nic.transport=adamap "$short"
# Answers that a link makes twice come when all have come.
scenario sequencer-few "sequencer: {workers: 2, clients: 10, version: rpc, window: 2, requests: 3, $machines}"
misfortune repeated 'link: {duplicate-rate: 0.3}'
try sequencer-few repeated 7 ideal 1
# A server whose NIC sends an answer in a microsecond, all by one of two ports, with a completion for each:
# the worker waits for that port, not for the idle one.
cat >"$work/port.yaml" <<'END'
topology: {star: {hosts: 2, rate: 100Gbps, delay: 1us}}
nic: {model: detailed}
nodes: {host0: {nic: {detailed: {pu: {send-fetched: 1us, send: 1us}}}}}
traffic:
  - herd: {workers: 1, ports: 2, qps-per-port: 1, signal-all: on, clients: 1, window: 256, keys: 100,
      warm-up: 0s, measure: 500us, timeout: 10ms, retries: 0}
END
rocesim run "$work/port.yaml" --quiet --json >"$work/out" 2>"$work/err" &&
    awk -F'[:,]' '/"mops"/ && mops == "" { mops = $2 }
        /"full_queue_waits"/ && waits == "" { waits = $2 }
        END { exit !(mops > 0.95 && waits > 0) }' "$work/out" ||
    fail "a port of two: $(grep '"mops"\|"full_queue' "$work/out") $(cat "$work/err")"
# Going back to zero: a NAK that comes while the sender takes its time takes back what was acknowledged,
# when nothing is on its way.
scenario all-to-all 'all-to-all: {bytes: 50KB}'
zero='--set nic.retransmission=go-back-0 --set nic.nak-once=on --set nic.recovery-delay=20us'
try all-to-all held 7 detailed 496501529 --set nic.transport=go-back-n "$zero"
if [ "$full" = yes ]; then
    for app in $names; do
        for transport in irn adamap sdr; do
            for seed in 11 12 13; do
                try "$app" held 0 ideal $seed --set nic.transport=$transport "$short"
                try "$app" loss-1e-1 7 detailed $seed --set nic.transport=$transport
            done
        done
    done
fi
[ $failures -eq 0 ]
