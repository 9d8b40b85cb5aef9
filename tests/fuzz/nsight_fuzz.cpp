// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a database of Nsight Systems: refused with one line, or read into events in order
/// that end after they start and refer only to what is there.
#include "src/core/error.h"
#include "trace/formats/nsight/contents.h"
#include "trace/formats/read_job.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace scaleworth::trace;

void require(bool holds) {
  if (!holds) std::abort();
}

void judge(const Recording& recording) {
  for (const DeviceEvent& event : recording.device_events) {
    require(event.end >= event.start);
    require(static_cast<std::size_t>(event.name) < recording.names.size());
    require(event.communication == no_index ||
            event.communication < recording.communications.size());
    require(event.copy == no_index || event.copy < recording.copies.size());
  }
  for (const HostEvent& event : recording.host_events) {
    require(event.end >= event.start);
    require(static_cast<std::size_t>(event.name) < recording.names.size());
    require(event.thread < recording.threads.size());
    require(event.synchronization == no_index ||
            event.synchronization < recording.synchronizations.size());
  }
  const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
  require(std::is_sorted(recording.device_events.begin(), recording.device_events.end(), by_start));
  require(std::is_sorted(recording.host_events.begin(), recording.host_events.end(), by_start));
  require(recording.origin.rank.has_value());
}

/// One file for the whole run: SQLite opens files, not memory.
const std::string& scratch() {
  static const std::string path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "nsight_fuzz_XXXXXX").string();
    require(mkstemp(name.data()) >= 0);
    return name;
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const RuleTable rules = RuleTable::built_in();
  std::ofstream(scratch(), std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    Job job;
    job.recordings = read_nsight(scratch(), rules);
    for (const Recording& recording : job.recordings) judge(recording);
    assign_ranks(job);
  } catch (const scaleworth::UserError& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
