// SPDX-License-Identifier: Apache-2.0
/// Everything there is to know about a simulated GPU.
#pragma once

#include "probes/gpu/device.h"
#include "probes/gpu/numbers.h"
#include "src/core/catalogue.h"
#include "tests/sim/gpu/sim_gemm.h"
#include "tests/sim/sim_noise.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace scaleworth::sim {

/// The variant that is fastest, and what each property that differs from it costs.
struct VariantTruth {
  StreamVariant best;
  double loss_per_difference = 0.03;
};

struct LinkRates {
  double alpha_s = 8e-6;
  double pinned = 52e9;  // B/s, one direction
  double pageable = 9e9;
  double peer = 370e9;
  double kernel_share = 0.9;     // of the copy engine's rate
  double both_directions = 1.8;  // rate of both together over that of one
  double far_node_share = 0.8;   // host memory on another NUMA node
  bool peer_access = true;
  int pcie_generation = 5;  // of a x16 link
};

/// What goes wrong, and when.
struct FaultTruth {
  std::optional<Bytes> out_of_memory_above;              // of one question's buffers
  std::optional<Bytes> collectives_out_of_memory_above;  // of one rank's buffers
  std::optional<int> lost_after;  // questions answered before the GPU is lost
  std::set<int> wrong_results;    // numbers of questions, from 1, whose result is wrong
  double slow_factor = 1.0;       // of the clock, by the power cap when below 1
};

struct GpuTruth {
  probes::DeviceDescription description;
  double clock_hz = 1.7e9;                    // under load
  std::map<NumberFormat, double> cuda_cores;  // FLOP per clock and multiprocessor
  std::map<NumberFormat, double> tensor_cores;
  double l2_bytes_per_clock = 4200.0;  // all
  double memory_bytes_per_s = 3.0e12;
  std::map<MemoryKernel, double> kernel_share{{MemoryKernel::read, 1.0},
                                              {MemoryKernel::write, 0.97},
                                              {MemoryKernel::copy, 0.94},
                                              {MemoryKernel::triad, 0.92}};
  VariantTruth in_cache{{StreamGrid::persistent, 1024, 4, false}};
  VariantTruth in_memory{{StreamGrid::one_shot, 512, 4, false}};
  double l1_clocks = 33.0;  // latency
  double l2_clocks = 270.0;
  double memory_latency_s = 400e-9;
  LinkRates link;
  GemmTruth gemm;  // rates and clocks are taken from above
  std::map<LaunchKind, double> launch_s{{LaunchKind::empty_kernel, 2.2e-6},
                                        {LaunchKind::graph_node, 1.3e-6},
                                        {LaunchKind::synchronise, 9e-6}};
  double power_limit_w = 700.0;
  double power_w = 520.0;
  double temperature_c = 61.0;
  FaultTruth fault;
  NoiseTruth noise{.relative_sigma = 0.003, .outlier_share = 0.005, .outlier_factor = 1.3};
};

/// A GPU that reaches what its datasheet promises in registers and nine tenths of its bandwidth.
GpuTruth truth_of(const GpuDatasheet& datasheet, int ordinal);

/// 132 multiprocessors, 50 MiB of L2 and 80 GiB: the catalogue's h100-sxm-80gb.
GpuTruth h100_truth(int ordinal = 0);

}  // namespace scaleworth::sim
