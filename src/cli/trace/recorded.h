// SPDX-License-Identifier: Apache-2.0
/// What a traced run left behind, and what to say of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace scaleworth::cli {

struct Recorded {
  int files = 0;  // that hold events
  std::set<std::string> ranks;
  std::uint64_t device_events = 0;
  std::uint64_t other_events = 0;
  std::uint64_t lost = 0;
  int idle_processes = 0;            // that did no GPU work; their files are removed
  int killed = 0;                    // processes that did not end their recording
  std::vector<std::string> remarks;  // of the capture library, each once
};

/// Looks at the files in `directory` that the invocation wrote.
Recorded look_at_recorded(const std::filesystem::path& directory, const std::string& invocation);

/// "3 files of ranks 0 1 2: 4503 kernels and copies, ..."; for stderr.
std::string summary_line(const Recorded& recorded, const std::string& directory);

/// Why nothing was recorded, and what to do.
std::string why_nothing(const Recorded& recorded, const std::string& library);

}  // namespace scaleworth::cli
