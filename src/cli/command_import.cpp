// SPDX-License-Identifier: Apache-2.0
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/cli/measure_flags.h"
#include "src/core/files/run_directory.h"
#include "src/core/run.h"
#include "src/core/version.h"
#include "src/core/whole_number.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

namespace scaleworth::cli {
namespace {
struct ImportArguments {
  std::vector<std::string> files;
  std::string out;  // empty: a folder of its own below scaleworth-runs
  ImportOptions stated;
};

/// Throws UserError, which says where it belongs what is for other commands.
Run read_results(const ImportArguments& options) try {
  return import_files(options.files, options.stated);
} catch (const UserError&) {
  for (const std::string& file : options.files) {
    const InputKind kind = input_kind(file);
    // Damaged JSON looks like a table's.
    if (kind != InputKind::table) refuse_foreign(file, "import");
  }
  throw;
}

/// ": all gather among 4 ranks on 2 nodes (2 sizes), broadcast among 4 ranks (1 size)".
std::string collectives_in(const Run& run) {
  std::map<std::string, std::set<std::int64_t>> sizes;
  for (const ProbeRecord& probe : run.probes)
    for (const Point& point : probe.points)
      if (const auto bytes = point.setting.count(Parameter::message_bytes)) {
        const auto nodes = point.setting.count(Parameter::nodes);
        sizes[fmt::format("{} among {}{}",
                          point.setting.text(Parameter::collective),
                          counted(point.setting.count(Parameter::ranks).value_or(0), "rank"),
                          nodes ? " on " + counted(*nodes, "node") : "")]
            .insert(*bytes);
      }
  const std::string list = listed(sizes, [](const auto& one) {
    return one.first + " (" + counted(one.second.size(), "size") + ")";
  });
  return list.empty() ? "" : ": " + list;
}

int import_results(const ImportArguments& options, const Arguments& arguments) {
  Run run = read_results(options);
  const auto now = std::chrono::system_clock::now();
  run.tool_version = tool_version();
  run.git_revision = git_revision();
  RunDirectory directory(options.out.empty() ? default_run_directory(now, "import")
                                             : std::filesystem::path(options.out));
  const std::string path = directory.path().string();
  ReportOptions report;
  report.render.tool_version = run.tool_version;
  const std::string first_page = render_run(run, report, path);
  run.started_at = utc_text(now);
  run.command_line = arguments;
  directory.save(run);
  fmt::print("{}\nkept in {}{}\n", first_page, path, collectives_in(run));
  return exit_done;
}
}  // namespace

Command add_import_command(CLI::App& app) {
  auto options = std::make_shared<ImportArguments>();
  CLI::App* command = add_command(app, "import");
  const Flags flags(*command);
  flags.add("file", options->files)->required();
  flags.add("--out", options->out);
  flags.add("--collective", options->stated.collective);
  flags.add("--ranks", options->stated.ranks)->check(CLI::Range(2, most_ranks));
  flags.add("--nodes", options->stated.nodes)->check(CLI::Range(1, most_ranks));
  return {command,
          [options](const Arguments& arguments) { return import_results(*options, arguments); }};
}
}  // namespace scaleworth::cli
