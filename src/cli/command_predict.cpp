// SPDX-License-Identifier: Apache-2.0
/// `scaleworth predict RECORDINGS --on RUN`: a recorded job on another machine.
#include "report/attribution/attribution_report.h"
#include "report/words.h"
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
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

int predict_job(const PredictOptions& options) {
  if (options.from.empty())
    throw UserError(
        "predict compares two machines: give --from, a run of the one that recorded, or its GPU");
  const auto run_of = [](const std::string& input) {
    return read_for("predict", {input}, [&] { return read_any_run(input); });
  };
  std::error_code trouble;
  std::optional<Run> recorded_on;
  model::MachineSource from;
  if (std::filesystem::exists(options.from, trouble)) {
    from.run = &recorded_on.emplace(run_of(options.from));
  } else {
    from.sheet = &find_gpu(gpu_catalogue(), options.from);
  }
  if (!std::filesystem::exists(options.on, trouble))
    throw UserError("--on {}: no such file; give a run of that machine (scaleworth bench there)",
                    printable(options.on));
  const Run on = run_of(options.on);
  const RuleTable rules = RuleTable::built_in();
  Job job = read_for("predict", options.inputs, [&] { return read_job(options.inputs, rules); });
  classify(job.recordings, rules);
  const Attributed recorded = attribute(job);
  MachineChange change(job, recorded);
  if (change.reason)
    throw NothingMeasurable("cannot predict this job: {}", report::said(*change.reason));
  const auto prediction = change.predict(model::machine_paces(change.paces, from, {&on}));
  Attribution predicted;
  const std::filesystem::path there = std::filesystem::path(options.on).lexically_normal();
  const std::string name = (there.has_filename() ? there : there.parent_path()).filename().string();
  const report::PredictedJob result{name.empty() ? options.on : name,
                                    recorded.result,
                                    predicted,
                                    prediction,
                                    from.sheet != nullptr,
                                    options.price_from,
                                    options.price_on,
                                    options.tokens};
  report::refuse_missing_figures(result, options.from);
  predicted = change.attribute_with(prediction.paces);
  report::RenderOptions rendered = options.render;
  rendered.input = report::shell_words(options.inputs);
  fmt::print("{}", report::render_prediction(result, rendered));
  return exit_done;
}
}  // namespace

Command add_predict_command(CLI::App& app) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command = add_command(app, "predict");
  const Flags flags(*command);
  flags.add("recording", options->inputs)->required();
  flags.add("--on", options->on)->required();
  flags.add("--from", options->from);
  flags.add("--price-from", options->price_from)->check(positive_number);
  flags.add("--price-on", options->price_on)->check(positive_number);
  flags.add("--tokens", options->tokens)->check(positive_number);
  add_currency(*command, options->render.currency);
  add_render_flags(*command, options->render);
  take_typed_numbers(*command);
  return {command, [options](const Arguments&) { return predict_job(*options); }};
}
}  // namespace scaleworth::cli
