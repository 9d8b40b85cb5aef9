// SPDX-License-Identifier: Apache-2.0
/// The printed names of the enumerations in machine.h and ranks.h, in the order of each.
#include "probes/machine.h"

#include "probes/ranks.h"

#include <cmath>

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

double element_bytes(Precision precision) {
  return precision == Precision::fp32 ? sizeof(float) : sizeof(double);
}

Flops gemm_flops(const GemmWork& work) {
  const double c_elements =
      static_cast<double>(work.m) * static_cast<double>(work.n) * static_cast<double>(work.batch);
  return Flops(2.0 * c_elements * static_cast<double>(work.k));
}

Bytes gemm_footprint(const GemmWork& work) {
  const double m = static_cast<double>(work.m);
  const double n = static_cast<double>(work.n);
  const double k = static_cast<double>(work.k);
  return Bytes((m * k + k * n + m * n) * element_bytes(work.precision) *
               static_cast<double>(work.batch));
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

std::int64_t whole_bytes(Bytes bytes) {
  return std::llround(bytes.value());
}
}  // namespace scaleworth::probes
