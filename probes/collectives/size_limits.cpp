// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/size_limits.h"

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

/// Everything but the size.
std::string line_name(const std::string& topology, const CollectiveWork& work) {
  std::string name = fmt::format(
      "{}, {}, {}", collective_name(work.collective), collective_mode_name(work.mode), topology);
  if (!work.algorithm.empty()) name += fmt::format(", {}/{}", work.algorithm, work.protocol);
  if (work.in_place) name += ", in place";
  if (work.registered) name += ", registered";
  return name;
}

}  // namespace

void SizeLimits::lower(const std::string& topology,
                       const CollectiveWork& work,
                       const std::string& reason) {
  const auto [place, added] =
      limits_.try_emplace(line_name(topology, work), Limit{work.message, reason});
  Limit& limit = place->second;
  ++limit.left_out;
  if (added || work.message >= limit.smallest) return;
  limit.smallest = work.message;
  limit.reason = reason;
}

bool SizeLimits::leaves_out(const std::string& topology, const CollectiveWork& work) {
  const auto found = limits_.find(line_name(topology, work));
  if (found == limits_.end() || work.message < found->second.smallest) return false;
  ++found->second.left_out;
  return true;
}

std::vector<std::string> SizeLimits::sentences() const {
  std::vector<std::string> result;
  for (const auto& [name, limit] : limits_) {
    result.push_back(fmt::format("{}: from {:.0f} B on no memory ({} size{} left out): {}",
                                 name,
                                 limit.smallest.value(),
                                 limit.left_out,
                                 limit.left_out == 1 ? "" : "s",
                                 limit.reason));
  }
  return result;
}

}  // namespace scaleworth::probes
