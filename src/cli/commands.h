// SPDX-License-Identifier: Apache-2.0
/// The subcommands: each adds its flags to the application and runs.
#pragma once

#include "report/mfu/mfu_report.h"
#include "report/render_options.h"
#include "src/cli/measure/session.h"
#include "src/cli/measure_flags.h"
#include "src/core/catalogue.h"
#include "src/core/process.h"
#include "src/model/transformer/utilisation.h"
#include "trace/analysis/intervals.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {
// What the flags of `scaleworth attribute --export` name.

/// "1.5:2", "1.5:" and ":2" in seconds; absent when empty. Throws UserError.
std::optional<trace::TimeInterval> parse_window(const std::string& text);

/// "0,3-5": ascending, each once; empty for an empty text. Throws UserError.
std::vector<Rank> parse_ranks(const std::string& text);

// The measuring job: as one process that starts its own ranks, or as one of the ranks of a
// launcher.

/// Runs the probes chosen by `options.only`, prints the result on stdout and returns the exit code.
/// `arguments` are the words after the program's name, recorded with the run.
/// Throws UserError for what cannot be asked (more ranks than cores without --oversubscribe).
int measure(const MeasureOptions& options, const std::vector<std::string>& arguments);

// The end of a measuring job: the run is closed, reported on stdout and beside run.json, and
// judged.

/// Returns the exit code: 0, 1 when a probe or the disk failed, 128 + signal when interrupted.
int conclude(Session& session,
             const ReportOptions& options,
             const std::optional<Interrupted>& interruption);

// The body of `scaleworth mfu`: an architecture and a throughput in, utilisation and cost out.

struct MfuOptions {
  std::string model;
  std::string model_file;  // empty: the models built in
  std::string gpu;
  std::string datasheets;  // empty: the GPUs built in
  std::int64_t gpus = 1;
  std::optional<double> tokens_per_second;
  std::optional<double> step_seconds;
  std::optional<double> batch_tokens;
  std::optional<std::int64_t> sequence;
  std::string number_format;  // empty: bf16, fp16 where there is none
  std::string convention = "full";
  std::string recomputation = "none";
  std::optional<double> peak_tflops;
  std::string measured_peak;  // TFLOP/s or a run
  std::optional<double> price_usd_per_hour;
  std::optional<double> tokens;
  report::RenderOptions render;
};

// What the flags of `scaleworth mfu` name: models, GPUs, measured ceilings.

/// Throws UserError for no model, or one that is not known.
TransformerModel model_of(const MfuOptions& options);

/// Absent for none, and for a GPU that is not known, which --peak makes up for. Throws UserError.
std::optional<GpuDatasheet> datasheet_of(const MfuOptions& options);

/// Names of the GPU and of its source.
report::MfuNames gpu_names(const MfuOptions& options, const std::optional<GpuDatasheet>& gpu);

/// What --measured-peak says: a number in TFLOP/s, or a run, whose slowest GPU's steady products
/// count. Absent for an empty text. Throws UserError for a run without them.
std::optional<model::Denominator> measured_peak(const std::string& text,
                                                const std::string& number_format);

struct MeasuredBandwidth {
  BytesPerSecond rate;
  std::string basis;
};

/// The streaming rate of memory of the slowest GPU in the run that --measured-peak names; absent
/// for a number or an empty text. Throws UserError for a run without it.
std::optional<MeasuredBandwidth> measured_bandwidth(const std::string& text);
// What `scaleworth mfu --inference` asks beyond the model, the GPUs and their price.

struct ServingOptions {
  bool asked = false;  // the weights' format is that of the command's products
  double prompt_tokens = 1024.0;
  double output_tokens = 256.0;
  double cached_part = 0.0;
  std::vector<double> batches;
  std::string cache_format;  // empty: as the weights, but no smaller than fp8
  double duty = 1.0;
  double burst = 1.0;
  std::optional<double> api_usd_in;  // per million tokens
  std::optional<double> api_usd_out;
  std::optional<double> api_usd_cached;
  std::optional<double> longest_first_token_ms;
  std::optional<double> longest_per_token_ms;
  double compute_efficiency = 1.0;
  double bandwidth_efficiency = 1.0;
  double memory_part = 1.0;
  std::optional<double> bandwidth_gb_per_s;
  std::optional<double> memory_gib;
  std::optional<double> link_latency_us;
  std::optional<double> link_gb_per_s;
  std::optional<double> prefill_ms;
  std::optional<double> step_ms;

  /// --inference and its companions, in a group of the help.
  void add_to(CLI::App& command);
};

/// The body of `scaleworth mfu --inference`: a model and GPUs in, costs per token by batch out.
/// Prints the report to stdout; returns the exit code. Throws UserError for a format, flag or GPU
/// that leaves the question open.
int print_serving(const MfuOptions& options, const ServingOptions& serving);

// `scaleworth trace`: runs a program with the capture library in it and its children.

struct TraceOptions {
  std::string out;            // directory; empty: one named after the time
  std::string steps;          // "FROM:TO", empty for all
  std::string duration;       // seconds, empty for unlimited
  std::string capture_range;  // "cudaProfilerApi" or an NVTX range's name, empty for all
  std::string cupti_library;  // empty: searched by the capture library
  std::string library;        // the capture library; empty: beside the program
  bool nccl_channels = false;
  bool dry_run = false;
  std::vector<std::string> command;
};
}  // namespace scaleworth::cli
