// SPDX-License-Identifier: Apache-2.0
#include "trace/classify/classify.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;
using attribution::WorkClass;

constexpr std::size_t names_shown = 5;

/// Verdicts of the names of one recording, each found when it is first asked for.
template <class Verdict>
class ByName {
 public:
  explicit ByName(const NameTable& names) : names_(names), verdicts_(names.size()) {}

  template <class Find>
  const Verdict& of(NameId id, Find find) {
    auto& verdict = verdicts_.at(static_cast<std::size_t>(id));
    if (!verdict) verdict = find(names_.at(id));
    return *verdict;
  }

 private:
  const NameTable& names_;
  std::vector<std::optional<Verdict>> verdicts_;
};

CollectiveKind metadata_kind(const Recording& recording, const DeviceEvent& event) {
  if (event.communication >= recording.communications.size()) return CollectiveKind::unknown;
  return recording.communications[event.communication].kind;
}

void classify_device(Recording& recording, const RuleTable& rules) {
  ByName<KernelVerdict> verdicts(recording.names);
  for (DeviceEvent& event : recording.device_events) {
    const bool collective = event.communication != no_index;
    if (!collective && event.operation != DeviceOperation::kernel) {
      event.work_class = WorkClass::copy;
      event.collective = CollectiveKind::unknown;
      continue;
    }
    const KernelVerdict& verdict =
        verdicts.of(event.name, [&](std::string_view name) { return rules.kernel(name); });
    event.work_class = collective ? WorkClass::communication : verdict.work_class;
    const CollectiveKind known = metadata_kind(recording, event);
    event.collective = known == CollectiveKind::unknown ? verdict.collective : known;
  }
}

bool host_stands_still(const Recording& recording, const HostEvent& event) {
  if (event.activity != HostActivity::synchronization) return false;
  if (event.synchronization >= recording.synchronizations.size()) return false;
  return recording.synchronizations[event.synchronization].kind !=
         Synchronization::Kind::stream_wait_event;
}

void classify_host(Recording& recording, const RuleTable& rules) {
  using Cause = std::optional<attribution::HostCause>;
  ByName<Cause> causes(recording.names);
  for (HostEvent& event : recording.host_events) {
    event.cause = causes.of(event.name, [&](std::string_view name) { return rules.host(name); });
    if (!event.cause && host_stands_still(recording, event))
      event.cause = attribution::HostCause::synchronizing_call;
  }
}

/// A damaged recording may hold times whose sum no integer holds.
nanoseconds saturated_sum(nanoseconds a, nanoseconds b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) return nanoseconds::max();
  return nanoseconds(sum);
}

struct ClassSum {
  std::int64_t events = 0;
  nanoseconds time{};
  std::unordered_map<std::string_view, nanoseconds> by_name;
};

std::vector<std::pair<std::string, nanoseconds>> largest_names(const ClassSum& sum) {
  std::vector<std::pair<std::string, nanoseconds>> names;
  for (const auto& [name, time] : sum.by_name) names.emplace_back(name, time);
  const auto order = [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  };
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), names_shown));
  std::partial_sort(names.begin(), names.begin() + shown, names.end(), order);
  names.resize(static_cast<std::size_t>(shown));
  return names;
}

using ClassSums = std::array<ClassSum, attribution::work_classes>;

void add_recording(ClassSums& sums, const Recording& recording) {
  // By number first: a name has one class, or with metadata two, and a search each is cheap.
  std::array<std::vector<nanoseconds>, attribution::work_classes> by_id;
  for (const DeviceEvent& event : recording.device_events) {
    const auto index = static_cast<std::size_t>(event.work_class);
    const nanoseconds duration = event.end - event.start;
    ++sums.at(index).events;
    sums[index].time = saturated_sum(sums[index].time, duration);
    by_id[index].resize(recording.names.size());
    nanoseconds& time = by_id[index].at(static_cast<std::size_t>(event.name));
    time = saturated_sum(time, duration);
  }
  for (std::size_t index = 0; index < by_id.size(); ++index) {
    for (std::size_t id = 0; id < by_id[index].size(); ++id) {
      if (by_id[index][id] <= nanoseconds::zero()) continue;
      nanoseconds& time = sums[index].by_name[recording.names.at(static_cast<NameId>(id))];
      time = saturated_sum(time, by_id[index][id]);
    }
  }
}

}  // namespace

void classify(Recording& recording, const RuleTable& rules) {
  classify_device(recording, rules);
  classify_host(recording, rules);
}

std::vector<attribution::ClassifiedTime> classified_time(const Job& job) {
  ClassSums sums;
  for (const Recording& recording : job.recordings) add_recording(sums, recording);
  std::vector<attribution::ClassifiedTime> result;
  for (std::size_t index = 0; index < sums.size(); ++index) {
    const auto work_class = static_cast<WorkClass>(index);
    if (sums[index].events == 0 && work_class != WorkClass::unclassified) continue;
    result.push_back(
        {work_class, sums[index].events, sums[index].time, largest_names(sums[index])});
  }
  return result;
}

}  // namespace scaleworth::trace
