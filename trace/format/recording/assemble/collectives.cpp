// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/assemble/collectives.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::trace::recording {
namespace {

using attribution::CollectiveKind;

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
  const auto found = std::find_if(functions.begin(), functions.end(), [&](const Function& entry) {
    return entry.name == function;
  });
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
    const bool is_call =
        call.activity == HostActivity::runtime_call || call.activity == HostActivity::driver_call;
    if (!is_call || found == kernels.end()) continue;
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
  const bool plugin_spoke = std::any_of(calls.begin(), calls.end(), [&](const auto& call) {
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
  std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.thread, a.row.time_ns) < std::tuple(b.thread, b.row.time_ns);
  });
  std::stable_sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
    return std::tuple(a.thread, a.time) < std::tuple(b.thread, b.time);
  });
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

}  // namespace scaleworth::trace::recording
