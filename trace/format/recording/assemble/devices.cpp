// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/assemble/devices.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace scaleworth::trace::recording {
namespace {

constexpr std::uint16_t several = 0xffff;
/// What recordings share is copied for each device: no node has more, but a damaged file may.
constexpr std::size_t most_devices = 32;

using RankOfDevice = std::map<std::uint16_t, std::int32_t>;

std::set<std::uint16_t> devices_of(const Recording& recording) {
  std::set<std::uint16_t> devices;
  for (const DeviceEvent& event : recording.device_events) devices.insert(event.device);
  return devices;
}

/// Empty unless every device is one rank of its own.
RankOfDevice rank_of_device(const DeviceRanks& seen, const std::set<std::uint16_t>& devices) {
  RankOfDevice result;
  std::set<std::int32_t> taken;
  for (const std::uint16_t device : devices) {
    const auto ranks = seen.ranks.find(device);
    if (ranks == seen.ranks.end() || ranks->second.size() != 1) return {};
    if (!taken.insert(*ranks->second.begin()).second) return {};
    result[device] = *ranks->second.begin();
  }
  return result;
}

/// Everything but the events; names keep their numbers.
Recording without_events(const Recording& whole) {
  Recording result;
  result.origin = whole.origin;
  for (std::size_t i = 0; i < whole.names.size(); ++i)
    result.names.intern(whole.names.at(static_cast<NameId>(i)));
  result.threads = whole.threads;
  result.communications = whole.communications;
  result.nccl_uses = whole.nccl_uses;
  result.copies = whole.copies;
  result.synchronizations = whole.synchronizations;
  result.groups = whole.groups;
  result.step_marks = whole.step_marks;
  result.step_marks_from = whole.step_marks_from;
  result.losses = whole.losses;
  result.remarks = whole.remarks;
  return result;
}

class Splitter {
 public:
  explicit Splitter(const Recording& whole) : whole_(whole) {
    for (const DeviceEvent& event : whole.device_events)
      if (event.correlation != 0) note(devices_, event.correlation, event.device);
    for (const HostEvent& event : whole.host_events) {
      const auto device = devices_.find(event.correlation);
      if (event.correlation != 0 && device != devices_.end())
        note(threads_, event.thread, device->second);
    }
  }

  Recording part(std::uint16_t device) const {
    Recording result = without_events(whole_);
    result.origin.device = device;
    for (const DeviceEvent& event : whole_.device_events)
      if (event.device == device) result.device_events.push_back(event);
    for (const HostEvent& event : whole_.host_events) {
      const std::uint16_t own = device_of(event);
      if (own == device || own == several) result.host_events.push_back(event);
    }
    return result;
  }

 private:
  template <class Key>
  static void note(std::unordered_map<Key, std::uint16_t>& devices, Key key, std::uint16_t device) {
    const auto [found, fresh] = devices.try_emplace(key, device);
    if (!fresh && found->second != device) found->second = several;
  }

  std::uint16_t device_of(const HostEvent& event) const {
    const auto launched = devices_.find(event.correlation);
    if (event.correlation != 0 && launched != devices_.end()) return launched->second;
    const auto thread = threads_.find(event.thread);
    return thread == threads_.end() ? several : thread->second;
  }

  const Recording& whole_;
  std::unordered_map<std::uint64_t, std::uint16_t> devices_;  // by correlation
  std::unordered_map<std::uint32_t, std::uint16_t> threads_;  // that its launches went to
};

}  // namespace

std::vector<Recording> split_by_device(Recording whole,
                                       const std::map<std::uint64_t, DeviceRanks>& seen) {
  const std::set<std::uint16_t> devices = devices_of(whole);
  std::vector<Recording> result;
  RankOfDevice ranks;
  std::int32_t size = 0;
  for (const auto& [communicator, candidate] : seen) {
    if (devices.size() < 2 || devices.size() > most_devices || candidate.size <= size) continue;
    RankOfDevice found = rank_of_device(candidate, devices);
    if (found.empty()) continue;
    ranks = std::move(found);
    size = candidate.size;
  }
  if (ranks.empty()) {
    result.push_back(std::move(whole));
    return result;
  }
  const Splitter splitter(whole);
  for (const auto& [device, rank] : ranks) {
    Recording& part = result.emplace_back(splitter.part(device));
    part.origin.rank = rank;
    part.origin.world_size = size;
    part.origin.rank_from = "NCCL communicator";
  }
  return result;
}

}  // namespace scaleworth::trace::recording
