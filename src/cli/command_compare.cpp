// SPDX-License-Identifier: Apache-2.0
/// `scaleworth compare A B` and `scaleworth check RUN --against BASELINE`.
#include "report/attribution/attribution_report.h"
#include "report/run/compare_report.h"
#include "src/cli/bind_flags.h"
#include "src/cli/flags.h"
#include "src/cli/input/import_nccl_tests.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/run_directory.h"
#include "src/core/version.h"

#include <filesystem>
#include <memory>

namespace scaleworth::cli {
namespace {
namespace fs = std::filesystem;

/// The runs directly inside of a folder that is none itself: repeats of one measurement.
std::vector<fs::path> repeats_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  if (!fs::is_directory(folder, error) || fs::exists(folder / run_file_name, error)) return found;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (fs::exists(entry.path() / run_file_name, error)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

/// All repeats as one run.
Run read_repeats(const std::vector<std::string>& paths, std::string_view command) {
  std::vector<Run> runs;
  for (const std::string& path : paths) {
    std::vector<fs::path> inside = repeats_in(path);
    if (inside.empty()) inside.push_back(path);
    for (const fs::path& one : inside)
      runs.push_back(read_for(command, {path}, [&] { return read_any_run(one.string()); }));
  }
  return runs.size() == 1 ? std::move(runs.front()) : pool_runs(std::move(runs));
}

bool is_recorded_job(const std::string& path) {
  const InputKind kind = input_kind(path);
  return kind == InputKind::attribution ||
         (kind == InputKind::recordings && repeats_in(path).empty());
}

int compare_jobs(const std::string& a, const std::string& b, const report::RenderOptions& render) {
  const Attribution job_a = attributed_job(a);
  const Attribution job_b = attributed_job(b);
  fmt::print("{}",
             report::render_recording_comparison(
                 {a, job_a}, {b, job_b}, model::compare_recordings(job_a, job_b, {a, b}), render));
  return exit_done;
}

struct CompareOptions {
  std::vector<std::string> runs;
  report::RenderOptions render;
};

int compare_runs(const CompareOptions& options) {
  if (options.runs.size() != 2) {
    throw UserError(
        "compare takes two runs, A and B, not {}; repeats of one go into a folder of their own",
        options.runs.size());
  }
  const bool recorded = is_recorded_job(options.runs[0]);
  if (recorded != is_recorded_job(options.runs[1]))
    throw UserError("{} is {} and {} is {}: compare two of a kind",
                    options.runs[0],
                    recorded ? "a recording" : "a run",
                    options.runs[1],
                    recorded ? "a run" : "a recording");
  if (recorded) return compare_jobs(options.runs[0], options.runs[1], options.render);
  const Run a = read_repeats({options.runs[0]}, "compare");
  const Run b = read_repeats({options.runs[1]}, "compare");
  const model::Comparison comparison =
      model::compare(model::figures_of(a), model::figures_of(b));
  fmt::print("{}",
             report::render_comparison(
                 {options.runs[0], &a}, {options.runs[1], &b}, comparison, options.render));
  return comparison.empty() ? exit_nothing : exit_done;
}

struct CheckOptions {
  std::vector<std::string> runs;
  std::vector<std::string> baseline;
  double tolerance_percent = 5.0;
  bool across_versions = false;
  report::RenderOptions render;
};

int exit_code_of(model::CheckStatus status) {
  if (status == model::CheckStatus::fail) return exit_failed;
  return status == model::CheckStatus::cannot_tell ? exit_nothing : exit_done;
}

int check_runs(const CheckOptions& options) {
  const double tolerance = options.tolerance_percent / 100.0;
  if (tolerance >= 1.0)
    throw UserError("--tolerance {} is no loss below 100 %", options.tolerance_percent);
  const Run run = read_repeats(options.runs, "check");
  const Run baseline = read_repeats(options.baseline, "check");
  const std::string libraries = report::different_libraries(baseline, run);
  if (!libraries.empty() && !options.across_versions) {
    throw NothingMeasurable(
        "not comparable: " + libraries +
        "; measure the baseline again, or say --across-versions to check the change itself");
  }
  const model::Comparison comparison =
      model::compare(model::figures_of(baseline), model::figures_of(run));
  const model::CheckResult result =
      model::check(comparison, tolerance, model::wrong_results(run).settings);
  fmt::print("{}",
             report::render_check({listed(options.runs, {}, " "), &run},
                                  {listed(options.baseline, {}, " "), &baseline},
                                  comparison,
                                  result,
                                  tolerance,
                                  options.render));
  return exit_code_of(result.status);
}
}  // namespace

Command add_compare_command(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "what differs between two runs, or two recordings of a job, by how much, and whether it is "
      "more than noise");
  Flags(*command)
      .add("run",
           options->runs,
           "A and B: run directories, or folders with repeats of one run each; or recordings of a "
           "job, as attribute takes them or wrote them with --format json")
      ->required();
  add_render_flags(*command, options->render);
  return {command, [options](const Arguments& arguments) {
            options->render.command = typed_command(arguments);
            return compare_runs(*options);
          }};
}

Command add_check_command(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check", "whether a run is as good as its baseline: pass, warn, fail or cannot tell");
  const Flags flags(*command);
  flags.add("run", options->runs, "run directories: repeats of what is checked")->required();
  flags.add("--against", options->baseline, "run directories: repeats of the baseline")->required();
  flags.add("--tolerance", options->tolerance_percent, "loss to look for, in per cent")
      ->check(positive_number)
      ->capture_default_str();
  command->add_flag("--across-versions",
                    options->across_versions,
                    "compare also where NCCL or MPI have different versions");
  add_render_flags(*command, options->render);
  command->footer("Exit codes: 0 pass or warn, 1 fail, 3 cannot tell.\n" + app.get_footer());
  return {command, [options](const Arguments& arguments) {
            options->render.command = typed_command(arguments);
            return check_runs(*options);
          }};
}
}  // namespace scaleworth::cli
