// SPDX-License-Identifier: Apache-2.0
/// One GPU that answers the questions of probes/gpu/device.h.
#pragma once

#include "cuda/device/workbench.h"
#include "cuda/gemm/session/gemm_library.h"
#include "cuda/gemm/session/ground.h"
#include "cuda/runtime/device_health.h"
#include "cuda/telemetry/telemetry_source.h"
#include "probes/gpu/device.h"

#include <functional>
#include <memory>
#include <string>

namespace scaleworth::gpu {

/// Makes a context on its GPU with the first question, not before. Once the GPU is lost every
/// question fails at once.
class CudaDevice : public probes::Device {
 public:
  /// `telemetry` is read while a question is answered; `products` is shared by all GPUs.
  CudaDevice(probes::DeviceDescription description,
             std::shared_ptr<TelemetrySource> telemetry,
             std::shared_ptr<GemmLibrary> products);
  ~CudaDevice() override;

  const probes::DeviceDescription& description() const override { return description_; }
  Bytes available_memory() const override;
  probes::DeviceMeasured time_fma(const probes::DeviceFma& work,
                                  const probes::Target& target) override;
  probes::DeviceMeasured time_stream(const probes::StreamWork& work,
                                     const probes::Target& target) override;
  probes::DeviceMeasured time_chase(const probes::ChaseWork& work,
                                    const probes::Target& target) override;
  probes::DeviceMeasured time_ladder(const probes::LadderWork& work,
                                     const probes::Target& target) override;
  probes::DeviceMeasured time_transfer(const probes::TransferWork& work,
                                       const probes::Target& target) override;
  probes::DeviceMeasured time_launch(probes::LaunchKind kind,
                                     const probes::Target& target) override;
  Outcome<std::string> gemm_library() override;
  std::unique_ptr<probes::GemmSession> open_gemm(const probes::GemmProblem& problem) override;
  bool can_access_peer(int ordinal) const override;

 private:
  using Question = std::function<probes::DeviceMeasured(Workbench& bench)>;
  /// Answers with this GPU current; failed calls become ProbeFailure that say what was being done.
  probes::DeviceMeasured ask(const std::string& doing, const Question& question);
  /// Runs `action` with this GPU current and the workbench there; failures as in `ask`.
  void prepared(const std::string& doing, const std::function<void()>& action);

  probes::DeviceDescription description_;
  std::shared_ptr<TelemetrySource> telemetry_;
  mutable DeviceHealth health_;
  std::unique_ptr<Workbench> bench_;
  std::shared_ptr<GemmLibrary> products_;
  LtHandle product_handle_;
};

}  // namespace scaleworth::gpu
