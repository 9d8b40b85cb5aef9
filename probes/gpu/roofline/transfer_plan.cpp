// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/roofline/transfer_plan.h"

#include "probes/gpu/roofline/memory_plan.h"
#include "probes/order.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::probes {
namespace {

constexpr double kibibyte = 1024.0;
constexpr double mebibyte = 1024.0 * kibibyte;
constexpr double memory_share = 0.25;  // source, target and both directions fit
constexpr double smallest_size = 4.0 * kibibyte;
constexpr Bytes large_size{256.0 * mebibyte};
constexpr double both_directions_from = 16.0 * mebibyte;
constexpr int gen4_capability = 80;
constexpr int gen5_capability = 90;

Endpoint end_of(const PlannedDevice& planned) {
  Endpoint end;
  end.device = planned.description.ordinal;
  return end;
}

Endpoint host(bool pinned) {
  Endpoint end;
  end.pinned = pinned;
  return end;
}

Bytes fitting(const PlannedDevice& planned, Bytes wished) {
  const double most = std::floor(memory_share * planned.available.value() / smallest_size);
  return std::min(wished, Bytes(std::max(1.0, most) * smallest_size));
}

std::vector<Bytes> sizes_of(const PlannedDevice& planned) {
  const bool quick = planned.suite == Suite::quick || !planned.first_of_kind;
  const Bytes largest = fitting(planned, Bytes((quick ? 64.0 : 1024.0) * mebibyte));
  const double factor = quick ? 16.0 : 4.0;
  std::vector<Bytes> sizes;
  for (double size = smallest_size; size * std::sqrt(factor) < largest.value(); size *= factor) {
    sizes.emplace_back(size);
  }
  sizes.push_back(largest);
  return sizes;
}

void add_both_ways(const Endpoint& a,
                   const Endpoint& b,
                   TransferEngine engine,
                   Bytes size,
                   std::vector<TransferWork>& works) {
  works.push_back({a, b, engine, false, size});
  works.push_back({b, a, engine, false, size});
}

void add_sizes(const PlannedDevice& planned, std::vector<TransferWork>& works) {
  const Endpoint gpu = end_of(planned);
  const std::vector<Bytes> sizes = sizes_of(planned);
  for (const Bytes size : sizes) {
    const bool at_once =
        planned.suite == Suite::quick ? size == sizes.back() : size.value() >= both_directions_from;
    for (const auto engine : {TransferEngine::copy_engine, TransferEngine::kernel}) {
      add_both_ways(host(true), gpu, engine, size, works);
      if (at_once) works.push_back({host(true), gpu, engine, true, size});
    }
    add_both_ways(host(false), gpu, TransferEngine::copy_engine, size, works);
  }
}

void add_nodes(const PlannedDevice& planned, int nodes, std::vector<TransferWork>& works) {
  for (int node = 0; nodes > 1 && node < nodes; ++node) {
    Endpoint end = host(true);
    end.numa_node = node;
    const Bytes size = fitting(planned, large_size);
    add_both_ways(end, end_of(planned), TransferEngine::copy_engine, size, works);
  }
}

/// Of one direction, between this GPU and the host.
double host_rate(bool pinned, const DeviceDescription& description) {
  if (!pinned) return 6e9;
  if (description.compute_capability >= gen5_capability) return 50e9;
  return description.compute_capability >= gen4_capability ? 24e9 : 12e9;
}

}  // namespace

Pace transfer_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.2), 7} : Pace{Seconds(0.3), 10};
}

std::vector<TransferWork> own_transfer_plan(const PlannedDevice& planned, int host_numa_nodes) {
  if (planned.part == Part::glance) return {};
  std::vector<TransferWork> works;
  add_sizes(planned, works);
  add_nodes(planned, host_numa_nodes, works);
  for (const auto engine : {TransferEngine::copy_engine, TransferEngine::kernel}) {
    works.push_back(
        {end_of(planned), end_of(planned), engine, false, fitting(planned, large_size)});
  }
  in_random_order(works);
  return works;
}

std::vector<TransferWork> peer_transfer_plan(const std::vector<PlannedDevice>& planned,
                                             std::size_t index) {
  std::vector<TransferWork> works;
  const Endpoint own = end_of(planned[index]);
  for (std::size_t other = 0; other < planned.size(); ++other) {
    if (other == index) continue;
    const Endpoint peer = end_of(planned[other]);
    const Bytes size =
        std::min(fitting(planned[index], large_size), fitting(planned[other], large_size));
    works.push_back({own, peer, TransferEngine::copy_engine, false, size});
    if (planned[index].suite == Suite::quick) continue;
    add_both_ways(own, peer, TransferEngine::kernel, size, works);
    if (other < index) continue;
    works.push_back({own, peer, TransferEngine::copy_engine, true, size});
    works.push_back({own, peer, TransferEngine::kernel, true, size});
  }
  in_random_order(works);
  return works;
}

std::vector<std::vector<TransferWork>> together_plan(const std::vector<PlannedDevice>& planned) {
  if (planned.size() < 2 || planned.front().suite == Suite::quick) return {};
  std::vector<TransferWork> into;
  std::vector<TransferWork> out;
  for (const PlannedDevice& device : planned) {
    const Bytes size = fitting(device, large_size);
    into.push_back({host(true), end_of(device), TransferEngine::copy_engine, false, size});
    out.push_back({end_of(device), host(true), TransferEngine::copy_engine, false, size});
  }
  return {into, out};
}

Seconds transfer_preparation(const TransferWork& work) {
  constexpr double byte_s = 0.8e-9;
  const double ends =
      static_cast<double>(!work.source.device) + static_cast<double>(!work.target.device);
  return Seconds(byte_s * ends * work.bytes.value() * (work.both_directions ? 2.0 : 1.0));
}

Seconds presumed_transfer_time(const TransferWork& work, const DeviceDescription& asked) {
  constexpr Seconds start{8e-6};
  if (!work.source.device || !work.target.device) {
    const bool pinned = work.source.device ? work.target.pinned : work.source.pinned;
    return start + Seconds(work.bytes.value() / host_rate(pinned, asked));
  }
  if (work.source == work.target) return start + 2.0 * work.bytes / presumed_memory_rate(asked);
  // A link, or the bus where there is none.
  return start + Seconds(work.bytes.value() / host_rate(true, asked));
}

}  // namespace scaleworth::probes
