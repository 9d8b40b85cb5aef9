// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/batching.h"
#include "probes/gpu/roofline.h"
#include "probes/ranks.h"
#include "src/core/run.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/ranges.h>

namespace scaleworth::probes {
MemoryPlace place_of(const Endpoint& endpoint) {
  if (endpoint.device) return {TransferEnd::gpu, *endpoint.device};
  return {endpoint.pinned ? TransferEnd::host_pinned : TransferEnd::host_pageable,
          endpoint.numa_node};
}

namespace {
// As the paces of roofline_probes.cpp.
constexpr SuitePace transfer_pace{{Seconds(0.2), 20}, {Seconds(0.3), 20}};
constexpr double memory_share = 0.25;             // source, target and both directions fit
constexpr double smallest_size = 4.0 * kibibyte;  // a page; below it start-up time alone
constexpr Bytes large_size{256.0 * mebibyte};
// Larger ones would show no more: the host's memory takes longer to prepare than to copy.
constexpr Bytes glance_size{64.0 * mebibyte};
// Shorter ones end before both run at once.
constexpr double both_directions_from = 16.0 * mebibyte;
// PCIe of the GPUs of these compute capabilities, for estimates: Ampere, Hopper.
constexpr int gen4_capability = 80;
constexpr int gen5_capability = 90;

constexpr Endpoint host{};
constexpr Endpoint pageable{.pinned = false};

Endpoint end_of(const PlannedDevice& planned) {
  return {.device = planned.description.ordinal};
}

Bytes fitting(const PlannedDevice& planned, Bytes wished) {
  const double most = std::floor(memory_share * planned.available.value() / smallest_size);
  return std::min(wished, Bytes(std::max(1.0, most) * smallest_size));
}

std::vector<Bytes> sizes_of(const PlannedDevice& planned) {
  const bool quick = planned.suite == Suite::quick;
  // The rate is the link's from some MiB on; the standard suite shows that it stays.
  const Bytes largest = fitting(planned, Bytes((quick ? 64.0 : 1024.0) * mebibyte));
  const double factor = quick ? 16.0 : 4.0;
  return geometric(smallest_size, largest.value(), factor, [](double size) { return Bytes(size); });
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
      add_both_ways(host, gpu, engine, size, works);
      if (at_once) works.push_back({host, gpu, engine, true, size});
    }
    add_both_ways(pageable, gpu, TransferEngine::copy_engine, size, works);
  }
}

/// Of one direction, between this GPU and the host.
double host_rate(bool pinned, const DeviceDescription& description) {
  if (!pinned) return 6e9;
  if (description.compute_capability >= gen5_capability) return 50e9;
  // B/s with pinned memory (H100, H200: 55); pageable 6, where those reach 14 to 17: too slow only
  // makes a plan longer.
  return description.compute_capability >= gen4_capability ? 24e9 : 12e9;
}

/// Mapping, locking, filling and checking the host's memory.
Seconds transfer_preparation(const TransferWork& work) {
  constexpr double byte_s = 0.8e-9;  // one core fills and checks some 1.2 GB/s
  const double ends =
      static_cast<double>(!work.source.device) + static_cast<double>(!work.target.device);
  return Seconds(byte_s * ends * work.bytes.value() * (work.both_directions ? 2.0 : 1.0));
}

/// One operation: links at the generation that GPUs of this age have.
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

std::string name_of(const TransferWork& work) {
  return fmt::format("{} {} {} to {}, {}",
                     size_name(work.bytes),
                     work.both_directions ? "both ways," : "from",
                     word_of(place_of(work.source)),
                     word_of(place_of(work.target)),
                     word_of(work.engine));
}

Point point_of(const Device& device,
               const TransferWork& work,
               Pass pass,
               const DeviceMeasured& measured) {
  Setting setting{{Parameter::engine, work.engine},
                  {Parameter::both_directions, work.both_directions},
                  {Parameter::pass, pass},
                  {Parameter::transfer_bytes, whole_bytes(work.bytes)}};
  setting.set_place(Parameter::source, place_of(work.source));
  setting.set_place(Parameter::target, place_of(work.target));
  return device_point(device.description().ordinal, std::move(setting), measured);
}

/// What the GPUs are asked, as far as they can reach each other.
struct TransferPlan {
  std::vector<std::vector<TransferWork>> alone;  // by GPU
  std::vector<std::vector<TransferWork>> together;
  std::size_t settings() const {
    std::size_t count = 0;
    for (const auto& works : alone) count += works.size();
    for (const auto& works : together) count += works.size();
    return count;
  }
};

TransferPlan plan_of(const std::vector<PlannedDevice>& planned, int host_numa_nodes) {
  TransferPlan plan;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    plan.alone.push_back(own_transfer_plan(planned[i], host_numa_nodes));
    const std::vector<TransferWork> peers = peer_transfer_plan(planned, i);
    plan.alone.back().insert(plan.alone.back().end(), peers.begin(), peers.end());
  }
  plan.together = together_plan(planned);
  return plan;
}

/// The other GPU that the asked one would load from and store to.
std::optional<int> peer_of(const TransferWork& work, int asked) {
  if (work.source.device && *work.source.device != asked) return work.source.device;
  if (work.target.device && *work.target.device != asked) return work.target.device;
  return std::nullopt;
}

/// Without peer access a kernel cannot reach the other GPU, and copies go through the host.
void leave_out_unreachable(const Devices& devices, TransferPlan& plan, Recorder& recorder) {
  std::vector<Finding> pairs;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = *devices[i];
    const int asked = device.description().ordinal;
    for (const auto& other : devices) {
      const int peer = other->description().ordinal;
      if (peer == asked || device.can_access_peer(peer)) continue;
      pairs.emplace_back(FindingId::one_to_other, asked, peer);
    }
    std::erase_if(plan.alone[i], [&](const TransferWork& work) {
      const auto peer = peer_of(work, asked);
      return work.engine == TransferEngine::kernel && peer && !device.can_access_peer(*peer);
    });
  }
  if (!pairs.empty()) recorder.warn({FindingId::no_peer_access, pairs});
}

void measure_together(Devices& devices,
                      const std::vector<TransferWork>& works,
                      const Target& target,
                      DeviceWalk& walk,
                      Recorder& recorder) {
  std::vector<DeviceMeasured> answers(devices.size());
  const AtOnce done = run_at_once(devices.size(), [&](std::size_t i) {
    answers[i] = devices[i]->time_transfer(works[i], target);
  });
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string name = name_of(works[i]) + ", all GPUs at once";
    walk.ask(*devices[i], name, point_of(*devices[i], works[i], Pass::together, {}), [&] {
      if (done.failures[i]) std::rethrow_exception(done.failures[i]);
      recorder.add(point_of(*devices[i], works[i], Pass::together, answers[i]));
    });
  }
}
}  // namespace

std::vector<TransferWork> own_transfer_plan(const PlannedDevice& planned, int host_numa_nodes) {
  std::vector<TransferWork> works;
  const Endpoint gpu = end_of(planned);
  if (planned.part == Part::glance) {
    add_both_ways(host, gpu, TransferEngine::copy_engine, fitting(planned, glance_size), works);
    return works;
  }
  const Bytes size = fitting(planned, large_size);
  add_sizes(planned, works);
  for (int node = 0; host_numa_nodes > 1 && node < host_numa_nodes; ++node) {
    add_both_ways({.numa_node = node}, gpu, TransferEngine::copy_engine, size, works);
  }
  for (const auto engine : {TransferEngine::copy_engine, TransferEngine::kernel}) {
    works.push_back({gpu, gpu, engine, false, size});
  }
  in_random_order(works);
  return works;
}

std::vector<TransferWork> peer_transfer_plan(const std::vector<PlannedDevice>& planned,
                                             std::size_t index) {
  std::vector<TransferWork> works;
  const Endpoint own = end_of(planned[index]);
  for (std::size_t other = 0; other < planned.size(); ++other) {
    const bool in_full = planned[index].part == Part::full;
    const bool next = other == (index + 1) % planned.size();
    if (other == index || (planned[index].suite == Suite::quick && !in_full && !next)) continue;
    const Endpoint peer = end_of(planned[other]);
    const Bytes size =
        std::min(fitting(planned[index], large_size), fitting(planned[other], large_size));
    works.push_back({own, peer, TransferEngine::copy_engine, false, size});
    if (planned[index].suite == Suite::quick || !in_full) continue;
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
    into.push_back({host, end_of(device), TransferEngine::copy_engine, false, size});
    out.push_back({end_of(device), host, TransferEngine::copy_engine, false, size});
  }
  return {into, out};
}

void measure_device_transfer(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const auto planned = planned_devices(devices, setting);
  warn_of_glance(planned, "one large copy each way and to other GPUs", recorder);
  TransferPlan plan = plan_of(planned, setting.host_numa_nodes);
  leave_out_unreachable(devices, plan, recorder);
  const Target target = target_of(transfer_pace(setting.suite));
  DeviceWalk walk(recorder, plan.settings());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (const TransferWork& work : plan.alone[i]) {
      walk.ask(*devices[i], name_of(work), point_of(*devices[i], work, Pass::alone, {}), [&] {
        recorder.add(
            point_of(*devices[i], work, Pass::alone, devices[i]->time_transfer(work, target)));
      });
    }
  }
  for (const auto& works : plan.together) measure_together(devices, works, target, walk, recorder);
  for (const auto& device : devices) walk.release(*device);
  walk.finish();
}

Seconds estimate_device_transfer(const DeviceSetting& setting) {
  const auto planned = planned_devices(setting);
  const TransferPlan plan = plan_of(planned, setting.host_numa_nodes);
  const Pace pace = transfer_pace(setting.suite);
  const auto time_of = [&](const TransferWork& work, const PlannedDevice& asked) {
    return device_setting_time(pace, presumed_transfer_time(work, asked.description)) +
           transfer_preparation(work);
  };
  Seconds total{};
  for (std::size_t i = 0; i < planned.size(); ++i) {
    for (const TransferWork& work : plan.alone[i]) total += time_of(work, planned[i]);
  }
  for (const auto& works : plan.together) total += time_of(works.front(), planned.front());
  return total;
}
}  // namespace scaleworth::probes
