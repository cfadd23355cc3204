# SPDX-License-Identifier: Apache-2.0
# prompts.sh - 60 prompts of three conversations over two prefill and two decode nodes.
#
# Sourced after tests/script.sh. It writes $work/trace.jsonl; scenario writes $work/one.yaml.
# shellcheck disable=SC2154 # $work is of tests/script.sh

awk 'BEGIN {
    for (i = 0; i < 60; i++) {
        blocks = 2 + int(i / 10)
        list = ""
        for (b = 0; b < blocks; b++) list = list (b ? ", " : "") (i % 3) * 1000 + b
        printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 3, \"hash_ids\": [%s, %d]}\n",
            i * 12, blocks * 512 + 100, list, 5000 + i
    }
}' >"$work/trace.jsonl"

# scenario LINES...: writes the scenario; LINES are further ones of mooncake-trace
scenario() {
    cat >"$work/one.yaml" <<'END'
topology: {star: {hosts: 5, rate: 100Gbps, delay: 500ns}}
nic: {mtu: 4096, congestion-control: none}
parameters: {store: "traffic[0].mooncake-trace.store", scheduler: "traffic[0].mooncake-trace.scheduler",
             ttl: "traffic[0].mooncake-trace.client-ttl"}
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
    [ $# -eq 0 ] || printf '      %s\n' "$@" >>"$work/one.yaml"
}

# value FIELD: a number of the last run
value() { awk -F, -v field="$1" '$3 == "" && $5 == field { print $6 }' "$work/out/apps.csv"; }

# prompts FIELD...: a line for each prompt with these fields; "-": null
prompts() {
    awk -F, -v fields="$*" '$3 == "prompts" { v[$4, $5] = $6 == "" ? "-" : $6; n = $4 >= n ? $4 + 1 : n }
        END { count = split(fields, names, " ")
            for (i = 0; i < n; i++) for (f = 1; f <= count; f++)
                printf "%s%s", v[i, names[f]], f < count ? " " : "\n" }' "$work/out/apps.csv"
}
