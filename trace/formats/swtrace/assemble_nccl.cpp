// SPDX-License-Identifier: Apache-2.0
#include "src/core/whole_number.h"
#include "trace/formats/kineto.h"
#include "trace/formats/swtrace/swtrace.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::trace::recording {
namespace {

Nanoseconds time(std::uint64_t nanoseconds) {
  return Nanoseconds(static_cast<std::int64_t>(nanoseconds));
}

bool is_nccl_kernel(std::string_view name) {
  return name.starts_with("ncclDevKernel") || name.starts_with("ncclKernel") ||
         name.starts_with("ncclSym");
}

NameId group_name(Recording& recording, std::uint64_t communicator) {
  return recording.names.intern(fmt::format("communicator {:016x}", communicator));
}

struct Launch {
  nanoseconds time{};
  std::uint32_t thread = 0;
  std::uint32_t event = no_index;  // into device_events; of NCCL's eager kernels only
};

std::pair<std::uint32_t, nanoseconds> thread_and_time(const Launch& launch) {
  return {launch.thread, launch.time};
}
std::pair<std::uint32_t, nanoseconds> thread_and_time(const CollectiveRow& call) {
  return {call.thread, time(call.time_ns)};
}

/// Those of NCCL's kernels; `others`: and the calls that launch other kernels, or none that ran,
/// as those of a graph's capture.
std::vector<Launch> launches_of_nccl(const Recording& recording, bool others) {
  std::unordered_map<std::uint64_t, std::uint32_t> kernels;  // by correlation
  for (std::uint32_t i = 0; i < recording.device_events.size(); ++i) {
    const DeviceEvent& event = recording.device_events[i];
    if (event.operation == DeviceOperation::kernel && event.graph_node == 0 &&
        event.correlation != 0 && is_nccl_kernel(recording.names.at(event.name)))
      kernels.emplace(event.correlation, i);
  }
  std::vector<Launch> launches;
  auto is_launch = remembered(recording.names, [](std::string_view call) {
    return call.find("LaunchKernel") != std::string_view::npos;
  });
  for (const HostEvent& call : recording.host_events) {
    if (kernels.empty()) break;
    if (!is_call(call)) continue;
    const auto found = kernels.find(call.correlation);
    if (found == kernels.end()) {
      if (others && is_launch(call.name)) launches.push_back({call.start, call.thread});
    } else if (found->second != no_index) {  // else another record of the same launch
      launches.push_back({call.start, call.thread, std::exchange(found->second, no_index)});
    }
  }
  return launches;
}

class Joiner {
 public:
  explicit Joiner(Recording& recording) : recording_(recording) {}

  void join(std::span<const CollectiveRow> calls, std::span<const Launch> launches) {
    if (calls.empty()) return;
    if (launches.size() == 1 && contradict(calls, launches.front())) {
      recording_.losses["collective_calls_that_contradict_their_kernel"] +=
          static_cast<std::int64_t>(calls.size());
    } else if (launches.size() == 1) {
      attach(calls, launches.front());
    } else if (launches.size() == calls.size()) {
      for (std::size_t i = 0; i < calls.size(); ++i) attach(calls.subspan(i, 1), launches[i]);
    } else if (const auto lost = std::ranges::count_if(
                   calls, [this](const CollectiveRow& call) { return needs_kernel(call); });
               lost > 0) {
      recording_.losses["collective_calls_without_their_kernel"] += lost;
    }
  }

  std::map<std::uint64_t, DeviceRanks> seen;  // by communicator

 private:
  /// One rank alone has nothing to exchange: NCCL launches no kernel, or none of its own
  /// (NVIDIA/nccl, src/enqueue.cc, ncclLaunchOneRank).
  bool needs_kernel(const CollectiveRow& call) const {
    const auto group = recording_.groups.find(group_name(recording_, call.communicator));
    return group == recording_.groups.end() || group->second.size != 1;
  }

  /// Whether the kernel is named after a function that none of the calls has: it is named after one
  /// of those that it runs, or "Generic" (NVIDIA/nccl, src/device/generate.py, best_kernel).
  bool contradict(std::span<const CollectiveRow> calls, const Launch& launch) const {
    using enum CollectiveKind;
    std::string_view word = recording_.names.at(recording_.device_events[launch.event].name);
    const std::size_t function = word.find("Kernel_");
    if (function == std::string_view::npos) return false;
    word.remove_prefix(function + std::string_view("Kernel_").size());
    word = word.substr(0, word.find_first_of("_("));
    const auto kind = nccl_function_kind(word);
    if (!kind && word != "SendRecv") return false;
    return std::ranges::none_of(calls, [&](const CollectiveRow& call) {
      const CollectiveKind own = *nccl_function_kind(recording_.names.at(NameId{call.function}));
      return kind ? own == *kind
                  : own == send || own == receive || own == all_to_all || own == gather ||
                        own == scatter;
    });
  }

  Communication communication(const CollectiveRow& call) {
    Communication result;
    result.kind = *nccl_function_kind(recording_.names.at(NameId{call.function}));
    result.group = group_name(recording_, call.communicator);
    const auto take = [&](CollectiveField field, auto value, auto& to) {
      using Number = typename std::remove_reference_t<decltype(to)>::value_type;
      if ((call.fields & field) != 0) to = whole_number<Number>(value);
    };
    // NCCL counts what one rank puts in, but for reduce-scatter and receives what it gets out.
    const bool comes_out =
        result.kind == CollectiveKind::reduce_scatter || result.kind == CollectiveKind::receive;
    auto& bytes = comes_out ? result.output_bytes : result.input_bytes;
    take(collective_has_bytes, call.bytes, bytes);
    take(collective_has_sequence, call.sequence, result.sequence);
    take(collective_has_peer, call.peer, result.peer);
    take(collective_has_root, call.root, result.root);
    result.algorithm = NameId{call.algorithm};
    result.protocol = NameId{call.protocol};
    result.channels = whole_number<std::int32_t>(call.channels, 1);
    return result;
  }

  void attach(std::span<const CollectiveRow> calls, const Launch& launch) {
    // What a group sends and receives are two sums: a send gets nothing, a receive puts in nothing.
    const auto part = [&](const CollectiveRow& call) {
      Communication one = communication(call);
      if (one.kind == CollectiveKind::send && one.input_bytes) one.output_bytes = 0;
      if (one.kind == CollectiveKind::receive && one.output_bytes) one.input_bytes = 0;
      return one;
    };
    Communication all = calls.size() == 1 ? communication(calls.front()) : part(calls.front());
    for (const CollectiveRow& call : calls.subspan(1)) merge(all, part(call));
    note_ranks(calls, recording_.device_events[launch.event].device);
    recording_.device_events[launch.event].communication = append(recording_.communications, all);
  }

  void note_ranks(std::span<const CollectiveRow> calls, std::uint16_t device) {
    for (const CollectiveRow& call : calls) {
      const auto size = rank_count(call.ranks);
      const auto rank = rank_number(call.rank);
      if (call.source != CollectiveSource::plugin || !size || !rank || *rank >= *size) continue;
      DeviceRanks& ranks = seen[call.communicator];
      ranks.size = *size;
      ranks.ranks[device].insert(*rank);
    }
  }

  static void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& more) {
    if (sum && more && *more <= most_bytes - std::min(*sum, most_bytes)) {
      *sum += *more;
    } else {
      sum.reset();
    }
  }

  static void merge(Communication& all, const Communication& more) {
    add(all.input_bytes, more.input_bytes);
    add(all.output_bytes, more.output_bytes);
    if (all.peer != more.peer) all.peer.reset();
    if (all.root != more.root) all.root.reset();
    if (all.algorithm != more.algorithm) all.algorithm = NameId::none;
    if (all.protocol != more.protocol) all.protocol = NameId::none;
    if (all.channels != more.channels) all.channels.reset();
    all.kind = kind_of_both(all.kind, more.kind);
  }

  static constexpr std::int64_t most_bytes = std::int64_t{1} << 60U;
  Recording& recording_;
};

void note_communicators(Recording& recording, const std::vector<CollectiveRow>& calls) {
  for (const CollectiveRow& call : calls) {
    if ((call.fields & collective_has_ranks) == 0) continue;
    ProcessGroup& group = recording.groups[group_name(recording, call.communicator)];
    group.description = "NCCL communicator";
    group.size = rank_count(call.ranks);
  }
}

void keep_transfers(const Recording& recording, std::vector<CollectiveRow>& calls) {
  const bool plugin_spoke = std::ranges::any_of(calls, [&](const auto& call) {
    return call.source == CollectiveSource::plugin &&
           nccl_function_kind(recording.names.at(NameId{call.function}));
  });
  std::erase_if(calls, [&](const CollectiveRow& call) {
    return !nccl_function_kind(recording.names.at(NameId{call.function})) ||
           (plugin_spoke && call.source != CollectiveSource::plugin);
  });
}

constexpr std::uint16_t several = 0xffff;
/// What recordings share is copied for each device: no node has more, but a damaged file may.
constexpr std::size_t most_devices = 32;

using RankOfDevice = std::map<std::uint16_t, std::int32_t>;

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
  for (std::size_t i = 0; i < whole.shapes.size(); ++i)
    result.shapes.intern(whole.shapes.at(static_cast<NameId>(i)));
  result.threads = whole.threads;
  result.communications = whole.communications;
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
      const auto* device = value_at(devices_, event.correlation);
      if (event.correlation != 0 && device) note(threads_, event.thread, *device);
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
    const auto* launched = value_at(devices_, event.correlation);
    if (event.correlation != 0 && launched) return *launched;
    const auto* thread = value_at(threads_, event.thread);
    return thread ? *thread : several;
  }

  const Recording& whole_;
  std::unordered_map<std::uint64_t, std::uint16_t> devices_;  // by correlation
  std::unordered_map<std::uint32_t, std::uint16_t> threads_;  // that its launches went to
};
}  // namespace

std::map<std::uint64_t, DeviceRanks> join_collectives(Recording& recording,
                                                      std::vector<CollectiveRow> calls) {
  note_communicators(recording, calls);
  keep_transfers(recording, calls);
  const auto copied = std::erase_if(calls, [&](const CollectiveRow& call) {
    return recording.names.at(NameId{call.algorithm}) == copy_engine_word;
  });
  if (copied > 0)
    recording.losses["copy_engine_collectives_without_their_copies"] +=
        static_cast<std::int64_t>(copied);
  if (calls.empty()) return {};
  const bool after = calls.front().source == CollectiveSource::plugin;
  std::vector<Launch> launches = launches_of_nccl(recording, after);
  const auto place = [](const auto& one) { return thread_and_time(one); };
  std::ranges::stable_sort(calls, {}, place);
  std::ranges::stable_sort(launches, {}, place);
  Joiner joiner(recording);
  std::span<const CollectiveRow> calls_left(calls);
  std::span<const Launch> launches_left(launches);
  const auto take_while = [](auto& left, auto belongs) {
    const auto taken = left.first(
        static_cast<std::size_t>(std::ranges::find_if_not(left, belongs) - left.begin()));
    left = left.subspan(taken.size());
    return taken;
  };
  while (!calls_left.empty()) {
    const auto first = place(calls_left.front());
    const auto before =
        take_while(launches_left, [&](const Launch& launch) { return place(launch) < first; });
    const bool launched = !launches_left.empty() && launches_left.front().thread == first.first;
    const std::pair until(first.first, launched ? launches_left.front().time : nanoseconds::max());
    const auto group =
        take_while(calls_left, [&](const CollectiveRow& call) { return place(call) <= until; });
    if (after) {
      const bool own =
          !before.empty() && before.back().thread == first.first && before.back().event != no_index;
      joiner.join(group, own ? before.last(1) : before.first(0));
      continue;
    }
    joiner.join(group, take_while(launches_left, [&](const Launch& launch) {
                  return launch.thread == first.first &&
                         (calls_left.empty() || place(launch) < place(calls_left.front()));
                }));
  }
  return std::move(joiner.seen);
}

std::vector<Recording> split_by_device(Recording whole,
                                       const std::map<std::uint64_t, DeviceRanks>& seen) {
  std::set<std::uint16_t> devices;
  for (const DeviceEvent& event : whole.device_events) devices.insert(event.device);
  RankOfDevice ranks;
  std::int32_t size = 0;
  for (const auto& [communicator, candidate] : seen) {
    if (devices.size() < 2 || devices.size() > most_devices || candidate.size <= size) continue;
    RankOfDevice found = rank_of_device(candidate, devices);
    if (found.empty()) continue;
    ranks = std::move(found);
    size = candidate.size;
  }
  std::vector<Recording> result;
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
