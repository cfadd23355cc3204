#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_equal_mpi.sh - equal runs of MPI programs have equal digests and output.
#
# Goal: nothing of the machine decides what ranks do: numbers of processes and threads, random numbers,
# times, names of files. Method: three runs of an all-reduce on four hosts; the last one beside a process that
# takes a processor.
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-bin/ssh" ] && command -v mpirun >/dev/null &&
    mpicc -O2 examples/mpi_allreduce.c -o "$work/allreduce" 2>/dev/null &&
    mpirun --version | grep -q "Open MPI" || {
    echo "skipped: Open MPI or the library of programs is not there"
    exit 77
}
mpirun="mpirun --allow-run-as-root --mca pml ucx -np 4 --host host0,host1,host2,host3"
cat >"$work/mpi.yaml" <<END
topology:
  star: {hosts: 4}
programs: {ssh: on}
traffic:
  - programs:
      - {host: host0, command: "$mpirun $work/allreduce 65536"}
END
for again in 1 2 3; do
    load=
    [ "$again" != 3 ] || {
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
exit $((failures > 0))
