// SPDX-License-Identifier: Apache-2.0
/// The subcommands: each adds its flags to the application and runs.
#pragma once

#include "report/mfu/mfu_report.h"
#include "report/render_options.h"
#include "src/cli/application.h"
#include "src/cli/input/table_input.h"
#include "src/core/catalogue.h"
#include "src/core/span.h"
#include "src/core/units.h"
#include "src/model/cost.h"
#include "src/model/decision/decision.h"
#include "src/model/transformer/serving.h"
#include "src/model/transformer/utilisation.h"
#include "trace/analysis/intervals.h"

#include <cstdint>
#include <optional>

namespace scaleworth::cli {
/// "1.5:2", "1.5:" and ":2" in seconds; absent when empty. Throws UserError.
std::optional<TimeInterval> parse_window(const std::string& text);

/// "0,3-5": ascending, each once; empty for an empty text. Throws UserError.
std::vector<Rank> parse_ranks(const std::string& text);

/// The question, and below it `command` with the flags of each answer, to be copied.
void print_question(const Question& question, const std::string& command);

/// What `scaleworth mfu` is asked: an architecture and a throughput in, utilisation and cost out.
struct MfuOptions {
  std::string runs;                  // a table of them, whose cells stand in place of the flags
  std::optional<double> parameters;  // that a token meets, in place of a model
  std::string model;
  std::string model_file;  // empty: the models built in
  std::string gpu;
  std::string datasheets;  // empty: the GPUs built in
  std::int64_t gpus = 1;
  std::optional<double> tokens_per_second;
  std::optional<double> tokens_per_gpu_second;
  std::optional<double> tflops_per_gpu;  // in place of a throughput
  std::optional<double> step_seconds;
  std::optional<double> batch_tokens;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> mtp_layers;
  std::string number_format;  // empty: bf16, fp16 where there is none
  std::string convention = "full";
  std::string recomputation = "none";
  std::optional<FlopPerSecond> peak;
  std::string measured_peak;  // TFLOP/s or a run
  std::optional<double> price_usd_per_hour;
  std::optional<double> tokens;
  bool assumed = false;  // the rate is that of --mfu
  report::RenderOptions render;
};

class Flags;
/// "strong" or "weak"; absent: as the table shows.
void add_scaling(const Flags& flags, const char* name, std::optional<Scaling>& scaling);

/// Those of one run, which the cells of a table of runs stand for, too.
void add_run_flags(const Flags& flags, MfuOptions& options);

/// What one run makes of its GPUs, without its name. Throws UserError.
report::RunUse use_of_run(MfuOptions options);

/// Prints the use of each run of the table `flags.runs`; returns the exit code. Throws UserError.
int print_runs(const MfuOptions& flags);

/// Throws UserError for no model, or one that is not known.
TransformerModel model_of(const MfuOptions& options);

/// Absent for none, and for a GPU that is not known, which --peak makes up for. Throws UserError.
std::optional<GpuDatasheet> datasheet_of(const MfuOptions& options);

report::MfuNames gpu_names(const MfuOptions& options, const std::optional<GpuDatasheet>& gpu);

/// A number in TFLOP/s, or a run, whose slowest GPU's steady products count; absent for an empty
/// text. Throws UserError for a run without them.
std::optional<Denominator> measured_peak(const std::string& text, const std::string& number_format);

struct MeasuredBandwidth {
  BytesPerSecond rate;
  Finding basis = FindingId::as_given;
};

/// The memory bandwidth of the slowest GPU in that run; absent for a number or an empty text.
/// Throws UserError for a run without it.
std::optional<MeasuredBandwidth> measured_bandwidth(const std::string& text);

/// What `scaleworth mfu --inference` asks beyond the model, the GPUs and their price.
struct ServingOptions {
  bool asked = false;  // the weights' format is that of the command's products
  /// As far as flags name it; empty formats follow: activations the weights, the cache these.
  ServingQuestion question;
  std::optional<Dollars> api_in;  // per million tokens
  std::optional<Dollars> api_out;
  std::optional<Dollars> api_cached;
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Seconds> link_latency;
  std::optional<BytesPerSecond> link_bandwidth;
  int domain = 8;  // GPUs that fast links join: those of an HGX server

  /// --inference and its companions, in a group of the help.
  void add_to(CLI::App& command);
};

/// Prints the costs per token by batch; returns the exit code. Throws UserError.
int print_serving(const MfuOptions& options, const ServingOptions& serving);

/// What `scaleworth decide` is asked.
/// GPUs of an instance, which is paid as a whole. Throws UserError for a part of one.
int whole_instance(double gpus);

struct DecideOptions {
  std::vector<std::string> inputs;  // a table, a run, recordings; empty: coefficients
  TableSelection selection;
  std::optional<Scaling> scaling;  // absent: as the table shows
  // A curve in place of inputs.
  std::optional<double> serial;
  std::optional<double> communication;
  std::optional<Seconds> single;
  std::optional<int> max_count;
  std::optional<int> domain;  // ranks joined by fast links
  // What the request is completed from.
  std::optional<DollarsPerSecond> price;  // of a rank; the table may have prices of its own
  std::optional<DollarsPerSecond> instance_price;
  std::string instance;              // by its name in `prices`, in place of these
  std::string prices;                // a file; empty: those built in
  std::string price_origin;          // of that instance, in words
  std::vector<std::string> regimes;  // "spot:0.30"
  OwnedTerms owned;
  MfuOptions peak;  // --gpu, --model, --dtype and --peak
  DecisionRequest request;
  report::RenderOptions render;
};

/// Prints the report to stdout; returns the exit code. Throws UserError.
int decide_count(DecideOptions& options);
}  // namespace scaleworth::cli
