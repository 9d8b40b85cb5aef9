// SPDX-License-Identifier: Apache-2.0
/// The printed names of the settings in device.h.
#include "probes/gpu/device.h"

#include <array>

namespace scaleworth::probes {
const char* stream_scope_name(StreamScope scope) {
  // In the order of the enumeration.
  return std::array{"device", "multiprocessor", "shared"}.at(static_cast<std::size_t>(scope));
}

std::string stream_variant_name(const StreamVariant& variant) {
  return fmt::format("{}, {} threads, {} at once{}",
                     variant.grid == StreamGrid::persistent ? "persistent" : "one shot",
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
  // In the order of the enumeration.
  return std::array{"empty kernel", "graph node", "launch and wait"}.at(
      static_cast<std::size_t>(kind));
}

const char* operand_data_name(OperandData data) {
  if (data == OperandData::uniform) return "uniform";
  return data == OperandData::normal ? "normal" : "zero";
}
}  // namespace scaleworth::probes
