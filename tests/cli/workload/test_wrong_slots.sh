#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/workload/test_wrong_slots.sh - every kind of file at every place that takes another kind.
#
# Goal: a file of the wrong kind is refused in one line that says what the file is, and never with advice
# about YAML or a scenario's keys. Method: a table of small files, each given to the commands and keys that
# read files; a table of contents that no format has. Not pinned: wording beyond the names of kinds.
set -u
. tests/script.sh
start_forks
cd "$work" || exit 1
ROCESIM=$(realpath "$ROCESIM")

# one TEXT COMMAND...: status 2 and one line that says TEXT
one() {
    within 60 rocesim "${@:2}" >said 2>&1
    [ $? = 2 ] && [ "$(wc -l <said)" = 1 ] && grep -qE -- "$1" said ||
        fail "${*:2} said: $(head -3 said), expected $1"
}

# -- kinds at wrong places. The last column is the place that takes the kind.

printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9,48,10\n' >requests
printf '3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n' >graph
printf 'Nodes 4\nTiers 2\nPodsize 4\nTier 0\n' >tiers
printf 'Nodes 2\nConnections 1\n0->1 start 0 size 4000\n' >matrix
printf '0 0\n1000 50\n20000 100\n' >sizes
printf 'num_ranks 1\nrank 0 {\n}\n' >goal
printf 'ENABLE_QCN 1\nCC_MODE 1\n' >hpcc
printf 'interface Ethernet1/1\n  priority-flow-control mode on\n' >switch
while read -r file what own; do
    what=${what//_/ }
    printf 'topology: {file: %s}\ntraffic: [{permutation: {bytes: 1KB}}]\n' "$file" >topology.yaml
    printf 'topology: {star: {hosts: 4}}\ntraffic: [{serving: {trace: %s, prefill: 1, decode: 1}}]\n' \
        "$file" >trace.yaml
    printf 'topology: {star: {hosts: 4}}\ntraffic: [{flows: {file: %s}}]\n' "$file" >flows.yaml
    printf 'topology: {star: {hosts: 4}}\ntraffic: [{workload: {file: %s}}]\n' "$file" >workload.yaml
    printf 'until: 1us\ntopology: {star: {hosts: 4}}\ntraffic: [{poisson: {load: 0.1, sizes: %s}}]\n' \
        "$file" >poisson.yaml
    for place in topology trace flows workload poisson; do
        # htsim's matrices are workloads, too, and its first lines are read as one.
        case $place:$file in "$own":* | workload:matrix) continue ;; esac
        one "$what" check $place.yaml
    done
    one "$what" capture convert "$file" -o none.pcap
    one "$what" run "$file" -o none
    [ "$own" = hpcc ] || one "$what" hpcc "$file" -o none
    [ "$own" = workload ] || one "$what" convert "$file" -o none
done <<'X'
requests trace_of_requests trace
graph topology_of_HPCC topology
tiers topology_of_htsim topology
matrix flows flows
sizes distribution_of_flow_sizes poisson
goal workload|GOAL workload
hpcc configuration_of_HPCC hpcc
switch switch_configuration none
X
[ ! -e none ] && [ ! -e none.pcap ] || fail "a refused file made results"

# the scenario's folder counts, not the current one
(cd / && within 60 rocesim check "$work/poisson.yaml" 2>&1) | grep -q 'a switch configuration' ||
    fail "from another folder"

# -- contents that are of no format

# unknown TEXT: the content on stdin is described as TEXT, without YAML and keys of a scenario
unknown() {
    cat >content
    one "content:1:1: .*$1" check content
    if grep -qE 'YAML|topology' said; then fail "$1: $(cat said)"; fi
}
printf '' | unknown 'empty'
printf '\xef\xbb\xbf\r\n\r\n' | unknown 'empty'
printf '\0\1\2\3' | unknown 'no text'
printf 'a,b,c\n1,2,3\n' | unknown "table with the columns 'a', 'b', 'c'"
printf 'alpha\tbeta\n1\t2\n' | unknown "table with the columns 'alpha', 'beta'"
printf '{"alpha": {"seed": 1}, "beta": 2}' | unknown "JSON with the keys 'alpha', 'beta'"
printf 'some words\n' | unknown "a text that begins with 'some words'"
printf 'version: 3\nservices:\n  x: y\n' | unknown "keys 'version', 'services'"
printf '[common]\nclock = 3\n' | unknown "begins with '\[common\]'"
printf '<x a="1"/>' | unknown 'XML'
printf '\xff\xfea\0b\0' | unknown 'UTF-16'
printf '\xfe\xff\0a\0b' | unknown 'UTF-16'

# what may be meant as a scenario is read as one
printf 'topolgy: {star: {hosts: 4}}\n' >near
one "did you mean 'topology'" check near
printf 'seed: 1\n' >near
one "topology" check near
: >empty.yaml
one "no content, expected YAML" check empty.yaml

# -- tables of requests as they are exported

runs() {
    printf 'topology: {star: {hosts: 4}}\ntraffic: [{serving: {trace: table, prefill: 1, decode: 1%s}}]\n' \
        "$2" >s.yaml
    within 60 rocesim run s.yaml -o out --quiet >said 2>&1 && grep -q "$1" out/summary.json ||
        fail "a table did not run: $(cat said)"
}
printf 'TIMESTAMP;ContextTokens;GeneratedTokens\r\n2023-11-16 18:17:03.9;48;10\r\n' >table
runs '"prompt_tokens": 48' ''
printf '\xef\xbb\xbfarrived_at,num_prefill_tokens\n0.5,100\n1.5,50\n' >table
runs '"prompt_tokens": 150' ', output-tokens: 64'
printf 'topology: {star: {hosts: 4}}\ntraffic: [{serving: {trace: table, prefill: 1, decode: 1}}]\n' >s.yaml
one "table:2:1: .*no num_decode_tokens, expected num_prefill_tokens.*output-tokens" check s.yaml
printf '{"arrival_time": 17000000%s.5, "prompt_len": 7, "output_len": 3}\n' 00 02 04 >table # as vLLM has them
runs '"prompt_tokens": 21' ''
awk -F'[:,]' '/"sim_time_ps"/ { exit !($2 > 4e12 && $2 < 9e12) }' out/summary.json ||
    fail "arrival_time is not read: $(grep sim_time out/summary.json)"
awk 'BEGIN { for (i = 0; i < 70; i++) printf "column%d%s", i, i < 69 ? "," : "\n" }' >table
one "no trace of requests" check s.yaml
printf 'topology: {file: table}\ntraffic: [{incast: {bytes: 1MB}}]\n' >t.yaml
printf '2\n0 1 3 100 1000000 2.0\n1 2 3 100 1000000 2.0\n' >table
one "table:1:1: .*nodes, switches and links; the file is a list of flows" check t.yaml
printf '{"requests": [{"input_length": 4, "output_length": 3}]}\n' >table
one "a request in each line" check s.yaml
printf '[{"input_length": 4, "output_length": 3}]\n' >table
one "jq -c" check table

[ "$failures" = 0 ]
