// SPDX-License-Identifier: Apache-2.0
/// The printed names of the enumerations in machine.h and ranks.h.
#include "probes/machine.h"

#include "probes/ranks.h"

namespace scaleworth::probes {
const char* precision_name(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : "fp64";
}

const char* memory_kernel_name(MemoryKernel kernel) {
  switch (kernel) {
    case MemoryKernel::read:
      return "read";
    case MemoryKernel::write:
      return "write";
    case MemoryKernel::copy:
      return "copy";
    case MemoryKernel::triad:
      return "triad";
  }
  return "unknown";
}

const char* collective_name(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::all_gather:
      return "all_gather";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::broadcast:
      return "broadcast";
    case Collective::send_receive:
      return "send_receive";
    case Collective::reduce:
      return "reduce";
    case Collective::gather:
      return "gather";
    case Collective::scatter:
      return "scatter";
  }
  return "unknown";
}

const char* collective_mode_name(CollectiveMode mode) {
  switch (mode) {
    case CollectiveMode::isolated:
      return "isolated";
    case CollectiveMode::back_to_back:
      return "back_to_back";
    case CollectiveMode::graph:
      return "graph";
  }
  return "unknown";
}

const char* link_kind_name(LinkKind kind) {
  switch (kind) {
    case LinkKind::same_gpu:
      return "same GPU";
    case LinkKind::nvlink:
      return "NVLink";
    case LinkKind::peer:
      return "PCIe peer";
    case LinkKind::through_host:
      return "through host";
    case LinkKind::network:
      return "network";
    case LinkKind::unknown:
      break;
  }
  return "unknown link";
}
}  // namespace scaleworth::probes
