// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"
#include "src/cli/bind_flags.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/cli/measure/session.h"
#include "src/core/files/run_directory.h"
#include "src/core/version.h"

#include <filesystem>
#include <memory>

namespace scaleworth::cli {
namespace {
struct ReportedRuns {
  std::vector<std::string> runs;
  ReportOptions report;
};

int report_runs(const ReportedRuns& options) {
  const report::Format format = options.report.render.format;
  const bool pages = format == report::Format::text || format == report::Format::markdown;
  const auto measurements = measurements_of(options.runs);
  if (measurements.size() > 1 && !pages) {
    throw UserError("--format {} is one document: report one run at a time",
                    report::format_name(format));
  }
  for (const std::vector<std::string>& files : measurements) {
    Run run = read_for("report", files, [&] { return read_any_run(files); });
    if (run.tool_version.empty()) run.tool_version = tool_version();
    // Of a job the folder of its files is what the next command names.
    const auto folder = std::filesystem::path("." / std::filesystem::path(files.front()));
    const std::string input =
        files.size() == 1 ? files.front() : folder.parent_path().lexically_normal().string();
    fmt::print("{}", render_run(run, options.report, input));
  }
  return exit_done;
}

}  // namespace

Command add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportedRuns>();
  CLI::App* command = add_command(app, "report");
  Flags(*command).add("run", options->runs)->required();
  options->report.add_to(*command);
  take_typed_numbers(*command);
  return {command, [options](const Arguments&) { return report_runs(*options); }};
}

}  // namespace scaleworth::cli
