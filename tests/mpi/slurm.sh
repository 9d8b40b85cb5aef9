#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tasks of a real Slurm: one node, in a network namespace of its own that leads nowhere else.
# Usage: slurm.sh PROGRAM    exit 77 = cannot be tried here
set -u
program=$(readlink -f "$1")
work=$(mktemp -d)
space=scaleworth-slurm-$$
pids=()
cleanup() {
  for name in slurmd slurmctld munged; do
    [ -s "$work/$name.pid" ] && pids+=("$(cat "$work/$name.pid")")
  done
  [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
  sleep 0.5
  ip netns del "$space" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "FAILED: $*"; sed 's/^/  | /' "$work"/{out,err,slurmctld.log,slurmd.log} 2>/dev/null | tail -40; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

[ "$(id -u)" = 0 ] || skip "needs root"
PATH=$PATH:/usr/sbin
for tool in ip munged slurmctld slurmd srun mpirun; do command -v $tool >/dev/null || skip "no $tool"; done
[ -c /dev/net/tun ] || skip "no /dev/net/tun"
ip netns add "$space" 2>/dev/null || skip "no network namespaces"
# Slurm resolves addresses only where an interface besides the loopback has one.
inside() { ip netns exec "$space" "$@"; }
inside ip link set lo up && inside ip tuntap add tap0 mode tap && inside ip addr add 10.8.0.1/24 dev tap0 || skip "no tap device"

host=$(hostname -s)
mkdir -m 700 "$work"/{munge,state,spool}
head -c 128 /dev/urandom >"$work/munge/key" && chmod 400 "$work/munge/key"
cat >"$work/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 NodeHostname=$host CPUs=2
PartitionName=all Nodes=localhost Default=YES
CONF
printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' >"$work/cgroup.conf"
export SLURM_CONF=$work/slurm.conf OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
munged --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munged.pid" \
  --log-file="$work/munge/log" --seed-file="$work/munge/seed" >"$work/err" 2>&1 || skip "munged does not start"
inside slurmctld >"$work/err" 2>&1 || skip "slurmctld does not start"
# No limits are set: any folder will do as that of control groups.
inside unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup; exec slurmd -N localhost' >"$work/err" 2>&1
for _ in $(seq 40); do
  inside sinfo -h -o %T 2>/dev/null | grep -q idle && break
  sleep 0.25
done
inside sinfo -h -o %T 2>"$work/err" | grep -q idle || skip "no idle node: $(tail -1 "$work/slurmd.log")"

# task EXIT_CODE ARGS_OF_SRUN -- ARGS
task() {
  local expected=$1 launch=()
  shift
  while [ "$1" != -- ]; do launch+=("$1"); shift; done
  shift
  inside timeout 60 srun "${launch[@]}" "$program" "$@" --quiet --out "$work/run" >"$work/out" 2>"$work/err" </dev/null
  local code=$?
  [ $code = "$expected" ] || fail "exit code $code: srun ${launch[*]} $*"
  rm -rf "$work/last" && mv "$work/run" "$work/last" 2>/dev/null
}

# One task needs no MPI.
task 0 -n 1 -- roofline --only roofline.compute
grep -q 'GFLOP/s' "$work/out" || fail "one task measured nothing"
# Open MPI finds the other tasks by PMIx alone: the remedy comes before its own complaint.
task 2 -n 2 -- comm
grep -q 'srun --mpi=pmix -n 2' "$work/err" || fail "no remedy for tasks without PMIx"
inside timeout 60 srun -n 2 --mpi=pmi2 "$program" comm >"$work/out" 2>"$work/err" </dev/null && fail "pmi2 ended well"
head -1 "$work/err" | grep -q 'scaleworth: .*PMI2 serves only' || fail "the remedy for PMI2 is not the first line"
inside srun --mpi=list 2>&1 | grep -q pmix || { echo "no PMIx plugin here: the rest is left out"; exit 0; }
task 0 -n 2 --mpi=pmix -- comm --collectives all_reduce --sizes 8,1K
grep -q 'between 2 ranks' "$work/out" || fail "two tasks with PMIx measured nothing"
[ -s "$work/last/ranks/collectives.csv" ] || fail "collectives.csv does not lie in ranks/"
task 0 -n 2 --mpi=pmix -- step
grep -q '"ranks": 2' "$work/last/run.json" || fail "the step was not measured on both tasks"
grep -qi 'other programs used' "$work/out" && grep -q '^cpu  ' /proc/stat && echo "note: other programs used the cores"
[ "$(inside timeout 30 srun -n 2 --mpi=pmix "$program" comm --dry-run | grep -c '^plan: ')" = 1 ] || fail "the plan is not printed once"
exit 0
