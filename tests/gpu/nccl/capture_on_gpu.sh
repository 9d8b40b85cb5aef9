#!/usr/bin/env bash
# Two ranks that share a GPU over the loopback network are recorded while they issue a known sequence of collectives; every
# kernel must be joined with its call, with the right kind and bytes. 77 without a GPU or NCCL.
# Usage: capture_on_gpu.sh SCALEWORTH NCCL_SEQUENCE
set -u
scaleworth=$1 program=$2 here=$(cd "$(dirname "$0")" && pwd)
ranks=$here/../../../scripts/acceptance/workloads/ranks.py
"$program" 0 1 >/dev/null 2>&1
[ $? = 77 ] && exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
fail() { echo "$1"; cat issued out err; exit 1; }

"$scaleworth" trace --out recorded -- python3 "$ranks" 2 "$program" '{rank}' '{ranks}' >issued 2>err || fail "the traced ranks failed"
"$scaleworth" attribute recorded --export sequence.json.gz >out 2>>err || fail "the recording cannot be attributed"
python3 "$here/check_sequence.py" sequence.json.gz issued 2 || { cat err; exit 1; }
