// SPDX-License-Identifier: Apache-2.0
/// A simulated GPU that answers questions about matrix products only.
#pragma once

#include "probes/gpu/gemm.h"
#include "src/core/error.h"
#include "tests/sim/gpu/sim_gemm.h"

#include <memory>
#include <string>
#include <utility>

namespace scaleworth::sim {

class GemmDevice final : public probes::Device {
 public:
  GemmDevice(probes::DeviceDescription description, GemmTruth truth)
      : description_(std::move(description)), truth_(std::move(truth)) {}

  GpuUse& use() { return *use_; }
  const probes::DeviceDescription& description() const override { return description_; }
  Bytes available_memory() const override { return description_.memory; }
  Outcome<std::string> gemm_library() override { return std::string("sim library 1.0"); }
  std::unique_ptr<probes::GemmSession> open_gemm(const probes::GemmProblem& problem) override {
    // The truth is that of bf16; other formats as the hardware's.
    const auto flops = [&](NumberFormat format) {
      return probes::flops_per_clock(format, description_.compute_capability);
    };
    const auto bf16 = flops(NumberFormat::bf16);
    GemmTruth truth = truth_;
    if (bf16) truth.flops_per_clock *= flops(problem.input).value_or(*bf16) / *bf16;
    return std::make_unique<SimGemmSession>(description_, problem, truth, use_);
  }
  bool can_access_peer(int) const override { return false; }

  probes::DeviceMeasured time_fma(NumberFormat, const probes::Target&) override { return absent(); }
  probes::DeviceMeasured time_stream(const probes::StreamWork&, const probes::Target&) override {
    return absent();
  }
  probes::DeviceMeasured time_chase(const probes::ChaseWork&, const probes::Target&) override {
    return absent();
  }
  probes::DeviceMeasured time_transfer(const probes::TransferWork&,
                                       const probes::Target&) override {
    return absent();
  }
  probes::DeviceMeasured time_launch(LaunchKind, const probes::Target&) override {
    return absent();
  }

 private:
  static probes::DeviceMeasured absent() { throw NothingToMeasure("products only"); }

  probes::DeviceDescription description_;
  GemmTruth truth_;
  std::shared_ptr<GpuUse> use_ = std::make_shared<GpuUse>();
};

}  // namespace scaleworth::sim
