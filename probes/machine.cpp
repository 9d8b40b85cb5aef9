// SPDX-License-Identifier: Apache-2.0
/// The printed names of the enumerations in machine.h and ranks.h, in the order of each.
#include "probes/machine.h"

#include "probes/ranks.h"
#include "src/core/error.h"

#include <array>

namespace scaleworth::probes {
namespace {
template <class Names, class Enumeration>
const char* name_of(const Names& names, Enumeration value) {
  return names.at(static_cast<std::size_t>(value));
}
}  // namespace

const char* precision_name(Precision precision) {
  return name_of(std::array{"fp32", "fp64"}, precision);
}

const char* memory_kernel_name(MemoryKernel kernel) {
  return name_of(std::array{"read", "write", "copy", "triad"}, kernel);
}

const char* collective_name(Collective collective) {
  return name_of(std::array{"all_reduce",
                            "all_gather",
                            "reduce_scatter",
                            "all_to_all",
                            "broadcast",
                            "send_receive",
                            "reduce",
                            "gather",
                            "scatter"},
                 collective);
}

const char* collective_mode_name(CollectiveMode mode) {
  return name_of(std::array{"isolated", "back_to_back", "graph"}, mode);
}

const char* link_kind_name(LinkKind kind) {
  return name_of(
      std::array{"same GPU", "NVLink", "PCIe peer", "through host", "network", "unknown link"},
      kind);
}

std::string require_library(const Outcome<std::string>& library) {
  if (const auto* skipped = std::get_if<Skipped>(&library)) throw NothingToMeasure(skipped->reason);
  if (const auto* failed = std::get_if<Failed>(&library)) throw ProbeFailure(failed->reason);
  return std::get<std::string>(library);
}
}  // namespace scaleworth::probes
