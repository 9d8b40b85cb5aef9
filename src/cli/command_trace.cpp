// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"
#include "src/cli/application.h"
#include "src/cli/bind_flags.h"
#include "src/cli/measure/traced_process.h"
#include "src/core/error.h"
#include "src/core/process.h"
#include "trace/formats/swtrace/swtrace.h"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <system_error>

#include <fmt/chrono.h>
#include <unistd.h>

namespace scaleworth::cli {
namespace {
// What a traced run left behind, and what to say of it.

struct Recorded {
  RecordingSummary sum;  // of its numbers; remarks each once
  int files = 0;         // that hold events
  std::set<std::string> ranks;
  int idle_processes = 0;  // that did no GPU work; their files are removed
  int killed = 0;          // processes that did not end their recording
};

namespace fs = std::filesystem;

void add(const RecordingSummary& file, const fs::path& path, Recorded& recorded) {
  for (const Finding& remark : file.remarks) {
    if (std::ranges::count(recorded.sum.remarks, remark) == 0)
      recorded.sum.remarks.push_back(remark);
  }
  recorded.sum.lost += file.lost;
  if (file.device_events + file.other_events == 0) {
    // A file without events would stand as a rank that did nothing.
    ++(file.ended ? recorded.idle_processes : recorded.killed);
    std::error_code ignored;
    fs::remove(path, ignored);
    return;
  }
  ++recorded.files;
  recorded.sum.device_events += file.device_events;
  recorded.sum.other_events += file.other_events;
  if (!file.ended) ++recorded.killed;
  const auto rank = file.facts.find("rank");
  if (rank != file.facts.end()) recorded.ranks.insert(rank->second);
}

Recorded look_at_recorded(const fs::path& directory, const std::string& invocation) {
  Recorded recorded;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".swtrace") files.push_back(entry->path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    try {
      const auto source = open_byte_source(file.string());
      const RecordingSummary summary = summarise_recording(*source);
      const auto own = summary.facts.find("invocation");
      if (own != summary.facts.end() && own->second == invocation) add(summary, file, recorded);
    } catch (const UserError&) {
      continue;  // of somebody else; attribute says what is wrong with it
    }
  }
  return recorded;
}

/// "3 files of ranks 0 1 2: 4503 kernels and copies, ..."; for stderr.
std::string summary_line(const Recorded& recorded, const std::string& directory) {
  std::string line = directory + ": " + counted(recorded.files, "file");
  const std::size_t ranks = recorded.ranks.size();
  if (ranks > 0) line += " of " + counted(ranks, "rank");
  line += fmt::format(", {} kernels and copies, {} host events, {} dropped",
                      recorded.sum.device_events,
                      recorded.sum.other_events,
                      recorded.sum.lost);
  if (recorded.killed > 0)
    line +=
        fmt::format("; {} ended without a last word (up to a second is missing)", recorded.killed);
  if (recorded.idle_processes > 0)
    line += fmt::format("; {} more used no GPU", recorded.idle_processes);
  return line;
}

std::string why_nothing(const Recorded& recorded, const std::string& library) {
  if (!recorded.sum.remarks.empty())
    return fmt::format("nothing was recorded: {}",
                       fmt::join(report::said(recorded.sum.remarks), "; "));
  if (recorded.killed > 0)
    return fmt::format("nothing was recorded: {} process{} ended before a second was written",
                       recorded.killed,
                       recorded.killed == 1 ? "" : "es");
  if (recorded.idle_processes > 0) {
    return fmt::format("nothing was recorded: {} process{} opened the CUDA driver and used no GPU",
                       recorded.idle_processes,
                       recorded.idle_processes == 1 ? "" : "es");
  }
  return fmt::format(
      "nothing was recorded: no process opened the CUDA driver or loaded {} (LD_DEBUG=libs)",
      library);
}

fs::path directory_of(const TraceOptions& options) {
  if (!options.out.empty()) return fs::absolute(options.out);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fs::absolute(fmt::format("scaleworth-trace-{:%Y%m%d-%H%M%S}", fmt::localtime(now)));
}

void create(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && ::access(directory.c_str(), W_OK) == 0) return;
  throw UserError("{}: {}; name a directory that can be written with --out",
                  directory.string(),
                  error ? error.message() : "it cannot be written");
}

/// The exit code of the command, 128 + n when signal n ended it; exit_failed, with the reason on
/// stderr, when it succeeded but nothing was recorded.
int trace_program(const TraceOptions& options) {
  const fs::path directory = directory_of(options);
  const fs::path library = find_capture_library(options.library);
  std::random_device random;  // different for each run of the command, on all nodes
  const std::string invocation = fmt::format("{:08x}{:08x}", random(), random());
  const TracedEnvironment environment = traced_environment(
      options, directory, library, invocation, [](const char* name) -> const char* {
        return std::getenv(name);
      });
  for (const std::string& warning : environment.warnings)
    print_error("scaleworth trace: {}\n", warning);
  if (options.dry_run) {
    for (const auto& [name, value] : environment.variables)
      fmt::print("{}={}\n", name, report::shell_words({value}));
    fmt::print("{}\n", report::shell_words(options.command));
    return exit_done;
  }
  create(directory);
  const int code = run_child(options.command, environment.variables);
  const Recorded recorded = look_at_recorded(directory, invocation);
  if (recorded.files == 0) {
    print_error("scaleworth trace: {}\n", why_nothing(recorded, library.string()));
    std::error_code ignored;
    fs::remove(directory, ignored);  // only if it is empty
    return code != 0 ? code : exit_failed;
  }
  // For the next command: as it was typed where that is possible.
  const std::string where = options.out.empty() ? directory.filename().string() : options.out;
  print_error("scaleworth trace: {}\n", summary_line(recorded, where));
  for (const std::string& remark : report::said(recorded.sum.remarks))
    print_error("scaleworth trace: {}\n", remark);
  print_error("next: scaleworth attribute {}\n", report::shell_words({where}));
  return code;
}
}  // namespace

Command add_trace_command(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = add_command(app, "trace");
  const Flags flags(*command);
  flags.add("-o,--out,--output", options->out);
  flags.add("--steps", options->steps);
  flags.add("--duration", options->duration);
  flags.add("--capture-range", options->capture_range);
  flags.add("--cupti-lib", options->cupti_library);
  flags.add("--library", options->library);
  flags.add("--dry-run", options->dry_run);
  flags.add("command", options->command)->required();
  return {command, [options](const Arguments&) { return trace_program(*options); }};
}
}  // namespace scaleworth::cli
