// SPDX-License-Identifier: Apache-2.0
#include "probes/at_once.h"
#include "probes/gpu/point.h"
#include "probes/gpu/roofline/probes.h"
#include "probes/gpu/roofline/transfer_plan.h"
#include "probes/gpu/roofline/walk.h"
#include "src/core/run/fields.h"

#include <cmath>
#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::probes {
namespace {

std::string name_of(const TransferWork& work) {
  return fmt::format("{} {} {} to {}, {}",
                     size_name(work.bytes),
                     work.both_directions ? "both ways," : "from",
                     endpoint_name(work.source),
                     endpoint_name(work.target),
                     transfer_engine_name(work.engine));
}

Point point_of(const Device& device,
               const TransferWork& work,
               const char* pass,
               const DeviceMeasured& measured) {
  return device_point(device.description().ordinal,
                      {{fields::source, endpoint_name(work.source)},
                       {fields::target, endpoint_name(work.target)},
                       {fields::engine, std::string(transfer_engine_name(work.engine))},
                       {fields::both_directions, work.both_directions},
                       {fields::pass, std::string(pass)},
                       {fields::transfer_bytes, std::int64_t{std::llround(work.bytes.value())}}},
                      measured);
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
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = *devices[i];
    const int asked = device.description().ordinal;
    for (const auto& other : devices) {
      const int peer = other->description().ordinal;
      if (peer == asked || device.can_access_peer(peer)) continue;
      pairs.push_back(fmt::format("{} to {}", asked, peer));
    }
    std::erase_if(plan.alone[i], [&](const TransferWork& work) {
      const auto peer = peer_of(work, asked);
      return work.engine == TransferEngine::kernel && peer && !device.can_access_peer(*peer);
    });
  }
  if (pairs.empty()) return;
  recorder.warn(fmt::format(
      "no peer access from GPU {}: copies between them go through the host's memory, kernels "
      "cannot reach the other's; virtual machines and PCIe access control (ACS) are common causes",
      fmt::join(pairs, ", ")));
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
    walk.ask(*devices[i], name_of(works[i]) + ", all GPUs at once", [&] {
      if (done.failures[i]) std::rethrow_exception(done.failures[i]);
      recorder.add(point_of(*devices[i], works[i], "together", answers[i]));
    });
  }
}

}  // namespace

void measure_device_transfer(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const auto planned = planned_devices(devices, setting);
  warn_of_glance(planned, "the copy from each to each", recorder);
  TransferPlan plan = plan_of(planned, setting.host_numa_nodes);
  leave_out_unreachable(devices, plan, recorder);
  const Target target = target_of(transfer_pace(setting.suite));
  DeviceWalk walk(recorder, plan.settings());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (const TransferWork& work : plan.alone[i]) {
      walk.ask(*devices[i], name_of(work), [&] {
        recorder.add(point_of(*devices[i], work, "alone", devices[i]->time_transfer(work, target)));
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
  Seconds total{};
  for (std::size_t i = 0; i < planned.size(); ++i) {
    for (const TransferWork& work : plan.alone[i]) {
      const DeviceDescription& asked = planned[i].description;
      total += device_setting_time(pace, presumed_transfer_time(work, asked)) +
               transfer_preparation(work);
    }
  }
  for (const auto& works : plan.together) {
    const DeviceDescription& asked = planned.front().description;
    total += device_setting_time(pace, presumed_transfer_time(works.front(), asked)) +
             transfer_preparation(works.front());
  }
  return total;
}

}  // namespace scaleworth::probes
