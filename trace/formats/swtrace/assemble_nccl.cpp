// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/swtrace/swtrace.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::trace::recording {
namespace {
using attribution::CollectiveKind;

using attribution::Nanoseconds;
using attribution::NcclUse;

constexpr std::uint64_t most = std::uint64_t{1} << 61U;  // nanoseconds or bytes

bool possible(const NetworkRow& row) {
  std::uint64_t left = row.duration_ns;
  if (left > most || row.bytes > most || row.time_ns > most || row.lead_ns > left) return false;
  for (const std::uint64_t wait :
       {row.gpu_wait_ns, row.peer_wait_ns, row.network_wait_ns, row.flush_wait_ns}) {
    if (wait > left) return false;
    left -= wait;
  }
  return true;
}

Nanoseconds time(std::uint64_t nanoseconds) {
  return Nanoseconds(static_cast<std::int64_t>(nanoseconds));
}

void add(std::int64_t more, std::int64_t& sum) {
  sum = std::min(sum + more, static_cast<std::int64_t>(most));
}

void add(Nanoseconds more, Nanoseconds& sum) {
  sum = std::min(sum + more, time(most));
}

template <class Entry, class Call>
auto entries_of(const std::vector<Entry>& entries, const Call& call) {
  return std::span(std::ranges::lower_bound(entries, call, {}, &Entry::call),
                   std::ranges::upper_bound(entries, call, {}, &Entry::call));
}

/// Adds what was reported of another call to `sum`; sums stop where they would run over.
void add_use(const NcclUse& more, NcclUse& sum) {
  add(more.operations, sum.operations);
  add(more.sent_bytes, sum.sent_bytes);
  add(more.duration, sum.duration);
  add(more.gpu_wait, sum.gpu_wait);
  add(more.peer_wait, sum.peer_wait);
  add(more.network_wait, sum.network_wait);
  if (more.channels_apart)
    sum.channels_apart = std::max(sum.channels_apart.value_or(Nanoseconds{}), *more.channels_apart);
}

struct Function {
  std::string_view name;
  CollectiveKind kind;
};

constexpr std::array<Function, 11> functions{{{"AllReduce", CollectiveKind::all_reduce},
                                              {"AllGather", CollectiveKind::all_gather},
                                              {"ReduceScatter", CollectiveKind::reduce_scatter},
                                              {"AlltoAll", CollectiveKind::all_to_all},
                                              {"Broadcast", CollectiveKind::broadcast},
                                              {"Bcast", CollectiveKind::broadcast},
                                              {"Reduce", CollectiveKind::reduce},
                                              {"Gather", CollectiveKind::gather},
                                              {"Scatter", CollectiveKind::scatter},
                                              {"Send", CollectiveKind::send},
                                              {"Recv", CollectiveKind::receive}}};

/// Absent for calls that move nothing: creation of communicators, groups.
std::optional<CollectiveKind> kind_of(std::string_view function) {
  if (function.starts_with("nccl")) function.remove_prefix(4);
  const auto found = std::ranges::find(functions, function, &Function::name);
  if (found == functions.end()) return std::nullopt;
  return found->kind;
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
  std::uint32_t event = 0;  // into device_events
};

std::vector<Launch> launches_of_nccl(const Recording& recording) {
  std::unordered_map<std::uint64_t, std::uint32_t> kernels;  // by correlation
  for (std::uint32_t i = 0; i < recording.device_events.size(); ++i) {
    const DeviceEvent& event = recording.device_events[i];
    if (event.operation == DeviceOperation::kernel && event.graph_node == 0 &&
        event.correlation != 0 && is_nccl_kernel(recording.names.at(event.name)))
      kernels.emplace(event.correlation, i);
  }
  std::vector<Launch> launches;
  for (const HostEvent& call : recording.host_events) {
    if (kernels.empty()) break;
    const auto found = kernels.find(call.correlation);
    if (!is_call(call) || found == kernels.end()) continue;
    launches.push_back({call.start, call.thread, found->second});
    kernels.erase(found);
  }
  return launches;
}

class Joiner {
 public:
  Joiner(Recording& recording, const NcclUses& uses) : recording_(recording), uses_(uses) {}

  void join(std::span<const CollectiveCall> calls, std::span<const Launch> launches) {
    if (calls.empty()) return;
    if (launches.size() == 1) {
      attach(calls, launches.front());
    } else if (launches.size() == calls.size()) {
      for (std::size_t i = 0; i < calls.size(); ++i) attach(calls.subspan(i, 1), launches[i]);
    } else {
      recording_.losses["collective_calls_without_their_kernel"] +=
          static_cast<std::int64_t>(calls.size());
    }
  }

  std::map<std::uint64_t, DeviceRanks> take_seen() { return std::move(seen_); }

 private:
  Communication communication(const CollectiveCall& call) {
    Communication result;
    const CollectiveRow& row = call.row;
    result.kind = *kind_of(recording_.names.at(call.function));
    result.group = group_name(recording_, row.communicator);
    const auto bytes = static_cast<std::int64_t>(row.bytes);
    if ((row.fields & collective_has_bytes) != 0 && bytes >= 0) {
      // NCCL counts what one rank puts in, but for reduce-scatter what one rank gets out.
      (result.kind == CollectiveKind::reduce_scatter ? result.output_bytes : result.input_bytes) =
          bytes;
    }
    if ((row.fields & collective_has_sequence) != 0)
      result.sequence = static_cast<std::int64_t>(row.sequence);
    if ((row.fields & collective_has_peer) != 0) result.peer = static_cast<std::int32_t>(row.peer);
    if ((row.fields & collective_has_root) != 0) result.root = static_cast<std::int32_t>(row.root);
    result.algorithm = call.algorithm;
    result.protocol = call.protocol;
    if (row.channels > 0) result.channels = static_cast<std::int32_t>(row.channels);
    return result;
  }

  void attach(std::span<const CollectiveCall> calls, const Launch& launch) {
    Communication all = communication(calls.front());
    for (const CollectiveCall& call : calls.subspan(1)) merge(all, communication(call));
    add_nccl_use(calls, recording_.device_events[launch.event].start, all);
    note_ranks(calls, recording_.device_events[launch.event].device);
    recording_.device_events[launch.event].communication =
        static_cast<std::uint32_t>(recording_.communications.size());
    recording_.communications.push_back(std::move(all));
  }

  void add_nccl_use(std::span<const CollectiveCall> calls,
                    nanoseconds kernel_start,
                    Communication& all) {
    std::optional<attribution::NcclUse> sum;
    for (const CollectiveCall& call : calls) {
      const auto use = uses_.of(call.row, kernel_start);
      if (use && !sum) sum.emplace();
      if (use) add_use(*use, *sum);
    }
    if (!sum) return;
    all.nccl_use = static_cast<std::uint32_t>(recording_.nccl_uses.size());
    recording_.nccl_uses.push_back(*sum);
  }

  void note_ranks(std::span<const CollectiveCall> calls, std::uint16_t device) {
    for (const CollectiveCall& call : calls) {
      if (call.row.source != CollectiveSource::plugin) continue;
      DeviceRanks& seen = seen_[call.row.communicator];
      seen.size = static_cast<std::int32_t>(call.row.ranks);
      seen.ranks[device].insert(static_cast<std::int32_t>(call.row.rank));
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
    if (all.kind == more.kind) return;
    const auto point_to_point = [](CollectiveKind kind) {
      return kind == CollectiveKind::send || kind == CollectiveKind::receive ||
             kind == CollectiveKind::send_receive;
    };
    const bool pair = point_to_point(all.kind) && point_to_point(more.kind);
    all.kind = pair ? CollectiveKind::send_receive : CollectiveKind::unknown;
  }

  static constexpr std::int64_t most_bytes = std::int64_t{1} << 60U;
  Recording& recording_;
  const NcclUses& uses_;
  std::map<std::uint64_t, DeviceRanks> seen_;
};

void note_communicators(Recording& recording, const std::vector<CollectiveCall>& calls) {
  for (const CollectiveCall& call : calls) {
    if ((call.row.fields & collective_has_ranks) == 0) continue;
    ProcessGroup& group = recording.groups[group_name(recording, call.row.communicator)];
    group.description = "NCCL communicator";
    group.size = static_cast<std::int32_t>(call.row.ranks);
  }
}

void keep_transfers(const Recording& recording, std::vector<CollectiveCall>& calls) {
  const bool plugin_spoke = std::ranges::any_of(calls, [&](const auto& call) {
    return call.row.source == CollectiveSource::plugin &&
           kind_of(recording.names.at(call.function));
  });
  std::erase_if(calls, [&](const CollectiveCall& call) {
    return !kind_of(recording.names.at(call.function)) ||
           (plugin_spoke && call.row.source != CollectiveSource::plugin);
  });
}
}  // namespace

std::map<std::uint64_t, DeviceRanks> join_collectives(Recording& recording,
                                                      std::vector<CollectiveCall> calls,
                                                      const NcclUses& uses) {
  note_communicators(recording, calls);
  keep_transfers(recording, calls);
  if (calls.empty()) return {};
  std::vector<Launch> launches = launches_of_nccl(recording);
  std::ranges::stable_sort(
      calls, {}, [](const auto& a) { return std::tuple(a.thread, a.row.time_ns); });
  std::ranges::stable_sort(
      launches, {}, [](const Launch& a) { return std::tuple(a.thread, a.time); });
  Joiner joiner(recording, uses);
  std::size_t call = 0;
  std::size_t launch = 0;
  while (call < calls.size()) {
    const std::uint32_t thread = calls[call].thread;
    const auto at = [&](std::size_t i) {
      return nanoseconds(static_cast<std::int64_t>(calls[i].row.time_ns));
    };
    while (launch < launches.size() && std::tuple(launches[launch].thread, launches[launch].time) <
                                           std::tuple(thread, at(call)))
      ++launch;
    const std::size_t first_call = call;
    const std::size_t first_launch = launch;
    const bool launched = launch < launches.size() && launches[launch].thread == thread;
    const nanoseconds until = launched ? launches[launch].time : nanoseconds::max();
    while (call < calls.size() && calls[call].thread == thread && at(call) <= until) ++call;
    const bool more = call < calls.size() && calls[call].thread == thread;
    const nanoseconds next_call = more ? at(call) : nanoseconds::max();
    while (launch < launches.size() && launches[launch].thread == thread &&
           launches[launch].time < next_call)
      ++launch;
    joiner.join(std::span(calls).subspan(first_call, call - first_call),
                std::span(launches).subspan(first_launch, launch - first_launch));
  }
  return joiner.take_seen();
}

void NcclUses::add(std::span<const NetworkRow> rows) {
  for (const NetworkRow& row : rows) {
    if (!possible(row)) {
      ++impossible_;
      continue;
    }
    NcclUse use;
    use.operations = 1;
    use.sent_bytes = row.sends != 0 ? static_cast<std::int64_t>(row.bytes) : 0;
    use.duration = time(row.duration_ns);
    use.gpu_wait = time(row.gpu_wait_ns);
    use.peer_wait = time(row.peer_wait_ns);
    use.network_wait = time(row.network_wait_ns + row.flush_wait_ns);
    networks_.push_back(
        {{row.communicator, row.call, row.rank}, use, row.time_ns, row.lead_ns, row.sends != 0});
  }
}

void NcclUses::add(std::span<const ChannelRow> rows) {
  for (const ChannelRow& row : rows) {
    if (row.gpu_start_ns > most || row.gpu_duration_ns > most) {
      ++impossible_;
      continue;
    }
    channels_.push_back(
        {{row.communicator, row.call, row.rank}, row.gpu_start_ns + row.gpu_duration_ns});
  }
}

void NcclUses::sort() {
  std::ranges::stable_sort(networks_, {}, &Network::call);
  std::ranges::stable_sort(channels_, {}, &Channel::call);
}

NcclUse NcclUses::since(const Network& network, Nanoseconds kernel_start) {
  NcclUse use = network.use;
  Nanoseconds& first_wait = network.sends ? use.gpu_wait : use.network_wait;
  const Nanoseconds early = kernel_start - time(network.start_ns);
  const Nanoseconds before =
      std::clamp(early, Nanoseconds{}, std::min(time(network.lead_ns), first_wait));
  first_wait -= before;
  use.duration -= before;
  return use;
}

std::optional<NcclUse> NcclUses::of(const CollectiveRow& row, Nanoseconds kernel_start) const {
  if (row.call == 0) return std::nullopt;
  const Call call(row.communicator, row.call, row.rank);
  const auto networks = entries_of(networks_, call);
  const auto channels = entries_of(channels_, call);
  if (networks.empty() && channels.empty()) return std::nullopt;
  NcclUse all;
  for (const Network& network : networks) add_use(since(network, kernel_start), all);
  if (!channels.empty()) {
    const auto [first, last] =
        std::ranges::minmax_element(channels, {}, [](const auto& a) { return a.gpu_end_ns; });
    all.channels_apart = time(last->gpu_end_ns - first->gpu_end_ns);
  }
  return all;
}

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
