// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/waits/nccl_told.h"

#include <set>
#include <string>

namespace scaleworth::trace {
namespace {

/// The one value that everybody knows; nothing where they contradict each other.
template <class Value>
Value agreed(const std::set<Value>& values) {
  return values.size() == 1 ? *values.begin() : Value{};
}

}  // namespace

void add_what_nccl_told(const Job& job,
                        const MatchedCollective& matched,
                        attribution::CollectiveWait& wait) {
  std::set<std::string> algorithms;
  std::set<std::string> protocols;
  std::set<std::optional<std::int32_t>> channels;
  for (std::size_t i = 0; i < matched.members.size(); ++i) {
    const Recording& recording = job.recordings[matched.members[i].rank];
    const std::uint32_t index = recording.device_events[matched.members[i].event].communication;
    if (index == no_index) continue;
    const Communication& known = recording.communications.at(index);
    if (known.algorithm != NameId::none) algorithms.emplace(recording.names.at(known.algorithm));
    if (known.protocol != NameId::none) protocols.emplace(recording.names.at(known.protocol));
    if (known.channels) channels.insert(known.channels);
    if (known.nccl_use != no_index)
      wait.participants.at(i).nccl = recording.nccl_uses.at(known.nccl_use);
  }
  wait.algorithm = agreed(algorithms);
  wait.protocol = agreed(protocols);
  wait.channels = agreed(channels);
}

}  // namespace scaleworth::trace
