#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_slurm.sh - the job array that `rocesim sweep --slurm` prints, run by slurm itself.
# labels: study
#
# Goal: sbatch takes the script, each task does its run, and the plain command then writes the tables
# that it writes of its own runs.
# Method: munge, slurmctld and slurmd of this machine, on loopback, in a folder of their own. Without
# Debian's slurmctld, slurmd, slurm-client and munge, or rights to start them, it is skipped.
set -u
. tests/script.sh

for program in munged slurmctld slurmd sbatch sinfo; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "skip: no $program" && exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skip: slurmd is started by root" && exit 77; }
PATH=$PATH:/usr/sbin

stop() {
    for file in ctld slurmd munge; do
        [ ! -s "$work/$file.pid" ] || kill "$(cat "$work/$file.pid")" 2>/dev/null
    done
    sleep 1
    rm -rf "$work"
}
trap stop EXIT
mkdir "$work/state" "$work/spool" "$work/bin"
head -c 1024 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"
munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
    --pid-file="$work/munge.pid" --log-file="$work/munge.log" --seed-file="$work/munge.seed" \
    >/dev/null 2>&1 || { echo "skip: munged does not start" && exit 77; }
host=$(hostname -s)
cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((20001 + $$ % 20000))
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/ctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=2048 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=10
END
export SLURM_CONF=$work/slurm.conf
slurmctld -i && slurmd || { echo "skip: slurm does not start" && exit 77; }
for _ in $(seq 6000); do
    sinfo -h -o %T 2>/dev/null | grep -q idle && break
    sleep 0.5
done
sinfo -h -o %T | grep -q idle || { echo "skip: slurm has no idle node" && exit 77; }

cat >"$work/base.yaml" <<'END'
topology: {star: {hosts: 4}}
parameters: {size: traffic[0].incast.bytes}
traffic: [incast: {senders: 3, bytes: 100KB, to: host0}]
END
cat >"$work/sweep.yaml" <<'END'
scenario: base.yaml
grid: {size: [10KB, 100KB, 1MB]}
seeds: 4
columns: [flows.fct_us.max, flows.slowdown.p99]
END
ln -s "$(realpath "$ROCESIM")" "$work/bin/rocesim"
export PATH=$work/bin:$PATH
cd "$work" || exit 1
rocesim sweep sweep.yaml -o array --slurm >job.sh || fail "--slurm"
timeout 300 sbatch --wait job.sh >said 2>&1 || fail "sbatch: $(cat said)"
rocesim sweep sweep.yaml -o array --quiet >said 2>&1 || fail "tables: $(cat said)"
grep -q "12 runs (12 were there), 0 failed" said || fail "after the array: $(cat said)"
rocesim sweep sweep.yaml -o own --quiet >/dev/null || fail "a sweep of its own"
for table in runs.csv points.csv; do
    cmp "array/$table" "own/$table" || fail "$table differs"
done

# One run in two ranks.
if rocesim --version | grep -q 'with Open MPI' && command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
    rocesim run base.yaml -o alone --quiet >said || fail "one process: $(head -n 1 said)"
    rocesim run base.yaml -o ranks --quiet --ranks 2 --print-slurm >ranks.sh || fail "no script for ranks"
    grep -q '^#SBATCH --ntasks=2$' ranks.sh || fail "ranks.sh does not ask for two tasks"
    timeout 300 sbatch --wait --time=5 --output=ranks.log ranks.sh >said 2>&1 ||
        fail "ranks: $(cat said) $(tail -n 3 ranks.log)"
    diff -r -q -I '"wall_' alone ranks || fail "two ranks under slurm differ from one process"
fi
exit $((failures > 0))
