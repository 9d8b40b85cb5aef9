#!/usr/bin/env bash
# Stands for a python3 whose PyTorch sees a GPU: its training is STAND_IN_PROGRAM, which stands for a CUDA program, and its
# profile is the recording STAND_IN_KINETO. Everything else goes to the real python3.
set -u
case ${1:-} in
  -c) exit 0 ;;
  */theirs.py) echo '{"version": "stand-in", "figures": {"bf16_steady": 7e14, "bf16_burst": 8e14, "memory_copy": 4e12}, "missing": {}}'; exit 0 ;;
  */train.py) shift ;;
  */clients.py) shift ;;
  *) exec python3 "$@" ;;
esac
while [ $# -gt 0 ]; do
  case $1 in
    --times) echo '{"step_s": [0.010, 0.011, 0.010], "wrapped": "DistributedDataParallel", "units": 3, "seconds": 0.03}' >"$2" ;;
    --profile) gunzip -c "$STAND_IN_KINETO" >"$2" ;;
  esac
  shift
done
[ -n "${CUDA_INJECTION64_PATH:-}" ] || exit 0  # unrecorded, there is nothing to stand for
exec "$STAND_IN_PROGRAM" init profiled steps
