// SPDX-License-Identifier: Apache-2.0
/// The printed names of the settings in work.h and telemetry.h.
#include "probes/gpu/device.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::probes {
const char* stream_scope_name(StreamScope scope) {
  switch (scope) {
    case StreamScope::device:
      return "device";
    case StreamScope::multiprocessor:
      return "multiprocessor";
    case StreamScope::shared:
      return "shared";
  }
  return "unknown";
}

const char* stream_grid_name(StreamGrid grid) {
  return grid == StreamGrid::persistent ? "persistent" : "one shot";
}

std::string stream_variant_name(const StreamVariant& variant) {
  return fmt::format("{}, {} threads, {} at once{}",
                     stream_grid_name(variant.grid),
                     variant.block_threads,
                     variant.unroll,
                     variant.streaming ? ", streaming" : "");
}

const char* transfer_engine_name(TransferEngine engine) {
  return engine == TransferEngine::copy_engine ? "copy engine" : "kernel";
}

std::string endpoint_name(const Endpoint& endpoint) {
  if (endpoint.device) return fmt::format("gpu {}", *endpoint.device);
  const char* kind = endpoint.pinned ? "pinned" : "pageable";
  if (endpoint.numa_node) return fmt::format("host ({}, node {})", kind, *endpoint.numa_node);
  return fmt::format("host ({})", kind);
}

const char* launch_kind_name(LaunchKind kind) {
  switch (kind) {
    case LaunchKind::empty_kernel:
      return "empty kernel";
    case LaunchKind::graph_node:
      return "graph node";
    case LaunchKind::synchronise:
      return "launch and wait";
  }
  return "unknown";
}

const char* gemm_regime_name(GemmRegime regime) {
  return regime == GemmRegime::gap_free ? "gap-free" : "duty-cycled";
}

std::vector<std::string> clock_event_reason_names(std::int64_t mask) {
  // NVML API reference, nvmlClocksEventReasons.
  static constexpr std::array<std::pair<std::int64_t, const char*>, 9> known{
      {{0x1, "idle"},
       {0x2, "application clocks"},
       {0x4, "power cap"},
       {0x8, "hardware slowdown"},
       {0x10, "sync boost"},
       {0x20, "thermal, software"},
       {0x40, "thermal, hardware"},
       {0x80, "power brake"},
       {0x100, "display clocks"}}};
  std::vector<std::string> names;
  for (const auto& [bit, name] : known) {
    if ((mask & bit) != 0) names.emplace_back(name);
    mask &= ~bit;
  }
  if (mask != 0) names.push_back(fmt::format("reason {:#x}", mask));
  return names;
}
}  // namespace scaleworth::probes
