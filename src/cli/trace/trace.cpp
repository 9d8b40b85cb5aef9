// SPDX-License-Identifier: Apache-2.0
#include "src/cli/trace/trace.h"

#include "src/cli/exit_code.h"
#include "src/cli/trace/child.h"
#include "src/cli/trace/recorded.h"
#include "src/cli/trace/traced_environment.h"
#include "src/core/error.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace scaleworth::cli {
namespace {

namespace fs = std::filesystem;

fs::path directory_of(const TraceOptions& options) {
  if (!options.out.empty()) return fs::absolute(options.out);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fs::absolute(fmt::format("scaleworth-trace-{:%Y%m%d-%H%M%S}", fmt::localtime(now)));
}

/// Different for each run of the command, on all nodes.
std::string new_invocation() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

void create(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && ::access(directory.c_str(), W_OK) == 0) return;
  throw UserError(fmt::format("{}: {}; name a directory that can be written with --out",
                              directory.string(),
                              error ? error.message() : "it cannot be written"));
}

int tell_plan(const TracedEnvironment& environment, const std::vector<std::string>& command) {
  for (const auto& [name, value] : environment.variables) fmt::print("{}={}\n", name, value);
  fmt::print("{}\n", fmt::join(command, " "));
  return exit_done;
}

/// For the next command: as it was typed where that is possible.
std::string shown(const TraceOptions& options, const fs::path& directory) {
  return options.out.empty() ? directory.filename().string() : options.out;
}

}  // namespace

int trace_program(const TraceOptions& options) {
  const fs::path directory = directory_of(options);
  const fs::path library = find_capture_library(options.library);
  const std::string invocation = new_invocation();
  const TracedEnvironment environment = traced_environment(
      options, directory, library, invocation, [](const char* name) -> const char* {
        return std::getenv(name);
      });
  for (const std::string& warning : environment.warnings)
    fmt::print(stderr, "scaleworth trace: {}\n", warning);
  if (options.dry_run) return tell_plan(environment, options.command);
  create(directory);
  const ChildEnd end = run_child(options.command, environment.variables);
  const Recorded recorded = look_at_recorded(directory, invocation);
  if (recorded.files == 0) {
    fmt::print(stderr, "scaleworth trace: {}\n", why_nothing(recorded, library.string()));
    std::error_code ignored;
    fs::remove(directory, ignored);  // only if it is empty
    return end.code != 0 ? end.code : exit_failed;
  }
  const std::string where = shown(options, directory);
  fmt::print(stderr, "scaleworth trace: {}\n", summary_line(recorded, where));
  for (const std::string& remark : recorded.remarks)
    fmt::print(stderr, "scaleworth trace: {}\n", remark);
  fmt::print(stderr, "next: scaleworth attribute {}\n", where);
  return end.code;
}

}  // namespace scaleworth::cli
