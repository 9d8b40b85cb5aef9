// SPDX-License-Identifier: Apache-2.0
#include "src/core/step_ledger.h"

#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth {
const char* group_name(PartGroup group) {
  return std::ranges::find(part_groups, group, &GroupInfo::id)->name;
}

GroupTimes group_times(const PartTimes& parts) {
  GroupTimes groups{};
  for (std::size_t i = 0; i < part_count; ++i) {
    auto& sum = groups[index_of(ledger_parts[i].group)];
    if (parts[i]) sum = sum.value_or(0.0) + *parts[i];
  }
  return groups;
}

const char* activity_name(Activity activity) {
  constexpr std::array names{"step",
                             "compute",
                             "optimizer",
                             "host",
                             "post collective",
                             "progress communication",
                             "collective wait"};
  return names[index_of(activity)];
}
std::string exclusion_text(const StepExclusion& exclusion) {
  std::string text = word_of(exclusion.cause);
  if (exclusion.ranks > 0)
    text = fmt::format(
        "boundary: recorded on {} of {} ranks only", exclusion.recorded, exclusion.ranks);
  if (exclusion.excess > 0.0)
    text = fmt::format("warm-up: takes {:.0f} % longer than the later steps",
                       100.0 * exclusion.excess);
  if (exclusion.begins > exclusion.ends)
    text += fmt::format(
        "; the ranks begin it within {:.1f} ms and end it within {:.1f} ms, as when profiling "
        "starts in its midst",
        static_cast<double>(exclusion.begins.count()) / 1e6,
        static_cast<double>(exclusion.ends.count()) / 1e6);
  return text;
}

const char* exclusion_kind(const StepExclusion& exclusion) {
  return exclusion.cause == ExclusionCause::warm_up ? "warm-up" : "boundary";
}

void check_sums(const StepLedger& ledger) {
  const auto require = [&](const char* what, Nanoseconds parts, Nanoseconds whole) {
    if (parts == whole) return;
    throw std::logic_error(
        fmt::format("ledger of step {} rank {}: the parts of {} are {} ns of {} ns",
                    ledger.step,
                    ledger.rank.index,
                    what,
                    parts.count(),
                    whole.count()));
  };
  const auto sum = [](const auto& times) {
    return std::accumulate(times.begin(), times.end(), Nanoseconds{});
  };
  require("the step", sum(ledger.parts), ledger.end - ledger.start);
  require("compute", sum(ledger.compute_by_class), ledger.part(Part::compute));
  require("host late", sum(ledger.host_late_by_cause), ledger.part(Part::host_late));
  require("exposed wait",
          ledger.waited_for.sum() + ledger.uncharged_wait,
          ledger.part(Part::exposed_wait));
}
}  // namespace scaleworth
