// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/rank_names.h"

#include <fmt/format.h>

namespace scaleworth::trace {

std::string rank_names(const std::vector<std::uint32_t>& ranks) {
  if (ranks.empty()) return "";
  constexpr std::size_t most_runs = 6;
  std::vector<std::string> runs;
  std::size_t more = 0;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (runs.size() == most_runs) {
      more += last - first + 1;
    } else {
      runs.push_back(last == first ? fmt::format("{}", ranks[first])
                                   : fmt::format("{}-{}", ranks[first], ranks[last]));
    }
    first = last + 1;
  }
  if (more > 0) runs.push_back(fmt::format("{} more", more));
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  return text;
}

}  // namespace scaleworth::trace
