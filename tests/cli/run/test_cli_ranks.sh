#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/cli/run/test_cli_ranks.sh - several processes give the results of one.
#
# Goal: with --ranks all result files are those of one process, byte for byte but for values named wall_:
# reliable and unreliable transfers, losses, faults, series of both kinds, captures, pauses and a stall's
# report. What ranks cannot do is refused with status 2 before anything is written.
# Method: diff of folders. Not pinned: time, and which rank gets which nodes.
# labels: plain ranks
set -u
. tests/script.sh
if ! "$ROCESIM" --version | grep -q 'with Open MPI' || ! command -v mpirun >/dev/null; then
    echo "skip: this build has no MPI, or mpirun is not installed"
    exit 77
fi

# alone NAME SCENARIO [OPTION]..., ranks N NAME SCENARIO [OPTION]...: a run into the folder NAME.
alone() {
    rm -rf "${work:?}/$1"
    within 60 "$ROCESIM" run "${@:2}" -o "$work/$1" --quiet >"$work/out" 2>"$work/err"
}
ranks() {
    rm -rf "${work:?}/$2"
    timeout 1200 "$ROCESIM" run "${@:3}" -o "$work/$2" --quiet --ranks "$1" >"$work/out" 2>"$work/err2"
}

# same A B: two folders.
same() {
    diff -r -q -I '"wall_' -I '"threads"' -I '^threads:' "$work/$1" "$work/$2" >"$work/diff" ||
        fail "$2 differs from $1: $(head -n 3 "$work/diff")"
}

cat >"$work/reliable.yaml" <<'END'
seed: 7
topology: {fat-tree: {k: 4, delay: 500ns}}
nic: {congestion-control: hpcc, transport: irn}
link: {loss-rate: 1/2000}
traffic:
  - poisson: {from: "host[*]", to: "host[*]", sizes: websearch, load: 0.4, stop: 200us}
  - incast: {to: host3, from: "host[8-15]", bytes: 64KB, start: 20us}
links:
  edge0--agg*: {down: [{at: 50us, until: 90us}]}
faults:
  - {part: agg2--core*, kind: degraded, at: 30us, until: 120us, rate: 10Gbps}
observe:
  - {series: "port[edge*->host*].queue_bytes", every: 5us}
  - {series: "qp[host9:*].rate_bps", on: change}
captures:
  - {ports: "host3->*", file: host3.pcap.gz}
END
sed -e 's/hpcc, transport: irn/dcqcn/; /poisson/d; s/bytes: 64KB/bytes: 20KB, service: uc/' \
    "$work/reliable.yaml" >"$work/unreliable.yaml"
for name in reliable unreliable; do
    alone one "$work/$name.yaml" || fail "$name: $(head -n 2 "$work/err")"
    ranks 2 two "$work/$name.yaml" --threads 2 || fail "$name, 2 ranks: $(head -n 2 "$work/err2")"
    same one two
done
grep -q '  ranks     2, ' "$work/out" && grep -q 'divided by pods; rank' "$work/out" ||
    fail "the summary does not tell how ranks waited"
# early: how many windows rank 0 began before it had the messages of others.
early() {
    sed -n 's/^  ranks .*(rank 0 began \([0-9]*\) early).*/\1/p' "$work/out"
}
[ "$(early)" -eq 0 ] || fail "$(early) windows began early where faults may end the run"
ranks 3 three "$work/reliable.yaml" --progress "$work/progress" || fail "3 ranks: $(head -n 2 "$work/err2")"
alone one "$work/reliable.yaml" && same one three
head -n 1 "$work/progress" | grep -q '"done": 17, "planned": 17, .* "share": 1.0000' ||
    fail "the progress is not that of all ranks: $(head -c 100 "$work/progress")"

# Schedules, collectives, a measurement between two hosts, and NICs with an inside.
cat >"$work/programs.yaml" <<'END'
seed: 5
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4, delay: 500ns}}
nic: {congestion-control: dcqcn, model: detailed}
traffic:
  - collective: {bytes: 256KB, hosts: "host[0-5]"}
  - perftest: {test: ib_write_lat, from: host1, to: host6, size: 2KB, iterations: 100}
END
cat >"$work/much.yaml" <<'END'
# More than 64 KB per window and pair of ranks, which then takes two messages.
topology: {fat-tree: {k: 8, delay: 2us}}
nic: {mtu: 512}
traffic: [permutation: {bytes: 60KB}]
END
for scenario in "$work/programs.yaml" scenarios/training/ring.yaml "$work/much.yaml"; do
    alone one "$scenario" || fail "$scenario: $(head -n 2 "$work/err")"
    ranks 2 two "$scenario" || fail "$scenario, 2 ranks: $(head -n 2 "$work/err2")"
    same one two
done
[ "$(early)" -gt 15 ] || fail "$(early) windows began early, expected most of them"

# In a star only the rank with the switch is a neighbour of all others.
printf 'topology: {star: {hosts: 9}}\ntraffic: [permutation: {bytes: 20KB}]\n' >"$work/star.yaml"
alone one "$work/star.yaml" || fail "star: $(head -n 2 "$work/err")"
ranks 3 three "$work/star.yaml" || fail "star, 3 ranks: $(head -n 2 "$work/err2")"
same one three

# Rank 0 warns of paths through all ranks.
cat >"$work/channels.yaml" <<'END'
topology: {torus: {x: 3, y: 3}}
network: {load-balancer: ugal}
switch: {mmu: virtual-channels}
nic: {priority: 0}
traffic: [permutation: {bytes: 20KB}]
END
alone one "$work/channels.yaml" || fail "channels: $(head -n 2 "$work/err")"
ranks 3 three "$work/channels.yaml" || fail "channels, 3 ranks: $(head -n 2 "$work/err2")"
grep -q 'paths have up to 5 switches, and packets are dropped after 4' "$work/one/summary.json" ||
    fail "too few virtual channels are not warned of"
same one three

# While only one rank has anything to do, ranks do not meet: 60 us of traffic in one pod, then 9 us beyond.
cat >"$work/pod.yaml" <<'END'
topology: {fat-tree: {k: 4, delay: 500ns}}
traffic: [incast: {to: host0, from: "host[1-3]", bytes: 200KB}, flows: {list: [host0 host15 20KB 60us]}]
END
alone one "$work/pod.yaml" || fail "pod: $(head -n 2 "$work/err")"
ranks 2 two "$work/pod.yaml" || fail "pod, 2 ranks: $(head -n 2 "$work/err2")"
same one two
met=$(sed -n 's/^  ranks     2, \([0-9]*\) windows in step.*/\1/p' "$work/out")
[ "$met" -lt 20 ] || fail "ranks met after $met windows, expected less than 20 where one of them is silent"

# A stall is told as by one process.
alone one scenarios/pfc-deadlock.yaml && fail "the deadlock does not stall"
ranks 2 two scenarios/pfc-deadlock.yaml && fail "the deadlock does not stall in ranks"
same one two
diff "$work/err" "$work/err2" >"$work/diff" ||
    fail "a stall is told in other words: $(head -n 4 "$work/diff")"
grep -q deadlock "$work/err2" || fail "no deadlock is told"

# refused WORDS [OPTION]...: one message, nothing written.
refused() {
    ranks 2 no "$work/reliable.yaml" "${@:2}"
    local status=$?
    [ $status -eq 2 ] || fail "$*: status $status, expected 2"
    grep -q "$1" "$work/err2" || fail "$*: $(head -n 2 "$work/err2")"
    [ "$(wc -l <"$work/err2")" -eq 1 ] && [ ! -e "$work/no" ] || fail "$*: more than one line, or files"
}
refused 'ties: insertion' --set ties=insertion
"$ROCESIM" run "$work/reliable.yaml" --ranks 0 2>"$work/err2"
[ $? -eq 2 ] && grep -q "ranks is '0'" "$work/err2" || fail "--ranks 0: $(cat "$work/err2")"

# A sweep: runs in ranks, and tables as without; another number of ranks goes on with it.
echo '{topology: {star: {hosts: 4}}, traffic: [permutation: {bytes: 10KB}]}' >"$work/small.yaml"
cat >"$work/sweep.yaml" <<'END'
scenario: small.yaml
grid: {nic.mtu: [1024, 4096]}
END
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/alone" --quiet >/dev/null 2>"$work/err" ||
    fail "$(cat "$work/err")"
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/ranked" --ranks 2 --quiet >/dev/null 2>"$work/err" ||
    fail "a sweep in ranks: $(head -n 3 "$work/err")"
cmp -s "$work/alone/points.csv" "$work/ranked/points.csv" || fail "a sweep in ranks has other points"
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/ranked" --quiet | grep -q '2 were there' ||
    fail "a sweep in ranks does not go on without"
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/printed" --ranks 3 --slurm >"$work/job.sh"
grep -q '^#SBATCH --ntasks=3$' "$work/job.sh" && grep -q -- '--ranks 3$' "$work/job.sh" ||
    fail "the job array has no ranks: $(cat "$work/job.sh")"
sed -i 's/^grid:.*/grid: {ties: [hash, insertion]}/' "$work/sweep.yaml"
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/no" --ranks 2 --quiet >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'ties: insertion' "$work/err" && [ ! -e "$work/no" ] ||
    fail "a sweep that ranks refuse: $(head -n 2 "$work/err")"
OMPI_COMM_WORLD_SIZE=2 "$ROCESIM" sweep "$work/sweep.yaml" -o "$work/no" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'mpirun started 2 processes' "$work/err" ||
    fail "a sweep under mpirun: $(cat "$work/err")"

# A session is one process's.
OMPI_COMM_WORLD_SIZE=2 "$ROCESIM" serve "$work/reliable.yaml" -o "$work/no" \
    </dev/null >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'mpirun started 2 processes' "$work/err" && [ ! -s "$work/out" ] &&
    [ ! -e "$work/no" ] || fail "a session under mpirun: $(cat "$work/err")"

# A check tells beforehand how the network is divided.
"$ROCESIM" check "$work/reliable.yaml" --ranks 2 >"$work/out" || fail "check --ranks fails"
grep -q '^  ranks     2; the first has 8 hosts' "$work/out" &&
    grep -q '^  parts     by pods: 8 of 48 links join ranks (16.7 %)' "$work/out" ||
    fail "check --ranks: $(grep -A 1 '^  ranks' "$work/out")"

# A rank of a large network takes little memory for the hosts of other ranks. Memory is compared with that of
# one process, both without what the same program takes for 16 hosts: how much a machine's libraries, pages
# and allocator take differs.
# memory: the number of 100 KB of which the output speaks.
memory() {
    sed -nE -e 's/^ *(ranks|rank [0-9]* took the largest memory).* ([0-9.]+) MB.*/\2/p' \
        -e 's/^ *"wall_memory_bytes": ([0-9]*)[0-9]{5},?$/\1/p' "$work/out" |
        awk '{ print /[.]/ ? 10 * $1 : $1 }'
}
# part WHAT SHARE MANY FEW ALL_MANY ALL_FEW: MANY - FEW is less than a share of ALL_MANY - ALL_FEW.
part() {
    awk -v share="$2" -v many="$3" -v few="$4" -v all_many="$5" -v all_few="$6" 'BEGIN {
        part = many - few; all = all_many - all_few
        exit !(part > 0 && all > 0 && part < share * all) }' ||
        fail "memory of $1: $3 - $4 is not a part of $5 - $6, in 100 KB"
}
case $BUILD_DIRECTORY in
*asan | *tsan) ;;
*)
    for k in 4 32; do
        printf '%s\n' "topology: {fat-tree: {k: $k}}" \
            "traffic: [flows: {list: [host0 host$((k * k * k / 4 - 1)) 100KB 0us]}]" >"$work/large.yaml"
        "$ROCESIM" check "$work/large.yaml" --ranks 4 >"$work/out" || fail "check of k=$k in 4 ranks fails"
        checked[k]=$(memory)
        "$ROCESIM" check "$work/large.yaml" --ranks 1 >"$work/out" || fail "check of k=$k fails"
        checked_alone[k]=$(memory)
        "$ROCESIM" run "$work/large.yaml" --quiet --json >"$work/out" || fail "a run of k=$k fails"
        run_alone[k]=$(memory)
        "$ROCESIM" run "$work/large.yaml" --ranks 4 --quiet -o "$work/large" >"$work/out" 2>"$work/err2" ||
            fail "a run of k=$k in 4 ranks fails: $(head -n 2 "$work/err2")"
        run[k]=$(memory)
    done
    # 0.45 and 0.37 where it was measured.
    part "a rank" 0.65 "${checked[32]}" "${checked[4]}" "${checked_alone[32]}" "${checked_alone[4]}"
    # A run makes hosts and ports of other ranks for no file.
    part "a run in ranks" 0.65 "${run[32]}" "${run[4]}" "${run_alone[32]}" "${run_alone[4]}"
    # A run listens to all ports, which must not cost each of them memory: 1.25 where it was measured.
    part "a run" 1.7 "${run_alone[32]}" "${run_alone[4]}" "${checked_alone[32]}" "${checked_alone[4]}"
    [ "$(wc -l <"$work/large/ports.csv")" -eq 49153 ] || fail "ports.csv has not all ports"
    rm -r "$work/large"
    ;;
esac

# memory-max is for each rank: what one process may not build, four may.
"$ROCESIM" check scenarios/fat-tree.yaml --set memory-max=300KB 2>"$work/err2" >"$work/out" &&
    fail "a network larger than memory-max is taken"
"$ROCESIM" check scenarios/fat-tree.yaml --set memory-max=300KB --ranks 4 >"$work/out" ||
    fail "memory-max is not for each rank"

# A job script for Slurm, which test_cli_slurm.sh runs.
"$ROCESIM" run "$work/reliable.yaml" -o "$work/it's" --ranks 3 --threads 2 --print-slurm >"$work/job.sh" ||
    fail "no job script"
bash -n "$work/job.sh" || fail "the job script is none"
grep -q '^#SBATCH --ntasks=3$' "$work/job.sh" && grep -q '^#SBATCH --cpus-per-task=2$' "$work/job.sh" &&
    grep -q "^mpirun .* -n 3 rocesim 'run' .*'--threads' '2' &\$" "$work/job.sh" ||
    fail "the job script has other words: $(cat "$work/job.sh")"

# Ranks with different inputs, as on two machines.
sed 's/seed: 7/seed: 8/' "$work/reliable.yaml" >"$work/other.yaml"
as_root=""
[ "$(id -u)" -ne 0 ] || as_root=--allow-run-as-root
mpirun_both=(timeout 1200 mpirun $as_root --oversubscribe --mca btl self,vader --mca mpi_yield_when_idle 1)
"${mpirun_both[@]}" -n 1 "$ROCESIM" run "$work/reliable.yaml" -o "$work/no" --quiet : \
    -n 1 "$ROCESIM" run "$work/other.yaml" -o "$work/no" --quiet >"$work/out" 2>"$work/err2"
[ $? -eq 2 ] || fail "different inputs: expected status 2"
grep -q 'rank 1 has another scenario than rank 0' "$work/err2" || fail "inputs: $(head -n 2 "$work/err2")"
"${mpirun_both[@]}" -n 1 "$ROCESIM" run "$work/reliable.yaml" -o "$work/no" --quiet : \
    -n 1 "$ROCESIM" run "$work/reliable.yaml" --quiet >"$work/out" 2>"$work/err2"
[ $? -eq 2 ] || fail "a rank without -o: expected status 2"
grep -q 'rank 1 has another command line (-o) than rank 0' "$work/err2" ||
    fail "a rank without -o: $(head -n 2 "$work/err2")"
[ ! -e "$work/no" ] || fail "different inputs: files were written"

[ $failures -eq 0 ]
