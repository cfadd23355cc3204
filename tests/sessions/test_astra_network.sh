#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow
# tests/sessions/test_astra_network.sh - examples/astra_network.hh under a front end of ASTRA-sim.
#
# Goal: it implements the whole interface of ASTRA-sim (with and without sim_notify_finished) and of
# SimAI (flow tags): a ring and an all-to-all take their closed-form times, schedules of all units
# fire in time, receives match messages of other sizes, ranks of one host talk within it.
# Method: a stand-in of their header and a small front end are compiled with it and run.
# Does not pin: their own front ends, which need their sources.
set -u
. tests/script.sh
command -v g++ >/dev/null || { echo "skip: no g++"; exit 77; }
grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$BUILD_DIRECTORY/CMakeCache.txt" ||
    { echo "skip: only with a release build"; exit 77; }

cat >"$work/star.yaml" <<'END'
topology: {star: {hosts: 8, rate: 100Gbps, delay: 1us}}
nic: {congestion-control: none, mtu: 4096}
END
for interface in $(few "3 2 1" 3); do
    within 20 g++ -std=c++11 -Wall -Wextra -Wshadow -Werror "-DSTAND_IN=$interface" \
        -Itests/sessions/astra -Iexamples -Isessions tests/sessions/astra/front_end.cc \
        "-L$BUILD_DIRECTORY" -lrocesim "-Wl,-rpath,$BUILD_DIRECTORY" -o "$work/front_end" ||
        fail "interface $interface: it does not compile"
    within 20 "$work/front_end" "$work/star.yaml" >"$work/said" 2>&1 ||
        fail "interface $interface: $(cat "$work/said")"
done

# The program for ASTRA-sim, with stand-ins for its layers: 64 KiB to the next rank of each dimension. In a
# network of N dimensions each has a NIC of its own, so all of them end when one alone does.
within 30 g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -DSTAND_IN=3 -Itests/sessions/astra -Iexamples \
    -Isessions examples/adapters/astra-sim/astra_sim.cc "-L$BUILD_DIRECTORY" -lrocesim \
    "-Wl,-rpath,$BUILD_DIRECTORY" -o "$work/astra_sim" || fail "astra_sim.cc does not compile"
ends() { # ends NETWORK...: prints the number of messages, and the first and the last end in ns
    TMPDIR=$work within 20 "$work/astra_sim" --workload-configuration=w --system-configuration s \
        --remote-memory-configuration=m --network-configuration="$work/net.yml" "$@" >"$work/said" 2>&1 ||
        cat "$work/said"
    sed -n 's/^sys.*: //p' "$work/said" | sort -n | sed -n '1p;$p' | paste -sd' '
}
network() { # network TOPOLOGIES COUNTS RATES LATENCIES
    printf 'topology: [ %s ]\nnpus_count: [ %s ]\nbandwidth: [ %s ]  # GB/s\nlatency: [ %s ] # ns\n' "$@" \
        >"$work/net.yml"
}
# 64 KiB take 1220.7 ns at 50 GiB/s, and 16 frames of 4096 bytes 2 % more. A message crosses the
# latency once.
network Ring 4 50.0 500.0
ring=$(ends)
[ "$ring" = "${ring% *} ${ring% *}" ] && [ "${ring% *}" -gt 1720 ] && [ "${ring% *}" -lt 1920 ] ||
    fail "a ring of 4: $ring"
# The overlay of LLMServingSim says the same.
overlay=examples/adapters/llmservingsim/overlay
within 30 g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -DSTAND_IN=3 "-I$overlay" \
    -Iexamples/adapters/astra-sim -Itests/sessions/astra -Iexamples -Isessions \
    tests/sessions/astra/overlay_main.cc "-L$BUILD_DIRECTORY" \
    -lrocesim "-Wl,-rpath,$BUILD_DIRECTORY" -o "$work/overlay" || fail "the overlay does not compile"
[ "$(TMPDIR=$work within 20 "$work/overlay" "$work/net.yml")" = "4 ${ring% *} 100" ] ||
    fail "the overlay: $("$work/overlay" "$work/net.yml"), not $ring"
network Switch 4 50 500
hub=$(ends)
[ "${hub% *}" -gt $((${ring% *} + 450)) ] && [ "${hub% *}" -lt $((${ring% *} + 550)) ] ||
    fail "a switch of 4: $hub, a ring $ring"
network "Ring, Ring" "4, 2" "50, 50" "500, 500"
[ "$(ends)" = "$ring" ] || fail "two dimensions: $(ends), one: $ring"
network "FullyConnected, Ring" "4, 2" "50, 50" "500, 500"
[ "$(ends | cut -d' ' -f2)" = "${ring% *}" ] || fail "a full connection: $(ends), a ring: $ring"
network Ring "4, 2" 50 500
ends >/dev/null
grep -q "lists differ" "$work/said" || fail "lists of other lengths: $(cat "$work/said")"
cp "$work/star.yaml" "$work/net.yml"
echo '{"logical-dims": ["4", "2"]}' >"$work/dims.json"
[ -n "$(ends --logical-topology-configuration="$work/dims.json")" ] &&
    grep -q "rocesim: 16 messages" "$work/said" || fail "a scenario: $(cat "$work/said")"
ends >/dev/null
grep -q "needs --logical-topology" "$work/said" || fail "a scenario without dimensions: $(cat "$work/said")"
ls "$work" | grep -q astra-sim- && fail "the scenario of a network is left over"
[ "$failures" = 0 ]
