#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_equal_mpi.sh - equal runs of MPI programs have equal digests and output.
#
# Goal: nothing of the machine decides what ranks do: numbers of processes and threads, random numbers,
# times, names of files. Method: two runs of an all-reduce of two ranks on each of two hosts; the last one
# beside a process that takes a processor. Ranks of a host meet in memory. A third run goes by TCP, as Open
# MPI does it without --mca pml ucx.
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-bin/ssh" ] && command -v mpirun >/dev/null &&
    mpicc -O2 examples/mpi_allreduce.c -o "$work/allreduce" 2>/dev/null &&
    mpirun --version | grep -q "Open MPI" || {
    echo "skipped: Open MPI or the library of programs is not there"
    exit 77
}
mpirun="mpirun --allow-run-as-root -np 4 --host host0:2,host1:2"
# scenario [WORD...]: an all-reduce with these words for mpirun.
scenario() {
    cat <<END
topology:
  star: {hosts: 2}
programs: {ssh: on}
traffic:
  - programs:
      - {host: host0, command: "$mpirun $* $work/allreduce 65536"}
END
}
scenario --mca pml ucx >"$work/mpi.yaml"
scenario >"$work/tcp.yaml"
for again in 1 2; do
    load=
    [ "$again" != 2 ] || {
        (while :; do :; done) &
        load=$!
    }
    within 58 "$ROCESIM" run "$work/mpi.yaml" --programs -o "$work/$again" >"$work/$again.log" 2>&1 ||
        fail "mpirun ended with another status than 0"
    [ -z "$load" ] || kill "$load"
    [ "$(sed -n 's/^ *digest *//p' "$work/$again.log")" = "$(sed -n 's/^ *digest *//p' "$work/1.log")" ] ||
        fail "equal runs have different digests"
    diff -r "$work/1/programs" "$work/$again/programs" || fail "equal runs print different texts"
done
within 58 "$ROCESIM" run "$work/tcp.yaml" --programs -o "$work/tcp" >"$work/tcp.log" 2>&1 &&
    grep -q '^all-reduce of 65536 bytes on 4 ranks' "$work/tcp/programs/host0-0.out" ||
    fail "mpirun without --mca pml ucx: $(cat "$work"/tcp/programs/host0-0.*)"
exit $((failures > 0))
