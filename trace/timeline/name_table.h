// SPDX-License-Identifier: Apache-2.0
/// Each name once: events carry a number in its place.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace scaleworth::trace {

/// Index into the NameTable of the recording; 0 is the empty name.
enum class NameId : std::uint32_t { none = 0 };

class NameTable {
 public:
  NameTable() { intern(""); }
  NameTable(const NameTable&) = delete;  // the index points into the names
  NameTable& operator=(const NameTable&) = delete;
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  NameId intern(std::string_view name);
  /// Throws std::out_of_range for a number that `intern` did not return.
  std::string_view at(NameId id) const { return names_.at(static_cast<std::size_t>(id)); }
  std::size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // addresses of its elements stay
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace scaleworth::trace
