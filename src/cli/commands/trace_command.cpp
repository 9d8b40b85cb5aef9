// SPDX-License-Identifier: Apache-2.0
#include "src/cli/commands/commands.h"
#include "src/cli/trace/trace.h"

#include <memory>

#include <CLI/CLI.hpp>

namespace scaleworth::cli {

Command add_trace_command(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand(
      "trace", "record any CUDA program and its children, unchanged: trace -- python train.py");
  command->add_option(
      "--out", options->out, "directory of the recordings (default: scaleworth-trace-TIME)");
  command->add_option("--steps",
                      options->steps,
                      "FROM:TO, only these steps, by NVTX ranges that name steps (\"step 12\")");
  command->add_option(
      "--duration", options->duration, "seconds to record, from the first moment recorded");
  command->add_option("--capture-range",
                      options->capture_range,
                      "only inside of NVTX ranges of this name, or cudaProfilerApi: between "
                      "cudaProfilerStart and cudaProfilerStop");
  command->add_flag(
      "--nccl-channels",
      options->nccl_channels,
      "also when each channel of NCCL's kernels ends; costs each collective a round of "
      "NCCL's network thread");
  command->add_option(
      "--cupti-lib", options->cupti_library, "libcupti to use in the traced processes");
  command->add_option(
      "--library", options->library, "path of libscaleworth_inject.so, the capture library");
  command->add_flag(
      "--dry-run", options->dry_run, "print the variables that would be set, and the command");
  command->add_option("command", options->command, "the program and its arguments, after --")
      ->required();
  command->footer(
      "The exit code is the program's; 1 when it succeeded and nothing was recorded.\n"
      "Under a launcher either order works: trace -- torchrun ..., or mpirun scaleworth trace "
      "--out "
      "DIR -- ...");
  return {command, [options](const Arguments&) { return trace_program(*options); }};
}

}  // namespace scaleworth::cli
