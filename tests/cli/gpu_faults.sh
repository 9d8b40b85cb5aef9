#!/usr/bin/env bash
# What a person meets on a GPU node, and on one that lacks something: the real program without a GPU, and the
# rehearsal program (simulated GPUs) for the rest.
# Usage: gpu_faults.sh PROGRAM REHEARSAL CASE    exit 77 = cannot be tried here
set -u
program=$1
rehearsal=$2
case_name=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; sed 's/^/  | /' "$work"/err "$work"/out 2>/dev/null | head -60; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
run() {  # SECONDS PROGRAM ARGS...
  local limit=$1
  shift
  timeout -k 5 "$limit" "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  [ $code != 124 ] && [ $code != 137 ] || fail "hung: $*"
}
expect_code() { [ "$code" = "$1" ] || fail "exit code $code, not $1"; }
expect_error() { grep -qE "$1" "$work/err" || fail "stderr does not say '$1'"; }
expect_out() { tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -qE "$1" || fail "stdout does not say '$1'"; }
without_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU && skip "there is a GPU here"; return 0; }

case "$case_name" in
  no_gpu_is_said_with_the_remedy)
    without_gpu
    run 20 "$program" roofline --machine cuda --out "$work/run"
    expect_code 3
    expect_error '^scaleworth: --machine cuda: .*--machine host'
    [ ! -e "$work/run" ] || fail "a run directory was made"
    ;;
  a_plan_needs_no_gpu)
    run 20 "$program" bench --machine cuda --dry-run
    expect_code 0
    expect_out 'roofline.gpu.gemm .* total'
    ;;
  a_slow_look_at_the_environment_takes_no_time_from_the_probes)
    command -v cc >/dev/null || skip "no compiler for a library that delays"
    cat >"$work/slow.c" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
void* dlopen(const char* file, int flags) {
  void* (*next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  if (file != NULL && strstr(file, "mpi") != NULL) sleep(3);
  return next(file, flags);
}
EOF
    cc -shared -fPIC -o "$work/slow.so" "$work/slow.c" -ldl || skip "the library does not compile"
    run 60 env LD_PRELOAD="$work/slow.so" "$rehearsal" bench --quiet --only roofline.gpu.launch --out "$work/run"
    expect_code 0
    grep -q '"name": "roofline.gpu.launch"' "$work/run/run.json" || fail "the probe is not in the run"
    python3 -c "import json,sys; sys.exit([p['status'] for p in json.load(open('$work/run/run.json'))['probes'] if p['name'] == 'roofline.gpu.launch'] != ['measured'])" ||
      fail "the probe was not measured"
    ;;
  a_plan_of_eight_gpus_needs_none_and_keeps_its_time)
    planned() {  # SUITE GPUS: the total in whole seconds
      run 20 "$program" bench --machine cuda --dry-run --suite "$1" --ranks "$2"
      expect_code 0
      awk '$1 == "total" { printf "%d\n", $2 }' "$work/out"
    }
    without_gpu
    total=$(planned standard 8)
    [ "$total" -le 600 ] || fail "standard takes $total s on 8 GPUs"
    expect_out '8 x NVIDIA H100'
    expect_out 'step.training .* comm.nccl +[1-9]'
    total=$(planned quick 8)
    [ "$total" -le 180 ] || fail "quick takes $total s on 8 GPUs"
    # One GPU has the full plan in the order of importance on one.
    total=$(planned standard 1)
    [ "$total" -ge 240 ] || fail "standard takes $total s on one GPU"
    expect_out 'roofline.gpu.launch .* step.training'
    run 20 "$program" bench --machine cuda --dry-run --suite standard --ranks 8 --time 2m
    expect_code 0
    expect_out 'step.training +[0-9.]+ s .*roofline.gpu.gemm +left out, --time 120 s: it takes about'
    total=$(awk '$1 == "total" { printf "%d\n", $2 }' "$work/out")
    [ "$total" -le 120 ] || fail "a limit of 120 s gives a plan of $total s"
    run 20 "$program" bench --dry-run --time 5x
    expect_code 2
    expect_error 'write seconds, or 5m'
    ;;
  a_wrong_shape_file)
    printf 'name,m,n,k\nqkv,4096,0,4096\n' >"$work/shapes.csv"
    run 20 "$rehearsal" roofline --machine cuda --shape-file "$work/shapes.csv" --out "$work/run"
    expect_code 2
    expect_error 'shapes.csv:2: n is'
    ;;
  an_unknown_model)
    run 20 "$rehearsal" roofline --machine cuda --model llama-99 --out "$work/run"
    expect_code 2
    expect_error 'did you mean llama-'
    ;;
  products_are_a_measured_peak)
    run 120 "$rehearsal" roofline --quiet --only roofline.gpu.gemm --out "$work/run"
    expect_code 0
    run 20 "$program" mfu --model gpt3-175b --gpu h100-sxm-80gb --gpus 1024 --tokens-per-second 200000 --measured-peak "$work/run"
    expect_code 0
    expect_out 'MFU [0-9.]+ % of [0-9.]+ TFLOP/s .measured: steady bf16 products in'
    run 20 "$program" mfu --model gpt2 --gpu h100-sxm-80gb --tokens-per-second 1 --measured-peak "$work/run" --dtype fp16
    expect_code 2
    expect_error 'no steady fp16 products'
    ;;
  a_probe_of_the_host)
    run 20 "$rehearsal" roofline --machine cuda --only roofline.memory --out "$work/run"
    expect_code 2
    expect_error 'machine host'
    ;;
  own_products_are_placed)
    printf 'name,m,n,k,format\nqkv,4096,12288,4096,bf16\n' >"$work/shapes.csv"
    run 120 "$rehearsal" roofline --quiet --only roofline.gpu.memory,roofline.gpu.gemm --shape-file "$work/shapes.csv" \
      --out "$work/run" --details
    expect_code 0
    expect_out 'own +qkv +bf16 +4,096 +12,288 +4,096'
    ;;
  a_models_layers_are_placed)
    run 120 "$rehearsal" roofline --quiet --only roofline.gpu.gemm,roofline.gpu.memory --model llama-3.1-8b --out "$work/run" --details
    expect_code 0
    expect_out 'llama-3.1-8b bf16 16 6,144 4,096 .* qkv'
    ;;
  the_slow_gpu_is_named)
    SCALEWORTH_SIM_GPUS=4 SCALEWORTH_SIM_FAULT=slow:2 run 120 "$rehearsal" roofline --quiet --out "$work/run"
    expect_code 0
    expect_out 'GPU 2 is slow'
    ;;
  the_slow_one_of_eight_gpus_is_named_in_every_suite)
    for suite in quick standard; do
      SCALEWORTH_SIM_GPUS=8 SCALEWORTH_SIM_FAULT=slow:5 run 280 "$rehearsal" bench --suite $suite --out "$work/$suite" --details
      expect_code 0
      expect_out 'GPU 5 is slow'
      expect_out 'GPU 0 was measured in full, the other 7 by a short look, one large read'
      # The step and NCCL come before the ceilings.
      [ "$(grep -oE '^(step.training|comm.nccl|roofline.gpu.[a-z]+) \(about' "$work/err" | head -1)" = 'step.training (about' ] ||
        fail "the step is not the first"
    done
    ;;
  what_does_not_fit_into_the_time_is_left_out_with_the_reason)
    SCALEWORTH_SIM_GPUS=8 run 120 "$rehearsal" bench --quiet --time 60 --out "$work/run" --details
    expect_code 0
    expect_out 'roofline.gpu.[a-z]+ skipped .*--time 60 s: it takes about'
    expect_out 'Strong scaling|strong'
    ;;
  a_lost_gpu_does_not_end_the_run)
    SCALEWORTH_SIM_GPUS=3 SCALEWORTH_SIM_FAULT=lost:0 run 120 "$rehearsal" roofline --quiet --out "$work/run"
    expect_code 1
    expect_out 'GPU 0 is lost'
    expect_out 'figures of GPU 1'
    ;;
  a_lost_gpus_products_are_measured_on_an_equal_one)
    SCALEWORTH_SIM_GPUS=2 SCALEWORTH_SIM_FAULT=lost:0 run 120 "$rehearsal" roofline --quiet --only roofline.gpu.gemm --out "$work/run" --details
    expect_code 0
    expect_out 'GPU 0 is lost .*GPU 1, which is equal, takes its place'
    expect_out 'bf16'
    ;;
  collectives_without_memory_are_left_out_by_size)
    SCALEWORTH_SIM_GPUS=4 SCALEWORTH_SIM_FAULT=memory:1 run 120 "$rehearsal" comm --quiet --out "$work/run" --details
    expect_code 0
    expect_out 'all_reduce, isolated, .* no memory'
    ;;
  every_format_tells_a_run_of_gpus)
    SCALEWORTH_SIM_GPUS=2 run 120 "$rehearsal" bench --quiet --out "$work/run"
    expect_code 0
    for format in text md csv json html; do
      run 30 "$program" report "$work/run" --format $format
      expect_code 0
      grep -qi 'bf16' "$work/out" || fail "$format does not name bf16"
    done
    ;;
  acceptance_is_rehearsed)
    command -v python3 >/dev/null || skip "no python3"
    mkdir -p "$work/build/bin" && ln -s "$rehearsal" "$work/build/bin/scaleworth"
    export SCALEWORTH_PYTHON="$source/tests/cli/stand_in_python.sh" SCALEWORTH_SIM_KIND=h200-sxm-141gb
    SCALEWORTH_BUILD="$work/build" run 280 "$source/scripts/gpu-acceptance" "$work/acceptance"
    [ "$code" = 0 ] || fail "exit code $code"
    expect_out 'bf16_steady +[0-9.]+ TFLOP/s +700 TFLOP/s +[0-9.]+ '
    expect_out 'memory_copy +[0-9.]+ GB/s +4000 GB/s +[0-9.]+ '
    expect_out 'host_to_device +[0-9.]+ GB/s'
    expect_out 'bf16_steady_ratio +[0-9.]+ '
    expect_out 'bf16_burst_ratio +[0-9.]+ '
    [ -s "$work/acceptance/acceptance.json" ] || fail "no acceptance.json"
    [ "$(find "$work/acceptance/turns" -name 'theirs-*.err' | wc -l)" = 4 ] || fail "theirs was not measured in two turns"
    packed() { tar -tzf "$work/acceptance.tar.gz" | grep -qx "acceptance/$1" || fail "no $1 in the file to send back"; }
    for name in acceptance.json bench.txt list.txt machine.txt run/run.json turns/turns.json; do packed $name; done
    expect_error "in one file: $work/acceptance.tar.gz"
    ;;
  every_ending_of_the_acceptance_leaves_one_file)
    without_gpu
    packed() { tar -xzOf "$work/acceptance.tar.gz" "acceptance/$1" 2>/dev/null; }
    mkdir -p "$work/build/bin" "$work/build/tests/gpu" && ln -s "$program" "$work/build/bin/scaleworth"
    SCALEWORTH_BUILD="$work/build" run 60 "$source/scripts/gpu-acceptance" "$work/acceptance"
    expect_code 3
    packed gpu.err | grep -q -- '--machine host' || fail "why no GPU can be used is not in the file"
    SCALEWORTH_BUILD="$work/nowhere" run 60 "$source/scripts/gpu-acceptance" "$work/acceptance"
    expect_code 2
    packed build.txt | grep -q 'nowhere: no bin/scaleworth' || fail "why nothing was built is not in the file"
    # Another ending takes the place of the one before.
    rm "$work/build/bin/scaleworth" && ln -s "$rehearsal" "$work/build/bin/scaleworth"
    printf '#!/bin/sh\necho waiting\nkill -TERM "$(cat %q)"\nsleep 5\n' "$work/pid" >"$work/build/tests/gpu/gpu_broken"
    chmod +x "$work/build/tests/gpu/gpu_broken"
    SCALEWORTH_BUILD="$work/build" run 60 bash -c 'echo $$ >"$1"; exec "$2" "$3"' - "$work/pid" "$source/scripts/gpu-acceptance" "$work/acceptance"
    expect_code 143
    packed machine.txt | grep -q '^exit code 143' || fail "an ending by a signal leaves no file"
    packed gpu_broken.txt | grep -q waiting || fail "what had been printed is not in the file"
    [ -z "$(packed gpu.err)" ] || fail "the file has what an earlier run left"
    ;;
  reference_measurements_are_rehearsed)
    # Simulated GPUs measure, the real program records a program that stands for a CUDA one.
    command -v python3 >/dev/null || skip "no python3"
    inject=$(dirname "$program")/../tests/unit/cuda/inject
    [ -x "$inject/traced_program" ] || skip "the capture library is not built"
    mkdir -p "$work/build/bin"
    printf '#!/usr/bin/env bash\ncase ${1:-} in trace|attribute) exec %q "$@" ;; *) exec %q "$@" ;; esac\n' \
      "$program" "$rehearsal" >"$work/build/bin/scaleworth"
    chmod +x "$work/build/bin/scaleworth"
    export SCALEWORTH_BUILD="$work/build" SCALEWORTH_TRACE_PERIOD_MS=20 SCALEWORTH_SIM_GPUS=3
    recordings=("$source"/../shared/data/traces/dlrm_8xv100/worker0_*.json.gz)
    export SCALEWORTH_PYTHON="$source/tests/cli/stand_in_python.sh" STAND_IN_PROGRAM="$inject/traced_program"
    export STAND_IN_KINETO="${recordings[0]}"
    run 280 "$source/scripts/gpu-reference" "$work/results" tests bench training clients nccl faults --short \
      --trace-flags "--cupti-lib $inject/libfake_cupti.so" --workload "$inject/traced_program init threads wait sleep"
    [ "$code" = 0 ] || [ "$code" = 1 ] || fail "exit code $code"
    expect_out 'bench --suite quick . exit code 0'
    expect_out 'report as HTML .* pass'
    expect_out '2 ranks: ways forced .* 24/24 .* pass'
    expect_out 'Ctrl-C during capture . exit code 130, 1500 kernels and copies .* pass'
    expect_out 'SIGKILL during capture: parts sum to the step . 1 of 1 steps .* pass'
    expect_out 'out of memory . n/a .* skip'
    expect_out 'trainer, 1 rank: recorded . 1 files?, [0-9]+ kernels and copies, 0 dropped .* pass'
    expect_out 'trainer-1-rank: exported . [0-9]+ steps .* pass'
    expect_out 'trainer-1-rank: example for Perfetto .* pass'
    expect_out 'ddp with CUDA graphs, 2 ranks: recorded . 2 files, .* pass'
    expect_out 'client generate: recorded . 1 files?, [0-9]+ kernels and copies, 0 dropped .* pass'
    expect_out 'client loader: parts sum to the step .* pass'
    expect_out 'overhead of recording . plain .0.00 %; trace'
    [ ! -e "${recordings[0]}" ] || expect_out "Kineto's export agrees with ours . [a-z_]+: "
    if tr '\n' ' ' <"$work/out" | grep -q 'error in this script'; then fail "a stage broke"; fi
    for stage in tests bench training clients nccl faults; do
      [ -s "$work/results/$stage.tar.gz" ] || fail "no archive of $stage"
    done
    ;;
  *)
    fail "no such case: $case_name"
    ;;
esac
