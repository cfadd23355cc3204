#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_calls.sh - calls of programs that perftest and the pingpongs do not make.
#
# Goal: calls.c ends well on two simulated hosts, twice with equal output, and so does a program of C++ that
# draws random numbers. The second way of simulating rdtsc, for machines that cannot trap it, shows the same
# times. Method: the compiler builds calls.c as a user would.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
[ -e "$library" ] && cc -O1 tests/programs/calls.c -o "$work/calls" -libverbs 2>/dev/null || {
    echo "skipped: libibverbs-dev, a compiler or the library of programs is not there"
    exit 77
}

cat >"$work/calls.yaml" <<END
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/calls"}
      - {host: host1, command: "$work/calls host0", start: 5ms}
END

for run in first second; do
    within 60 "$ROCESIM" run "$work/calls.yaml" --programs -o "$work/$run" >"$work/$run.log" 2>&1 || {
        cat "$work/$run.log" "$work/$run"/programs/*
        fail "calls.c ended with another status than 0"
    }
    grep -q '^ok ' "$work/$run/programs/host0-0.out" || fail "the server printed no ok"
    grep -q '^ok ' "$work/$run/programs/host1-0.out" || fail "the client printed no ok"
done
cmp "$work/first/programs/host1-0.out" "$work/second/programs/host1-0.out" ||
    fail "two equal runs differ in what a program prints"

cat >"$work/device.cc" <<END
#include <cstdio>
#include <random>
int main()
{
    std::random_device device;
    const unsigned first = device();
    return std::printf("%u %u\\n", first, device()) > 0 && first != device() ? 0 : 1;
}
END
if c++ -O1 "$work/device.cc" -o "$work/device" 2>/dev/null; then
    printf 'topology:\n  star: {hosts: 2}\ntraffic:\n  - programs:\n      - {host: host0, command: "%s"}\n' \
        "$work/device" >"$work/device.yaml"
    for run in first second; do
        within 60 "$ROCESIM" run "$work/device.yaml" --programs -o "$work/device-$run" >"$work/log" 2>&1 ||
            fail "std::random_device: $(cat "$work/log")"
    done
    cmp "$work"/device-{first,second}/programs/host0-0.out || fail "std::random_device differs in equal runs"
fi

printf 'topology:\n  star: {hosts: 2}\ntraffic:\n  - programs:\n' >"$work/clock.yaml"
for host in 0 1; do
    printf '      - {host: host%s, command: "ib_write_bw -d rocesim0 -F -n 200 %s", start: %sms}\n' \
        "$host" "$([ "$host" = 0 ] || echo host0)" "$host" >>"$work/clock.yaml"
done
if ! grep -q 'libcapstone' "$library"; then
    echo "not tried: the second way; the library of programs was built without libcapstone-dev"
elif command -v ib_write_bw >/dev/null; then
    for way in trap rewrite; do
        within 60 "$ROCESIM" run "$work/clock.yaml" --programs -o "$work/$way" --set \
            programs.environment="ROCESIM_PROGRAM_TSC=$way" >"$work/$way.log" 2>&1 ||
            fail "ib_write_bw failed with the way to simulate rdtsc: $way"
    done
    # The library that rewrites takes memory of its own, so that buffers lie elsewhere.
    for way in trap rewrite; do
        sed 's/VAddr.*//' "$work/$way/programs/host1-0.out" >"$work/$way.out"
    done
    diff "$work/trap.out" "$work/rewrite.out" ||
        fail "the two ways to simulate rdtsc show different times"
fi
exit $((failures > 0))
