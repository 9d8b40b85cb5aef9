// SPDX-License-Identifier: Apache-2.0
#include "src/core/step_ledger.h"

#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth::attribution {
namespace {
// Names in rule files; reports print them with spaces.
constexpr std::array<std::pair<WorkClass, std::string_view>, work_classes> class_names{
    {{WorkClass::unclassified, "unclassified"},
     {WorkClass::communication, "communication"},
     {WorkClass::gemm, "gemm"},
     {WorkClass::attention, "attention"},
     {WorkClass::convolution, "convolution"},
     {WorkClass::normalization, "normalization"},
     {WorkClass::elementwise, "elementwise"},
     {WorkClass::reduction, "reduction"},
     {WorkClass::embedding, "embedding"},
     {WorkClass::optimizer, "optimizer"},
     {WorkClass::other_compute, "other_compute"},
     {WorkClass::copy, "copy"}}};

constexpr std::array<std::pair<CollectiveKind, std::string_view>, 13> kind_names{
    {{CollectiveKind::unknown, "unknown"},
     {CollectiveKind::all_reduce, "all_reduce"},
     {CollectiveKind::all_gather, "all_gather"},
     {CollectiveKind::reduce_scatter, "reduce_scatter"},
     {CollectiveKind::all_to_all, "all_to_all"},
     {CollectiveKind::broadcast, "broadcast"},
     {CollectiveKind::reduce, "reduce"},
     {CollectiveKind::gather, "gather"},
     {CollectiveKind::scatter, "scatter"},
     {CollectiveKind::send, "send"},
     {CollectiveKind::receive, "receive"},
     {CollectiveKind::send_receive, "send_receive"},
     {CollectiveKind::barrier, "barrier"}}};

constexpr std::array<std::pair<HostCause, std::string_view>, host_causes> cause_names{
    {{HostCause::data_loading, "data_loading"},
     {HostCause::synchronizing_call, "synchronizing_call"},
     {HostCause::allocation, "allocation"},
     {HostCause::module_loading, "module_loading"},
     {HostCause::garbage_collection, "garbage_collection"},
     {HostCause::launch_bound, "launch_bound"},
     {HostCause::other, "other"}}};

template <class Names>
auto parse(const Names& names, std::string_view text) {
  std::optional<typename Names::value_type::first_type> found;
  for (const auto& [value, name] : names) {
    if (name == text) found = value;
  }
  return found;
}
}  // namespace

const char* work_class_name(WorkClass work_class) {
  return work_class == WorkClass::other_compute
             ? "other compute"
             : class_names[static_cast<std::size_t>(work_class)].second.data();
}

std::optional<WorkClass> parse_work_class(std::string_view name) {
  return parse(class_names, name);
}

const char* collective_kind_name(CollectiveKind kind) {
  return kind_names[static_cast<std::size_t>(kind)].second.data();
}

std::optional<CollectiveKind> parse_collective_kind(std::string_view name) {
  return parse(kind_names, name);
}

const char* host_cause_name(HostCause cause) {
  constexpr std::array<const char*, host_causes> names{"data loading",
                                                       "synchronizing call",
                                                       "allocation",
                                                       "module loading",
                                                       "garbage collection",
                                                       "launch-bound",
                                                       "other"};
  return names[static_cast<std::size_t>(cause)];
}

std::optional<HostCause> parse_host_cause(std::string_view name) {
  return parse(cause_names, name);
}

namespace {
template <class Range>
Nanoseconds sum(const Range& range, Nanoseconds start = Nanoseconds::zero()) {
  return std::accumulate(range.begin(), range.end(), start);
}

void require_equal(const StepLedger& ledger,
                   const char* what,
                   Nanoseconds parts,
                   Nanoseconds whole) {
  if (parts == whole) return;
  throw std::logic_error(
      fmt::format("ledger of step {} rank {}: the parts of {} are {} ns of {} ns",
                  ledger.step,
                  ledger.rank.index,
                  what,
                  parts.count(),
                  whole.count()));
}
}  // namespace

void check_sums(const StepLedger& ledger) {
  require_equal(ledger, "the step", sum(ledger.parts), ledger.end - ledger.start);
  require_equal(ledger, "compute", sum(ledger.compute_by_class), ledger.part(Part::compute));
  require_equal(ledger, "host late", sum(ledger.host_late_by_cause), ledger.part(Part::host_late));
  require_equal(ledger,
                "exposed wait",
                sum(ledger.waited_for, ledger.uncharged_wait),
                ledger.part(Part::exposed_wait));
}
}  // namespace scaleworth::attribution

namespace scaleworth {
namespace {
constexpr bool by_part() {
  for (std::size_t i = 0; i < part_count; ++i) {
    if (index_of(ledger_parts[i].id) != i) return false;
  }
  return true;
}
static_assert(by_part(), "names and keys are looked up by place");
}  // namespace

const char* group_name(PartGroup group) {
  return std::ranges::find(part_groups, group, &GroupInfo::id)->name;
}

GroupTimes group_times(const PartTimes& parts) {
  GroupTimes groups{};
  for (const PartInfo& part : ledger_parts) {
    const auto& time = parts[index_of(part.id)];
    auto& sum = groups[index_of(part.group)];
    if (time) sum = sum.value_or(0.0) + *time;
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
