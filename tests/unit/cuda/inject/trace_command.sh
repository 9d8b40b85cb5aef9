#!/usr/bin/env bash
# The command as a person meets it, with a program that stands for CUDA ones.
# Usage: trace_command.sh SCALEWORTH TRACED_PROGRAM FAKE_CUPTI CASE
set -u
scaleworth=$1 program=$2 fake=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export SCALEWORTH_TRACE_PERIOD_MS=20
unset RANK WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_RANK CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NCCL_PROFILER_PLUGIN

fail() { echo "$1"; echo "exit code $code; stdout and stderr:"; cat out err; exit 1; }
trace() { "$scaleworth" trace --cupti-lib "$fake" "$@" >out 2>err; code=$?; }
expect_code() { [ $code = "$1" ] || fail "exit code $1 was expected"; }
expect() { grep -qF -- "$1" err out || fail "not said: $1"; }
expect_not() { if grep -qF -- "$1" err out; then fail "said: $1"; fi; }

case $4 in
  ranks_are_recorded_and_attributed)
    trace --out job -- "$program" ranks
    expect_code 0
    expect 'job: 3 files of 3 ranks, 4503 kernels and copies'
    expect '0 dropped'
    expect 'next: scaleworth attribute job'
    "$scaleworth" attribute job --format json >out 2>err
    code=$?
    expect_code 0
    ;;
  the_programs_exit_code_is_returned)
    trace --out job -- "$program" init threads exit_3
    expect_code 3
    expect 'job: 1 file, 1500 kernels'
    ;;
  a_killed_program_is_128_and_its_signal)
    trace --out job -- "$program" init threads wait kill
    expect_code 137
    expect '1 ended without a last word'
    ;;
  a_signal_is_passed_on)
    "$scaleworth" trace --cupti-lib "$fake" --out job -- "$program" init threads wait sleep >out 2>err &
    child=$!
    # Its 1500 kernels and calls take more than 10 kB: then they are written, and it sleeps.
    for _ in $(seq 500); do [ -n "$(find job -size +9k 2>/dev/null)" ] && break; sleep 0.02; done
    kill -TERM $child
    wait $child
    code=$?
    expect_code 143
    expect '1500 kernels'
    expect_not 'last word'
    ;;
  a_program_without_cuda_is_said)
    trace --out job -- true
    expect_code 1
    expect 'no process opened the CUDA driver'
    [ ! -e job ] || fail 'an empty directory is left'
    ;;
  a_failed_program_without_cuda_keeps_its_code)
    trace --out job -- false
    expect_code 1
    trace --out job -- sh -c 'exit 42'
    expect_code 42
    ;;
  processes_without_gpu_work_are_left_out)
    trace --out job -- "$program" init idle ranks
    expect_code 0
    expect '1 more used no GPU'
    [ "$(ls job | wc -l)" = 3 ] || fail 'their files are left'
    ;;
  another_tool_is_named)
    FAKE_CUPTI_TAKEN_BY='CUPTI for Kineto' trace --out job -- "$program" init
    expect_code 1
    expect 'CUPTI for Kineto listens to CUPTI in this process already'
    ;;
  a_full_disk_is_said_and_the_program_goes_on)
    # bash counts the limit in KiB; the 1500 kernels and calls need more than 4 of them.
    trace --out job -- bash -c 'ulimit -f 4; "$@"' bash "$program" init threads exit_3
    expect_code 3
    expect 'the recording cannot be written: File too large'
    ;;
  an_unknown_program_is_refused)
    trace --out job -- no-such-program
    expect_code 2
    expect 'no-such-program cannot be run: No such file or directory'
    ;;
  wrong_windows_are_refused)
    trace --steps 9 -- true
    expect_code 2
    expect '--steps 9: give FROM:TO'
    trace --duration never -- true
    expect_code 2
    expect '--duration never: give a positive number'
    ;;
  a_dry_run_prints_the_variables)
    trace --out job --steps 2:3 --dry-run -- "$program" init
    expect_code 0
    expect "SCALEWORTH_TRACE_DIRECTORY=$PWD/job"
    expect 'SCALEWORTH_TRACE_STEPS=2:3'
    expect 'CUDA_INJECTION64_PATH='
    [ ! -e job ] || fail 'it made the directory'
    ;;
  other_tools_settings_are_respected)
    CUDA_INJECTION64_PATH=/other.so NCCL_PROFILER_PLUGIN=theirs trace --out job --dry-run -- true
    expect 'CUDA_INJECTION64_PATH was /other.so: that tool does not see this run'
    expect 'NCCL_PROFILER_PLUGIN was theirs'
    ;;
  *) echo "unknown case $4"; exit 1 ;;
esac
