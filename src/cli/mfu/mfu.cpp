// SPDX-License-Identifier: Apache-2.0
#include "src/cli/mfu/mfu.h"

#include "report/mfu/mfu_report.h"
#include "src/cli/colour.h"
#include "src/cli/exit_code.h"
#include "src/core/catalogue/gpu_catalogue.h"
#include "src/core/catalogue/model_catalogue.h"
#include "src/core/error.h"
#include "src/core/run/run_directory.h"
#include "src/core/version.h"
#include "src/model/analyse.h"
#include "src/model/mfu/peaks.h"
#include "src/model/mfu/training_use.h"

#include <charconv>
#include <vector>

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

/// Absent for a GPU that is not known, which --peak makes up for.
std::optional<GpuDatasheet> datasheet_of(const MfuOptions& options) {
  if (options.gpu.empty()) return std::nullopt;
  const std::vector<GpuDatasheet> known =
      options.datasheets.empty() ? gpu_catalogue() : load_gpu_catalogue(options.datasheets);
  try {
    return find_gpu(known, options.gpu);
  } catch (const UserError& error) {
    if (options.peak_tflops) return std::nullopt;
    throw UserError(fmt::format("{}; or give its dense --peak in TFLOP/s", error.what()));
  }
}

model::Recomputation recomputation_of(const std::string& name) {
  for (const auto recomputation : {model::Recomputation::none, model::Recomputation::selective}) {
    if (name == model::recomputation_name(recomputation)) return recomputation;
  }
  return model::Recomputation::full;
}

/// A number in TFLOP/s, or the slowest GPU's steady products in a run.
std::optional<model::Denominator> measured_peak(const std::string& text,
                                                const std::string& number_format) {
  if (text.empty()) return std::nullopt;
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && rest == end) {
    return model::Denominator{FlopPerSecond(value * tera), "measured, as given"};
  }
  const model::Analysis analysis = model::analyse(read_run(text), {});
  const auto rate = model::slowest_steady_rate(analysis.gpus, number_format);
  if (!rate) {
    throw UserError(fmt::format(
        "--measured-peak {}: no steady {} products of a GPU in this run", text, number_format));
  }
  return model::Denominator{*rate,
                            fmt::format("measured: steady {} products in {}", number_format, text)};
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
  run.model = options.model_file.empty()
                  ? find_model(model_catalogue(), options.model)
                  : find_model(load_model_catalogue(options.model_file), options.model);
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
  report.tool_version = tool_version();
  report.git_revision = git_revision();
  return report;
}

}  // namespace

int tell_utilisation(const MfuOptions& options) {
  const report::Format format = report::parse_format(options.format);
  const std::optional<GpuDatasheet> gpu = datasheet_of(options);
  const model::PeakChoice peaks = peaks_of(options, gpu);
  const model::TrainingRun run = run_of(options, peaks);
  model::TrainingUse use = model::use_of_training(run);
  use.remarks.insert(use.remarks.end(), peaks.remarks.begin(), peaks.remarks.end());
  fmt::print("{}", report::render_mfu(run, use, format, report_options(options, gpu, peaks)));
  return exit_done;
}

}  // namespace scaleworth::cli
