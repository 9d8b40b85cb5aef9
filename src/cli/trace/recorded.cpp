// SPDX-License-Identifier: Apache-2.0
#include "src/cli/trace/recorded.h"

#include "src/core/error.h"
#include "trace/format/recording/summary.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::cli {
namespace {

namespace fs = std::filesystem;

void add(const trace::RecordingSummary& file, const fs::path& path, Recorded& recorded) {
  for (const std::string& remark : file.remarks) {
    if (std::find(recorded.remarks.begin(), recorded.remarks.end(), remark) ==
        recorded.remarks.end())
      recorded.remarks.push_back(remark);
  }
  recorded.lost += file.lost;
  if (file.device_events + file.other_events == 0) {
    // A file without events would stand as a rank that did nothing.
    ++recorded.idle_processes;
    std::error_code ignored;
    fs::remove(path, ignored);
    return;
  }
  ++recorded.files;
  recorded.device_events += file.device_events;
  recorded.other_events += file.other_events;
  if (!file.ended) ++recorded.killed;
  const auto rank = file.facts.find("rank");
  if (rank != file.facts.end()) recorded.ranks.insert(rank->second);
}

}  // namespace

Recorded look_at_recorded(const fs::path& directory, const std::string& invocation) {
  Recorded recorded;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".swtrace") files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    try {
      const auto source = trace::open_byte_source(file.string());
      const trace::RecordingSummary summary = trace::summarise_recording(*source);
      const auto own = summary.facts.find("invocation");
      if (own != summary.facts.end() && own->second == invocation) add(summary, file, recorded);
    } catch (const UserError&) {
      continue;  // of somebody else; attribute says what is wrong with it
    }
  }
  return recorded;
}

std::string summary_line(const Recorded& recorded, const std::string& directory) {
  std::string line =
      fmt::format("{}: {} file{}", directory, recorded.files, recorded.files == 1 ? "" : "s");
  if (!recorded.ranks.empty())
    line +=
        fmt::format(" of {} rank{}", recorded.ranks.size(), recorded.ranks.size() == 1 ? "" : "s");
  line += fmt::format(", {} kernels and copies, {} host events, {} dropped",
                      recorded.device_events,
                      recorded.other_events,
                      recorded.lost);
  if (recorded.killed > 0)
    line +=
        fmt::format("; {} ended without a last word (up to a second is missing)", recorded.killed);
  if (recorded.idle_processes > 0)
    line += fmt::format("; {} more used no GPU", recorded.idle_processes);
  return line;
}

std::string why_nothing(const Recorded& recorded, const std::string& library) {
  if (!recorded.remarks.empty())
    return fmt::format("nothing was recorded: {}", fmt::join(recorded.remarks, "; "));
  if (recorded.idle_processes > 0) {
    return fmt::format("nothing was recorded: {} process{} opened the CUDA driver and used no GPU",
                       recorded.idle_processes,
                       recorded.idle_processes == 1 ? "" : "es");
  }
  return fmt::format(
      "nothing was recorded: no process opened the CUDA driver (no CUDA program, or none that saw "
      "a "
      "driver), or it could not load {} (LD_DEBUG=libs tells), or it cleared its environment",
      library);
}

}  // namespace scaleworth::cli
