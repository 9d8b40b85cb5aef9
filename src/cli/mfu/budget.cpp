// SPDX-License-Identifier: Apache-2.0
#include "src/cli/mfu/budget.h"

#include "report/mfu/budget/budget_report.h"
#include "src/cli/exit_code.h"
#include "src/cli/mfu/sources.h"
#include "src/cli/mfu/telling.h"
#include "src/core/error.h"
#include "src/core/version.h"
#include "src/model/transformer/weights.h"

#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

constexpr double tera = 1e12;

model::Denominator peak_of(const MfuOptions& options, const std::optional<GpuDatasheet>& gpu) {
  model::PeakRequest request;
  request.gpu = gpu ? &*gpu : nullptr;
  request.number_format = options.number_format;
  if (options.peak_tflops) request.given = FlopPerSecond(*options.peak_tflops * tera);
  const model::PeakChoice choice = model::choose_peaks(request);
  return measured_peak(options.measured_peak, choice.number_format).value_or(choice.peaks.front());
}

void add_means(model::TrainingQuestion& question,
               report::BudgetNames& names,
               const MfuOptions& options,
               const BudgetOptions& budget) {
  const bool dollars = budget.usd.has_value();
  if (!dollars && options.gpu.empty() && !options.peak_tflops) return;
  if (dollars && !options.price_usd_per_hour) {
    throw UserError("a budget in money needs --price, in USD for one GPU for one hour");
  }
  if (!budget.mfu) {
    throw UserError("what a GPU makes of its peak is yours to say: give --mfu, as 0.4");
  }
  if (options.gpus > std::numeric_limits<int>::max()) throw UserError("--gpus: too many");
  const auto gpu = datasheet_of(options);
  const model::Denominator peak = peak_of(options, gpu);
  question.means = model::TrainingMeans{
      dollars_per_hour(options.price_usd_per_hour.value_or(0.0)), peak.rate, *budget.mfu, {}};
  if (options.gpus > 1) question.means->gpus = static_cast<int>(options.gpus);
  names.gpu = gpu ? gpu->name : options.gpu.empty() ? "GPU" : options.gpu;
  if (gpu) names.gpu_source = gpu->source + "; " + gpu->date;
  names.peak_basis = peak.basis;
}

}  // namespace

void BudgetOptions::add_to(CLI::App& command) {
  const char* group = "Compute-optimal training";
  command.add_option("--budget", usd, "USD: the size of model and the tokens that it is best for")
      ->group(group);
  command.add_option("--budget-flops", flops, "the same for a budget in FLOPs, as 1e24")
      ->group(group);
  command.add_option("--mfu", mfu, "MFU to count on, as 0.4")->group(group);
}

int tell_budget(const MfuOptions& options,
                const BudgetOptions& budget,
                const std::string& command) {
  const report::Telling telling = telling_of(options);
  model::TrainingQuestion question;
  report::BudgetNames names;
  if (budget.usd) question.dollars = Dollars(*budget.usd);
  if (budget.flops) question.flops = Flops(*budget.flops);
  add_means(question, names, options, budget);
  if (!options.model.empty()) {
    const TransformerModel model = model_of(options);
    names.model = model.name;
    question.parameters = model::active_parameter_count(model);
  }
  names.command = command;
  names.tool_version = tool_version();
  names.git_revision = git_revision();
  fmt::print("{}", report::render_budget(question, model::plan_training(question), names, telling));
  return exit_done;
}

}  // namespace scaleworth::cli
