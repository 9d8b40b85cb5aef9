#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks on several nodes: network namespaces behind a user-space switch with a known delay and rate, one rank each.
# Usage: network.sh PROGRAM CASE    exit 77 = cannot be tried here
set -u
program=$(readlink -f "$1")
case_name=$2
tools=$(dirname "$(readlink -f "$0")")/../../../shared/cases/network
work=$(mktemp -d)
up=
cleanup() {
  [ -z "$up" ] || RUN=$work bash "$tools/net.sh" down
  rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "FAILED: $*"; sed 's/^/  | /' "$work"/err "$work"/out 2>/dev/null | head -40; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

[ "$(id -u)" = 0 ] || skip "namespaces need root"
[ -e "$tools/net.sh" ] || skip "no $tools"
for tool in ip mpirun g++ python3; do command -v $tool >/dev/null || skip "no $tool"; done
[ -c /dev/net/tun ] || skip "no /dev/net/tun"
ip netns list | grep -q '^sw1' && skip "the namespaces sw1 ... are in use"

# network DELAY_US RATE_MBIT...
network() {
  up=yes
  RUN=$work bash "$tools/net.sh" up "$@" >"$work/net.log" 2>&1
  grep -q '^up' "$work/net.log" || skip "no network: $(head -c 200 "$work/net.log")"
}
# on NODES ARGS...: the program on so many nodes
on() {
  local nodes=$1
  shift
  nice -n -10 timeout -k 5 150 bash "$tools/mp.sh" "$nodes" --mca mpi_yield_when_idle 1 "$program" "$@" >"$work/out" 2>"$work/err" </dev/null ||
    fail "exit code $?: $*"
}
# A time says something only where ranks and switch have the cores for themselves: before they start, nothing runs.
quiet() {
  local before after
  before=$(awk '/^cpu / { print $5 + $6, $2 + $3 + $4 + $5 + $6 + $7 + $8 }' /proc/stat)
  sleep 1
  after=$(awk '/^cpu / { print $5 + $6, $2 + $3 + $4 + $5 + $6 + $7 + $8 }' /proc/stat)
  echo "$before $after" | awk '{ exit !(($3 - $1) > 0.9 * ($4 - $2)) }' || skip "other programs use the cores"
}
# over RUN_JSON EXPRESSION: of `points(probe)`, `run` and `median`; must be true
holds() {
  python3 - "$@" <<'PYTHON' || fail "$2 does not hold"
import json, sys
from statistics import median
run = json.load(open(sys.argv[1]))
def points(probe):
    return next(p["points"] for p in run["probes"] if p["name"] == probe)
def time(collective, mode, size):
    return next(median(p["samples"]["time_s"]) for p in points("comm.collectives")
                if (p["setting"]["collective"], p["setting"]["mode"], p["setting"]["message_bytes"]) == (collective, mode, size))
value = eval(sys.argv[2])
print(sys.argv[2], "=", value)
sys.exit(0 if value else 1)
PYTHON
}

case $case_name in
  latency_is_one_way)
    network 2000 1000 1000
    # A defect of the measurement shows each time, a core that the switch lost for a while does not.
    measured() {
      on 2 comm --collectives send_receive,all_reduce,broadcast --sizes 8,1M --out "$work/run$1"
      # 2 ms one way; two of them would be what ranks see that start up to one way apart.
      for collective in send_receive all_reduce broadcast; do
        holds "$work/run$1/run.json" "0.00195 < time('$collective', 'isolated', 8) < 0.0038"
      done
      # 1 MiB at 1 Gbit/s takes 8.4 ms.
      holds "$work/run$1/run.json" "0.0100 < time('broadcast', 'isolated', 1048576) < 0.030"
      [ -s "$work/run$1/ranks/collectives.csv" ] || fail "collectives.csv does not lie in ranks/"
    }
    for attempt in 1 2 3; do
      quiet
      (trap - EXIT; measured $attempt) && exit 0
    done
    exit 1
    ;;
  all_started_ranks_are_measured)
    network 200 1000 1000 1000
    on 3 step --out "$work/run"
    holds "$work/run/run.json" "sorted({p['setting']['ranks'] for p in points('step.training')}) == [1, 2, 3]"
    ;;
  one_plan_is_printed)
    network 200 1000 1000 1000
    on 3 comm --dry-run
    [ "$(grep -c '^plan: ' "$work/out")" = 1 ] || fail "not one plan"
    grep -q 'up to 3 ranks' "$work/out" || fail "not of the launched size"
    ;;
  slow_node_is_named)
    network 200 1000 1000 200 1000
    # The switch works on the same cores: where it kept them too long, the program says so and names a link alone.
    for attempt in 1 2 3; do
      quiet
      on 4 comm --collectives all_reduce --sizes 8,1M --out "$work/run$attempt"
      first=$(head -4 "$work/out" | tr -s ' \n' ' ')
      case $first in
        *'node3, with every partner, is'*) exit 0 ;;
        *'while others used the cores'*) ;;
        *) fail "node3 is not named in the first line" ;;
      esac
    done
    skip "others used the cores in $attempt attempts"
    ;;
  *) fail "no case $case_name" ;;
esac
