// SPDX-License-Identifier: Apache-2.0
/// The threads of a Chrome trace: numbered as they occur, named at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace scaleworth::trace {

class ThreadTable {
 public:
  /// The number of the thread that the texts of pid and tid name.
  std::uint32_t index(std::string_view process, std::string_view thread);
  void name_process(std::string_view process, std::string_view name);
  /// "python 144/1" for each, by number.
  std::vector<std::string> labels() const;

 private:
  std::string last_;  // most events are on the thread of the one before
  std::uint32_t last_index_ = 0;
  std::string key_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by "pid/tid"
  std::map<std::string, std::string, std::less<>> process_names_;
};

}  // namespace scaleworth::trace
