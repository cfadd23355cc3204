#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_mpi.sh - Open MPI, unmodified, on simulated hosts.
#
# Goal: mpirun starts ranks on four hosts, whose all-reduce has the right sums, crosses the fabric and takes
# within 5 % of a ring all-reduce as a `collective`.
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-bin/ssh" ] && command -v mpirun >/dev/null &&
    mpicc -O2 examples/mpi_allreduce.c -o "$work/allreduce" 2>/dev/null || {
    echo "skipped: Open MPI or the library of programs is not there"
    exit 77
}
mpirun --version | grep -q "Open MPI" || {
    echo "skipped: mpirun is not that of Open MPI"
    exit 77
}
ring="--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4"
mpirun="mpirun --allow-run-as-root --mca pml ucx $ring -np 4 --host host0,host1,host2,host3"
cat >"$work/mpi.yaml" <<END
topology:
  star: {hosts: 4}
programs: {ssh: on}
traffic:
  - programs:
      - {host: host0, command: "$mpirun $work/allreduce 16777216"}
END
cat >"$work/collective.yaml" <<END
topology:
  star: {hosts: 4}
traffic:
  - collective: {kind: all-reduce, algorithm: ring, bytes: 16MiB, protocol: plain}
END
within 58 "$ROCESIM" run "$work/mpi.yaml" --programs -o "$work/1" >"$work/log" 2>&1 || {
    cat "$work/log" "$work"/1/programs/*
    fail "mpirun ended with another status than 0"
}
cat "$work/1/programs/host0-0.out"
"$ROCESIM" run "$work/collective.yaml" >"$work/log"
measured=$(sed -n 's/^all-reduce of 16777216 .* ranks: \(.*\) us$/\1/p' "$work/1/programs/host0-0.out")
expected=$(sed -n 's/.*GPUs takes \([0-9.]*\) us.*/\1/p' "$work/log")
awk -v a="${measured:-0}" -v b="$expected" 'BEGIN { exit !(a > 0.95 * b && a < 1.05 * b) }' ||
    fail "the all-reduce took ${measured:-nothing} us, the collective $expected us, expected within 5 %"
exit $((failures > 0))
