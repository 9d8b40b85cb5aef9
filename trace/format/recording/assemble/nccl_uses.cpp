// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/assemble/nccl_uses.h"

#include <algorithm>

namespace scaleworth::trace::recording {
namespace {

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
  const auto first =
      std::lower_bound(entries.begin(), entries.end(), call, [](const Entry& a, const Call& b) {
        return a.call < b;
      });
  const auto last = std::upper_bound(
      first, entries.end(), call, [](const Call& a, const Entry& b) { return a < b.call; });
  return std::span(first, last);
}

}  // namespace

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
  const auto by_call = [](const auto& a, const auto& b) { return a.call < b.call; };
  std::stable_sort(networks_.begin(), networks_.end(), by_call);
  std::stable_sort(channels_.begin(), channels_.end(), by_call);
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
        std::minmax_element(channels.begin(), channels.end(), [](const auto& a, const auto& b) {
          return a.gpu_end_ns < b.gpu_end_ns;
        });
    all.channels_apart = time(last->gpu_end_ns - first->gpu_end_ns);
  }
  return all;
}

}  // namespace scaleworth::trace::recording
