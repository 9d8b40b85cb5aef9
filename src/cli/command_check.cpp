// SPDX-License-Identifier: Apache-2.0
/// `scaleworth check RUN`, against a baseline, links or rules.
#include "report/run/compare_report.h"
#include "report/words.h"
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/process.h"

#include <memory>

namespace scaleworth::cli {
namespace {
struct CheckOptions {
  std::vector<std::string> runs;
  std::vector<std::string> baseline;
  std::vector<std::string> links;
  std::string rules;
  std::string tolerance = "5";
  bool across_versions = false;
  std::optional<report::CheckFormat> format;  // absent: a report
  report::RenderOptions render;
};

int exit_code_of(model::CheckStatus status) {
  if (status == model::CheckStatus::fail) return exit_failed;
  return status == model::CheckStatus::cannot_tell ? exit_nothing : exit_done;
}

/// "nvlink4x18": generation and links of a GPU; "pcie5x16": and lanes; "network400x8": Gbit/s of a
/// card, and cards of a node.
model::LinkRate stated_link(const std::string& text) {
  const auto digit = std::min(text.find_first_of("0123456789"), text.size());
  const auto wire = from_key<model::Wire>(text.substr(0, digit));
  const auto numbers = split(std::string_view(text).substr(digit), 'x');
  const auto each = parse_number<double>(numbers.front());
  const auto count = parse_number<double>(numbers.back());
  const bool known = numbers.size() == 2 && wire && each && count;
  const BytesPerSecond rate = known ? model::link_rate(*wire, *each) : BytesPerSecond(0.0);
  if (!(rate > BytesPerSecond(0.0)) || !(*count > 0.0))
    throw UserError(
        "--link {}: give nvlink4x18 (generation, links), pcie5x16 or network400x8 (Gbit/s, cards)",
        printable(text));
  return {*wire, *count, rate};
}

SettingValue value_of(toml_file::Table& row, const ParameterInfo& about) {
  if (about.type == ParameterType::count) return row.positive_integer(about.key);
  if (about.type == ParameterType::flag) return row.flag(about.key, false);
  return row.text(about.key);
}

/// [[rule]]: a metric, parameters of its setting, at_least or at_most.
std::vector<model::Allowed> read_rules(const std::string& file) {
  toml_file::Table root = toml_file::Table::parse(toml_file::read_small_file(file), file);
  std::vector<model::Allowed> rules;
  for (toml_file::Table& row : root.tables("rule")) {
    model::Allowed& rule = rules.emplace_back();
    const auto metric = metric_of_key(row.text("metric"));
    if (!metric) row.refuse("no such metric; docs/run.schema.json lists them", "metric");
    rule.metric = *metric;
    for (const ParameterInfo& about : all_parameters()) {
      if (!row.has(about.key)) continue;
      try {
        rule.where.set(about.id, value_of(row, about));
      } catch (const std::invalid_argument& error) {
        row.refuse(error.what(), about.key);
      }
    }
    rule.at_least = row.optional_positive("at_least");
    rule.at_most = row.optional_positive("at_most");
    if (!rule.at_least && !rule.at_most) row.refuse("at_least or at_most is missing");
    row.finish();
  }
  root.finish();
  return rules;
}

/// In place of a baseline.
std::vector<model::Allowed> bounds_of(const CheckOptions& options,
                                      const Run& run,
                                      const model::Comparison& itself) {
  if (!options.rules.empty()) return read_rules(options.rules);
  std::vector<model::LinkRate> links = mapped(options.links, stated_link);
  std::ranges::move(model::detected_links(run), std::back_inserter(links));
  return model::envelope(itself, links);
}

int check_runs(const CheckOptions& options) {
  const bool alone = options.baseline.empty();
  const double tolerance = alone ? 0.0 : *allowed_loss("--tolerance", options.tolerance);
  const Run run = read_repeats(options.runs, "check");
  const Run baseline = alone ? run : read_repeats(options.baseline, "check");
  const std::string libraries = report::different_libraries(baseline, run);
  if (!libraries.empty() && !options.across_versions) {
    throw NothingMeasurable(
        "not comparable: {}; measure the baseline again, or say --across-versions", libraries);
  }
  const model::Comparison comparison =
      model::compare(model::figures_of(baseline), model::figures_of(run));
  const std::size_t wrong = model::wrong_results(run).settings;
  const model::CheckResult result =
      alone ? model::check(comparison, bounds_of(options, run, comparison), wrong)
            : model::check(comparison, tolerance, wrong);
  const report::ComparedRun checked{listed(options.runs, {}, " "), &run};
  report::ComparedRun against{listed(options.baseline, {}, " "), &baseline};
  if (alone)
    against = {options.rules.empty() ? "what the links allow" : "the rules of " + options.rules};
  fmt::print(
      "{}",
      options.format
          ? report::render_check_as(*options.format, checked, against, result, tolerance)
          : report::render_check(checked, against, comparison, result, tolerance, options.render));
  return exit_code_of(result.status);
}
}  // namespace

Command add_check_command(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = add_command(app, "check");
  const Flags flags(*command);
  flags.add("run", options->runs)->required();
  CLI::Option* against = flags.add("--against", options->baseline);
  flags.add("--link", options->links)->allow_extra_args(false)->excludes(against);
  flags.add("--rules", options->rules)->excludes(against);
  flags.add("--tolerance", options->tolerance)->capture_default_str();
  flags.add("--across-versions", options->across_versions);
  const std::vector<std::string> formats{"junit", "github", "prometheus"};
  add_render_flags(*command, options->render, formats, [options, formats](const std::string& name) {
    options->format =
        static_cast<report::CheckFormat>(std::ranges::find(formats, name) - formats.begin());
  });
  command->footer(command->get_footer() + app.get_footer());
  return {command, [options](const Arguments& arguments) {
            options->render.command = typed_command(arguments);
            return check_runs(*options);
          }};
}
}  // namespace scaleworth::cli
