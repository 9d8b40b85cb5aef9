// SPDX-License-Identifier: Apache-2.0
/// `scaleworth predict RECORDINGS --on RUN`: a recorded job on another machine.
#include "report/attribution/attribution_report.h"
#include "report/names.h"
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/core/mean_ledger.h"
#include "src/core/process.h"
#include "src/model/comparison.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/formats/read_job.h"

#include <filesystem>
#include <memory>

namespace scaleworth::cli {
namespace {
struct PredictOptions {
  std::vector<std::string> inputs;
  std::string from;
  std::string on;
  std::optional<DollarsPerSecond> price_from;
  std::optional<DollarsPerSecond> price_on;
  std::optional<double> tokens;
  report::RenderOptions render;
};

/// The machine of a run, or of a GPU's name where there is no such file.
struct NamedMachine {
  std::optional<Run> run;
  model::MachineSource machine;

  explicit NamedMachine(const std::string& input, bool or_gpu) {
    std::error_code trouble;
    machine.name = std::filesystem::path(input).lexically_normal().string();
    if (or_gpu && !std::filesystem::exists(input, trouble)) {
      machine.sheet = &find_gpu(gpu_catalogue(), input);
    } else {
      run = read_for("predict", {input}, [&] { return read_any_run(input); });
    }
  }
  const model::MachineSource& get() {
    if (run) machine.run = &*run;
    return machine;
  }
};

int predict_job(const PredictOptions& options) {
  if (options.from.empty())
    throw UserError(
        "predict compares two machines: run `scaleworth bench --suite quick` on the one that "
        "recorded the job and give --from RUN, or the name of its GPU for its data sheet");
  NamedMachine from(options.from, true);
  NamedMachine on(options.on, false);
  const RuleTable rules = RuleTable::built_in();
  Job job = read_for("predict", options.inputs, [&] { return read_job(options.inputs, rules); });
  classify(job.recordings, rules);
  const Attributed recorded = attribute(job);
  MachineChange change(job, recorded);
  if (!change.reason.empty()) throw NothingMeasurable("cannot predict this job: {}", change.reason);
  const double step = job_means(recorded.result.ledger)->mean.step.mean;
  const auto paces = model::machine_paces(change.paces, from.get(), on.get(), step);
  const MachinePrediction prediction = change.predict(paces);
  const Attribution predicted = change.attribute_with(paces);
  report::RenderOptions rendered = options.render;
  rendered.input = report::shell_words(options.inputs);
  fmt::print("{}",
             report::render_prediction({on.machine.name,
                                        recorded.result,
                                        predicted,
                                        prediction,
                                        from.machine.sheet != nullptr,
                                        options.price_from,
                                        options.price_on,
                                        options.tokens},
                                       rendered));
  return exit_done;
}
}  // namespace

Command add_predict_command(CLI::App& app) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand(
      "predict", "a recorded job on another machine: the time of a step there, and its cost");
  const Flags flags(*command);
  flags.add("recording", options->inputs, "recordings of one job, as attribute takes them")
      ->required();
  flags.add("--on", options->on, "a run of the other machine: of bench, or imported")->required();
  flags.add("--from",
            options->from,
            "a run of the machine that recorded the job; or the name of its GPU: then data sheets "
            "of both count");
  flags.add("--price-from", options->price_from, "USD for one GPU of it for one hour")
      ->check(positive_number);
  flags.add("--price-on", options->price_on, "USD for one GPU of the other one for one hour")
      ->check(positive_number);
  flags.add("--tokens", options->tokens, "tokens of one step of all ranks: costs are of a million")
      ->check(positive_number);
  add_currency(*command, options->render.currency);
  add_render_flags(*command, options->render);
  return {command, [options](const Arguments&) { return predict_job(*options); }};
}
}  // namespace scaleworth::cli
