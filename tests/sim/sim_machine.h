// SPDX-License-Identifier: Apache-2.0
/// A node whose every property is known, to check that the tool finds them.
#pragma once

#include "probes/machine.h"
#include "tests/sim/sim_noise.h"

#include <limits>
#include <string>
#include <vector>

namespace scaleworth::sim {

/// One level of the memory hierarchy; bandwidth and latency are those of each worker.
struct LevelTruth {
  std::string label;
  double capacity_bytes = std::numeric_limits<double>::infinity();
  double bytes_per_second = 0.0;  // per worker, real bytes
  double latency_s = 0.0;
  bool shared = false;  // the capacity is divided among the workers
};

struct MachineTruth {
  int workers = 2;
  double fp64_flops = 50e9;       // FLOP/s per worker; fp32 is twice that
  double narrow_isa_share = 0.5;  // of the peak that the narrower instruction set reaches
  std::vector<LevelTruth> levels{{"L1", 48e3, 300e9, 1.1e-9},
                                 {"L2", 1e6, 120e9, 3.5e-9},
                                 {"L3", 16e6, 50e9, 12e-9, true},
                                 {"memory", std::numeric_limits<double>::infinity(), 15e9, 95e-9}};
  double sharpness = 3.0;        // p of the soft roof
  double gemm_efficiency = 0.9;  // of the soft roof at the GEMM's intensity
  double cpu_share = 1.0;        // of the wall time that the workers' threads get
  NoiseTruth noise;
};

/// A working set between one and two capacities hits in proportion, so that level
/// borders are ramps as on real machines. Stores that go through the caches read their lines first.
class SimMachine final : public probes::Machine {
 public:
  explicit SimMachine(MachineTruth truth) : truth_(std::move(truth)), noise_(truth_.noise) {}

  std::string name() const override { return "sim"; }
  std::vector<FactSection> facts() const override;
  int workers() const override { return truth_.workers; }
  Bytes available_memory() const override { return Bytes(64e9); }
  Bytes last_cache() const override;
  std::vector<std::string> isas() const override { return {"avx2", "avx512"}; }

  probes::Measured time_fma(const probes::FmaWork& work, const probes::Target& target) override;
  probes::Measured time_memory(const probes::MemoryWork& work,
                               const probes::Target& target) override;
  probes::Measured time_latency(const probes::LatencyWork& work,
                                const probes::Target& target) override;
  Outcome<std::string> gemm_library() override { return std::string("sim blas"); }
  probes::Measured time_gemm(const probes::GemmWork& work, const probes::Target& target) override;

  /// The truth at a working set per worker, for one of `workers`.
  double bandwidth(Bytes working_set, int workers) const;
  double latency(Bytes working_set) const;
  /// Peak of one worker with the widest instruction set, FLOP/s.
  double peak(NumberFormat precision) const;

 private:
  probes::Measured timed(double seconds, int workers, const probes::Target& target);
  /// Of accesses to level i, for each level: the share that is served there.
  std::vector<double> served(Bytes working_set, int workers) const;
  double soft_roof(double peak, double bandwidth, double intensity) const;

  MachineTruth truth_;
  Noise noise_;
};

}  // namespace scaleworth::sim
