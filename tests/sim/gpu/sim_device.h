// SPDX-License-Identifier: Apache-2.0
/// A GPU whose every property is known, to check that the tool finds them.
#pragma once

#include "probes/gpu/batching.h"
#include "probes/gpu/device.h"
#include "tests/sim/gpu/gpu_truth.h"
#include "tests/sim/gpu/sim_gemm.h"
#include "tests/sim/sim_noise.h"

#include <memory>
#include <string>

namespace scaleworth::sim {

/// Answers at once; sampling is that of real devices, on a simulated clock that `elapsed` reads. A
/// working set between one and two capacities hits in proportion, so that borders are ramps.
class SimDevice final : public probes::Device {
 public:
  explicit SimDevice(GpuTruth truth) : truth_(std::move(truth)), noise_(truth_.noise) {}

  const probes::DeviceDescription& description() const override { return truth_.description; }
  Bytes available_memory() const override;
  probes::DeviceMeasured time_fma(NumberFormat format, const probes::Target& target) override;
  probes::DeviceMeasured time_stream(const probes::StreamWork& work,
                                     const probes::Target& target) override;
  probes::DeviceMeasured time_chase(const probes::ChaseWork& work,
                                    const probes::Target& target) override;
  probes::DeviceMeasured time_transfer(const probes::TransferWork& work,
                                       const probes::Target& target) override;
  probes::DeviceMeasured time_launch(LaunchKind kind, const probes::Target& target) override;
  Outcome<std::string> gemm_library() override;
  std::unique_ptr<probes::GemmSession> open_gemm(const probes::GemmProblem& problem) override;
  bool can_access_peer(int ordinal) const override;

  const GpuTruth& truth() const { return truth_; }
  /// Time that a real GPU would have taken for all answers so far.
  Seconds elapsed() const { return Seconds(use_->elapsed_s); }
  /// FLOP/s of one format, bytes/s and seconds per load of a working set.
  double peak(NumberFormat format, bool tensor) const;
  double bandwidth(const probes::StreamWork& work) const;
  double latency(const probes::ChaseWork& work) const;

 private:
  double clock_hz() const { return truth_.clock_hz * truth_.fault.slow_factor; }
  double variant_share(const probes::StreamWork& work) const;
  double transfer_rate(const probes::TransferWork& work) const;
  Bytes capacity() const { return 0.97 * truth_.description.memory; }
  /// Throws when the GPU is lost or `buffers` do not fit.
  void begin_question(Bytes buffers);
  /// Samples of an operation that truly takes `operation_s`; `operations` in one repetition.
  probes::DeviceMeasured timed(double operation_s,
                               const probes::Target& target,
                               double operations = 1.0);

  GpuTruth truth_;
  Noise noise_;
  std::shared_ptr<GpuUse> use_ = std::make_shared<GpuUse>();
};

}  // namespace scaleworth::sim
