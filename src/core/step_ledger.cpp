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
  return names[static_cast<std::size_t>(activity)];
}
}  // namespace scaleworth

namespace scaleworth {
namespace {
// As in reports, in the order of the enumerations. Rule files have "_" for a blank or a hyphen.

constexpr std::array class_names{"unclassified",
                                 "communication",
                                 "gemm",
                                 "attention",
                                 "convolution",
                                 "normalization",
                                 "elementwise",
                                 "reduction",
                                 "embedding",
                                 "optimizer",
                                 "other compute",
                                 "copy"};
static_assert(class_names.size() == work_classes);

constexpr std::array kind_names{"unknown",
                                "all_reduce",
                                "all_gather",
                                "reduce_scatter",
                                "all_to_all",
                                "broadcast",
                                "reduce",
                                "gather",
                                "scatter",
                                "send",
                                "receive",
                                "send_receive",
                                "barrier"};

constexpr std::array cause_names{"data loading",
                                 "synchronizing call",
                                 "allocation",
                                 "module loading",
                                 "garbage collection",
                                 "launch-bound",
                                 "other"};
static_assert(cause_names.size() == host_causes);

template <class Kind, class Names>
std::optional<Kind> parse(const Names& names, std::string_view text) {
  const auto found = std::ranges::find_if(names, [&](std::string_view name) {
    return std::ranges::equal(
        name, text, {}, [](char letter) { return letter == ' ' || letter == '-' ? '_' : letter; });
  });
  if (found == names.end()) return std::nullopt;
  return static_cast<Kind>(found - names.begin());
}
}  // namespace

const char* work_class_name(WorkClass work_class) {
  return class_names[static_cast<std::size_t>(work_class)];
}

std::optional<WorkClass> parse_work_class(std::string_view name) {
  return parse<WorkClass>(class_names, name);
}

const char* collective_kind_name(CollectiveKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::optional<CollectiveKind> parse_collective_kind(std::string_view name) {
  return parse<CollectiveKind>(kind_names, name);
}

const char* host_cause_name(HostCause cause) {
  return cause_names[static_cast<std::size_t>(cause)];
}

std::optional<HostCause> parse_host_cause(std::string_view name) {
  return parse<HostCause>(cause_names, name);
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
