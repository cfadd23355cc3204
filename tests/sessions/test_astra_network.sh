#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
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
[ "$failures" = 0 ]
