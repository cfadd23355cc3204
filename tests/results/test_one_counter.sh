#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/results/test_one_counter.sh - a counter of ports is a field, a place that counts, and a row.
#
# Goal: who adds a counter touches three files, and every output tells it: summary.json, ports.csv,
# series, the terminal, compare, sweeps, the schema that the studio's page reads, the reference.
# Method: a copy of the tree gets a counter of packets that were not marked, is built, runs a scenario;
# its outputs are searched. Does not pin: what the lines look like.
# labels: study plain
set -u
. tests/script.sh

root=$PWD
tree=$work/tree
mkdir -p "$tree"
git ls-files -z --cached --others --exclude-standard ':!studio/page' ':!tests' ':!docs' |
    xargs -0 cp --parents -t "$tree" 2>/dev/null
cd "$tree" || exit 1

# The three files.
sed -i '/^    uint64_t ecn_marked_again\[NET_PRIORITIES\]/a\
    uint64_t ecn_seen[NET_PRIORITIES];' net/port.h
sed -i '/^    {.name = "ecn_marked_again"/i\
    {.name = "ecn_seen", .unit = "packets", RARE(ecn_seen, COUNT, CARRIED),\
     .points = NET_TRACE_MARK, .help = "packets that the marking of the port has seen",\
     .column = "ecn_seen_prio%u", .by_class = "ecn_seen",\
     .total = {.group = "ecn", .field = "ecn_seen", .label = "packets seen",\
               .line = "ECN", .words = "packets seen", .swept = true}},' net/link/port_fields.c
sed -i 's|^    egress->counted = 1;|&\n    egress->rare->ecn_seen[priority]++;|' net/marking.h
changed=0
for file in net/*.h net/*/*.c; do
    cmp -s "$file" "$root/$file" || changed=$((changed + 1))
done
[ "$changed" -eq 3 ] || fail "$changed files are changed"

{ cmake -S . -B build -G Ninja -DROCESIM_TESTS=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 &&
    cmake --build build --target rocesim_program; } >"$work/log" 2>&1 ||
    fail "build: $(tail -30 "$work/log")"
program=$tree/build/rocesim
cat >"$work/x.yaml" <<'END'
topology: {star: {hosts: 5}}
traffic: [{incast: {to: host0, senders: 4, bytes: 1MB}}]
observe: [{series: "port[switch0->host0].ecn_seen[3]", every: 1us}]
END
cat >"$work/sweep.yaml" <<'END'
scenario: x.yaml
grid: {traffic[0].incast.bytes: [500KB, 1MB]}
END
"$program" run "$work/x.yaml" -o "$work/out" >"$work/said" || fail "run: $(cat "$work/said")"
"$program" compare "$work/out" >"$work/compared" || fail "compare"
"$program" compare --csv "$work/out" >"$work/compared.csv" || fail "compare --csv"
"$program" sweep "$work/sweep.yaml" -o "$work/swept" >"$work/log" 2>&1 || fail "sweep: $(cat "$work/log")"
"$program" params --outputs-markdown >"$work/page"

# told FILE REGEX
told() {
    grep -qE -- "$2" "$1" || fail "$(basename "$1") does not tell: $2"
}
told "$work/out/summary.json" '^  "ecn_seen": [1-9]'
told "$work/out/summary.json" '^      "ecn_seen": [1-9]'
told "$work/out/ports.csv" 'ecn_marked_prio7,ecn_seen_prio0,'
told "$work/out/series.csv" 'ecn_seen\[3\],[1-9]'
told "$work/said" ' ECN .* [1-9][0-9]* packets seen'
told "$work/compared" '^packets seen  *[1-9]'
told "$work/compared.csv" ',ecn_seen,'
told "$work/swept/points.csv" ',ecn_seen,'
told "$work/out/schema.json" '"ecn_seen":\{"unit":"packets","description":"packets that the marking'
told "$work/out/schema.json" '"label":"packets seen"'
told "$work/out/schema.json" '"name":"ecn_seen_prio3"'
told "$work/page" '^\| .ecn_seen. \|'
told "$work/page" '^\| .ecn_seen_prioN. \|'
told "$work/page" '^\| .port\[A->B\].ecn_seen\[N\]. \|'
[ $failures -eq 0 ] || {
    echo "rerun: ctest --test-dir build/release -R '^test_one_counter$' --output-on-failure"
    exit 1
}
