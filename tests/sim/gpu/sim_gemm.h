// SPDX-License-Identifier: Apache-2.0
/// Matrix products of a simulated GPU whose best algorithm, clocks and tile quantisation are known.
#pragma once

#include "probes/gpu/device.h"
#include "tests/sim/sim_noise.h"

#include <memory>
#include <set>

namespace scaleworth::sim {

/// Seconds of busy time after which the clock has fallen from `burst_hz` to `settled_hz` by all but
/// 1/e.
struct ClockTruth {
  double burst_hz = 1980e6;
  double settled_hz = 1500e6;
  double time_constant_s = 0.4;
  double normal_share = 0.95;  // of `settled_hz`, with normal operands
};

struct GemmTruth {
  double flops_per_clock = 4096;  // per multiprocessor, in every format
  ClockTruth clock;
  int algorithms = 40;
  int best_algorithm = 5;         // heuristic rank
  double best_efficiency = 0.85;  // of the tensor cores, beside wave quantisation
  double efficiency_step = 0.01;  // lost per rank away from the best one
  int wrong_algorithm = 3;        // 3 % faster than the best, and wrong; -1: none
  int too_fast_algorithm = 7;     // its clock readings are off: twice the peak; -1: none
  int breaking_algorithm = 9;     // throws when it is timed; -1: none
  double start_k = 400;           // k at which filling the pipeline costs half the rate
  double long_k = 30000;          // k at which the caches cost half the rate
  std::set<NumberFormat> unsupported;
  NoiseTruth noise{.relative_sigma = 0.001, .outlier_share = 0.0};
};

/// How busy a simulated GPU has been; shared by its sessions.
struct GpuUse {
  double elapsed_s = 0.0;  // since the beginning, preparations included
  double heat_s = 0.0;     // busy time that the clock still feels
  int opened = 0;          // sessions
  int questions = 0;       // answered
};

/// A wave of 128 x 256 tiles over the multiprocessors takes the same time whether full or not.
class SimGemmSession final : public probes::GemmSession {
 public:
  SimGemmSession(const probes::DeviceDescription& device,
                 const probes::GemmProblem& problem,
                 const GemmTruth& truth,
                 std::shared_ptr<GpuUse> use);

  std::vector<probes::GemmCandidate> candidates(int wanted, Bytes workspace) override;
  void verify(const probes::GemmCandidate& candidate) override;
  probes::DeviceMeasured time(const probes::GemmCandidate& candidate,
                              const probes::GemmPace& pace) override;
  void fill(OperandData data) override { data_ = data; }

 private:
  double clock_hz() const;

  probes::DeviceDescription device_;
  probes::GemmProblem problem_;
  GemmTruth truth_;
  std::shared_ptr<GpuUse> use_;
  Noise noise_;
  std::set<int> loaded_;
  OperandData data_ = OperandData::uniform;
};

/// Of one product with the algorithm of that rank at that clock, without noise.
double true_gemm_time(const probes::DeviceDescription& device,
                      const probes::GemmProblem& problem,
                      const GemmTruth& truth,
                      int rank,
                      double clock_hz);

}  // namespace scaleworth::sim
