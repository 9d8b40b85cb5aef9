// SPDX-License-Identifier: Apache-2.0
#include "trace/format/ranks/lone_process.h"

#include "trace/format/recording/assemble/devices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;

constexpr std::size_t least_collectives = 3;

struct Call {
  CollectiveKind kind = CollectiveKind::unknown;
  nanoseconds start{};
  nanoseconds end{};
};

/// The collectives of each GPU that has any work, in the order of their starts.
using CallsOfDevice = std::map<std::uint16_t, std::vector<Call>>;

CallsOfDevice calls_of_devices(const Recording& recording, const RuleTable& rules) {
  std::unordered_map<NameId, std::optional<CollectiveKind>> kinds;  // absent: no collective
  CallsOfDevice calls;
  for (const DeviceEvent& event : recording.device_events) {
    auto& of_device = calls[event.device];
    if (event.operation != DeviceOperation::kernel) continue;
    const auto [kind, fresh] = kinds.try_emplace(event.name);
    if (fresh) {
      const KernelVerdict verdict = rules.kernel(recording.names.at(event.name));
      if (verdict.work_class == attribution::WorkClass::communication)
        kind->second = verdict.collective;
    }
    if (kind->second) of_device.push_back({*kind->second, event.start, event.end});
  }
  return calls;
}

/// How many collectives each GPU ran together with all others; 0 where they are not the same ones.
std::size_t common_calls(const CallsOfDevice& devices) {
  const std::vector<Call>& first = devices.begin()->second;
  for (const auto& [device, calls] : devices) {
    const bool same = std::equal(
        calls.begin(), calls.end(), first.begin(), first.end(), [](const Call& a, const Call& b) {
          return a.kind == b.kind;
        });
    if (!same) return 0;
  }
  std::size_t together = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    nanoseconds latest_start = first[i].start;
    nanoseconds earliest_end = first[i].end;
    for (const auto& [device, calls] : devices) {
      latest_start = std::max(latest_start, calls[i].start);
      earliest_end = std::min(earliest_end, calls[i].end);
    }
    together += latest_start < earliest_end;
  }
  return 10 * together >= 9 * first.size() ? first.size() : 0;
}

bool part_of_more(const Origin& origin) {
  return origin.framework_timeline || origin.world_size.value_or(1) > 1 ||
         origin.rank.value_or(0) > 0;
}

}  // namespace

void split_lone_process(Job& job, const RuleTable& rules) {
  if (job.recordings.size() != 1 || part_of_more(job.recordings.front().origin)) return;
  const CallsOfDevice devices = calls_of_devices(job.recordings.front(), rules);
  if (devices.size() < 2) return;
  const std::size_t calls = common_calls(devices);
  if (calls < least_collectives) return;
  recording::DeviceRanks ranks;
  ranks.size = static_cast<std::int32_t>(devices.size());
  std::int32_t next = 0;
  for (const auto& [device, unused] : devices) ranks.ranks[device] = {next++};
  std::vector<Recording> parts =
      recording::split_by_device(std::move(job.recordings.front()), {{0, std::move(ranks)}});
  if (parts.size() > 1) {
    for (Recording& part : parts) {
      part.origin.rank_basis = RankBasis::counted;
      part.origin.rank_from = "order of the GPUs of one process";
    }
    job.remarks.push_back(
        fmt::format("one process drives {} GPUs, which run the same {} "
                    "collectives at the same times: each counts as a rank",
                    parts.size(),
                    calls));
  }
  job.recordings = std::move(parts);
}

}  // namespace scaleworth::trace
