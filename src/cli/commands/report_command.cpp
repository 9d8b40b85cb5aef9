// SPDX-License-Identifier: Apache-2.0
#include "src/cli/commands/commands.h"
#include "src/cli/exit_code.h"
#include "src/cli/tell.h"
#include "src/core/error.h"
#include "src/core/run/run_directory.h"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  TellOptions tell;
};

int report_runs(const ReportOptions& options) {
  const std::string& format = options.tell.format;
  if (options.runs.size() > 1 && (format == "html" || format == "json" || format == "csv")) {
    throw UserError("--format " + format + " is one document: report one run at a time");
  }
  for (const std::string& path : options.runs)
    fmt::print("{}", tell(read_run(path), options.tell, path));
  return exit_done;
}

}  // namespace

Command add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "tell a run again, in any format, on any machine");
  command->add_option("run", options->runs, "run directories or run.json files")->required();
  options->tell.add_to(*command);
  return {command, [options](const Arguments&) { return report_runs(*options); }};
}

}  // namespace scaleworth::cli
