#!/usr/bin/env bash
# NVTX ranges with CUPTI itself, which needs no GPU for them: a program whose first range comes before
# anything of CUDA goes on, and where CUPTI is refused afterwards (no driver here) the later ranges are
# in the file. With each of the vendor's libraries that are here.
# Usage: real_cupti.sh CAPTURE_LIBRARY TRACED_PROGRAM CUPTI...
set -u
capture=$1 program=$2
shift 2
[ $# -gt 0 ] || { echo "no libcupti.so"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export NVTX_INJECTION64_PATH=$capture CUDA_INJECTION64_PATH=$capture SCALEWORTH_TRACE_DIRECTORY=$folder
run() { "$program" "$@"; code=$?; [ $code = 0 ] || { echo "traced_program $*: exit code $code with $cupti"; exit 1; }; }
for cupti in "$@"; do
  echo "with $cupti"
  mkdir -p "$folder/cuda/lib64"
  ln -sf "$cupti" "$folder/cuda/lib64/"
  SCALEWORTH_TRACE_CUPTI=$cupti run nvtx nvtx
  CUDA_HOME=$folder/cuda run nvtx nvtx # found by itself
  [ -z "$(find "$folder" -name '*.swtrace')" ] || { echo "a process without CUDA left a file"; exit 1; }
  # As PyTorch: the library is loaded, ours is another copy of it.
  TRACED_CUPTI=$cupti CUDA_HOME=$folder/cuda run open nvtx two_copies nvtx
  [ ! -c /dev/nvidiactl ] || continue # with a GPU CUPTI is not refused
  SCALEWORTH_TRACE_CUPTI=$cupti run nvtx init nvtx
  grep -q "step 4" "$folder"/*.swtrace || { echo "ranges are lost where CUPTI is refused later"; exit 1; }
  rm -rf "${folder:?}"/*
done
