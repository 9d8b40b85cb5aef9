// SPDX-License-Identifier: Apache-2.0
#include "src/cli/mfu/mfu.h"

#include "report/mfu/mfu_report.h"
#include "src/cli/colour.h"
#include "src/cli/exit_code.h"
#include "src/cli/mfu/sources.h"
#include "src/core/error.h"
#include "src/core/version.h"
#include "src/model/mfu/peaks.h"
#include "src/model/mfu/training_use.h"

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

constexpr double tera = 1e12;

double tokens_per_second(const MfuOptions& options) {
  const bool by_step = options.step_seconds || options.batch_tokens;
  if (options.tokens_per_second && !by_step) return *options.tokens_per_second;
  if (options.tokens_per_second || !options.step_seconds || !options.batch_tokens) {
    throw UserError(
        "give the throughput of all GPUs, either as --tokens-per-second or as --step-seconds with "
        "--batch-tokens");
  }
  if (!(*options.step_seconds > 0.0)) throw UserError("--step-seconds must be positive");
  return *options.batch_tokens / *options.step_seconds;
}

model::Recomputation recomputation_of(const std::string& name) {
  for (const auto recomputation : {model::Recomputation::none, model::Recomputation::selective}) {
    if (name == model::recomputation_name(recomputation)) return recomputation;
  }
  return model::Recomputation::full;
}

model::PeakChoice peaks_of(const MfuOptions& options, const std::optional<GpuDatasheet>& gpu) {
  model::PeakRequest request;
  request.gpu = gpu ? &*gpu : nullptr;
  request.number_format = options.number_format;
  if (options.peak_tflops) request.given = FlopPerSecond(*options.peak_tflops * tera);
  model::PeakChoice choice = model::choose_peaks(request);
  if (const auto measured = measured_peak(options.measured_peak, choice.number_format)) {
    choice.peaks.push_back(*measured);
  }
  return choice;
}

model::TrainingRun run_of(const MfuOptions& options, const model::PeakChoice& peaks) {
  model::TrainingRun run;
  run.model = model_of(options);
  if (options.sequence && *options.sequence < 1) throw UserError("--sequence must be positive");
  run.sequence = options.sequence.value_or(0);
  run.gpus = options.gpus;
  run.tokens_per_second = tokens_per_second(options);
  run.convention = model::parse_convention(options.convention);
  run.recomputation = recomputation_of(options.recomputation);
  run.peaks = peaks.peaks;
  if (options.price_usd_per_hour) run.price = dollars_per_hour(*options.price_usd_per_hour);
  run.tokens = options.tokens;
  return run;
}

report::MfuReportOptions report_options(const MfuOptions& options,
                                        const std::optional<GpuDatasheet>& gpu,
                                        const model::PeakChoice& peaks) {
  report::MfuReportOptions report;
  report.colour = colour_wanted();
  report.details = options.details;
  report.gpu = gpu ? gpu->name : options.gpu.empty() ? "GPU" : options.gpu;
  if (gpu) report.gpu_source = gpu->source + "; " + gpu->date;
  report.number_format = peaks.number_format;
  report.currency = options.currency;
  report.tool_version = tool_version();
  report.git_revision = git_revision();
  return report;
}

}  // namespace

int tell_utilisation(const MfuOptions& options) {
  const report::Format format = report::parse_format(options.format);
  if (options.model.empty() && options.gpu.empty() && !options.peak_tflops) {
    throw UserError(
        "nothing to compute: give --model, --gpu and --tokens-per-second of a run, or --inference "
        "with a model and a GPU, or --budget; examples: scaleworth mfu --help");
  }
  const std::optional<GpuDatasheet> gpu = datasheet_of(options);
  const model::PeakChoice peaks = peaks_of(options, gpu);
  const model::TrainingRun run = run_of(options, peaks);
  model::TrainingUse use = model::use_of_training(run);
  use.remarks.insert(use.remarks.end(), peaks.remarks.begin(), peaks.remarks.end());
  fmt::print("{}", report::render_mfu(run, use, format, report_options(options, gpu, peaks)));
  return exit_done;
}

}  // namespace scaleworth::cli
