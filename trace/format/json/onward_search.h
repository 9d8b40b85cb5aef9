// SPDX-License-Identifier: Apache-2.0
/// A search that goes over each part of a stream once, however often it is asked for: a file that
/// is damaged everywhere costs no more than its length.
#pragma once

#include "trace/format/json/scan.h"
#include "trace/format/json/window.h"

#include <algorithm>
#include <cstdint>

namespace scaleworth::trace {

class OnwardSearch {
 public:
  /// next_event or events_end: the first of something whose `}` stands at `from` or behind it.
  using Find = std::size_t (*)(std::string_view text, std::size_t from);
  explicit OnwardSearch(Find find) : find_(find) {}

  /// The first in what is in memory; not_found when there is none.
  std::size_t first(const JsonWindow& window) {
    const auto begin = window.position();
    const auto text = window.rest();
    if (found_ && searched_ > begin) return searched_ - begin;
    const std::size_t from = searched_ > begin ? searched_ - begin : 0;
    const auto at = find_(text, from);
    found_ = at != not_found;
    // What was not found may begin at the last brace, and go on behind what is in memory.
    const auto rest = text.substr(std::min(from, text.size()));
    const auto brace = found_ ? at - from : rest.rfind('}');
    searched_ = begin + from + std::min(brace, rest.size());
    return at;
  }

 private:
  Find find_;
  std::uint64_t searched_ = 0;  // position in the stream: of what was found, else where to go on
  bool found_ = false;
};

}  // namespace scaleworth::trace
