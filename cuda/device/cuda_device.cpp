// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/cuda_device.h"

#include "cuda/device/questions/questions.h"
#include "cuda/gemm/session/gemm_session.h"
#include "cuda/libraries/open/library_error.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::gpu {

using probes::DeviceMeasured;
using probes::Target;

CudaDevice::CudaDevice(probes::DeviceDescription description,
                       std::shared_ptr<TelemetrySource> telemetry,
                       std::shared_ptr<GemmLibrary> products)
    : description_(std::move(description)),
      telemetry_(std::move(telemetry)),
      health_(description_.ordinal),
      products_(std::move(products)) {}

CudaDevice::~CudaDevice() = default;

DeviceMeasured CudaDevice::ask(const std::string& doing, const Question& question) {
  DeviceMeasured measured;
  prepared(doing, [&] {
    measured = question(*bench_);
    bench_->finished();
  });
  return measured;
}

void CudaDevice::prepared(const std::string& doing, const std::function<void()>& action) {
  health_.require();
  try {
    check(cudaSetDevice(description_.ordinal));
    if (!bench_) bench_ = std::make_unique<Workbench>(description_, health_, telemetry_);
    action();
  } catch (const Error& error) {
    throw_failure(health_, doing, error.status(), error.what());
  } catch (const LibraryError& error) {
    throw ProbeFailure(
        fmt::format("GPU {}: {} failed: {}", description_.ordinal, doing, error.what()));
  }
}

Bytes CudaDevice::available_memory() const {
  health_.require();
  try {
    check(cudaSetDevice(description_.ordinal));
    std::size_t available = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&available, &total));
    // The driver allocates in pieces of 2 MiB and keeps some for itself.
    constexpr double kept = 256.0 * 1048576.0;
    return Bytes(std::max(0.0, static_cast<double>(available) - kept));
  } catch (const Error& error) {
    throw_failure(health_, "asking for free memory", error.status(), error.what());
  }
}

DeviceMeasured CudaDevice::time_fma(const probes::DeviceFma& work, const Target& target) {
  return ask("multiply-adds in registers", [&](Workbench& bench) {
    return work.tensor ? time_tensor_cores(bench, work.format, target)
                       : time_cuda_cores(bench, work.format, target);
  });
}

DeviceMeasured CudaDevice::time_stream(const probes::StreamWork& work, const Target& target) {
  return ask(
      fmt::format("{} of {:.0f} bytes", memory_kernel_name(work.kernel), work.working_set.value()),
      [&](Workbench& bench) {
        return work.scope == probes::StreamScope::device
                   ? time_device_stream(bench, work, target)
                   : time_multiprocessor_read(bench, work, target);
      });
}

DeviceMeasured CudaDevice::time_chase(const probes::ChaseWork& work, const Target& target) {
  return ask(fmt::format("a chain of loads through {:.0f} bytes", work.working_set.value()),
             [&](Workbench& bench) { return gpu::time_chase(bench, work, target); });
}

DeviceMeasured CudaDevice::time_ladder(const probes::LadderWork& work, const Target& target) {
  return ask(fmt::format("{} multiply-adds per element over {:.0f} bytes",
                         work.fma_per_element,
                         work.working_set.value()),
             [&](Workbench& bench) { return gpu::time_ladder(bench, work, target); });
}

DeviceMeasured CudaDevice::time_transfer(const probes::TransferWork& work, const Target& target) {
  return ask(fmt::format("moving {:.0f} bytes from {} to {}",
                         work.bytes.value(),
                         endpoint_name(work.source),
                         endpoint_name(work.target)),
             [&](Workbench& bench) { return gpu::time_transfer(bench, work, target); });
}

DeviceMeasured CudaDevice::time_launch(probes::LaunchKind kind, const Target& target) {
  return ask(fmt::format("launching ({})", launch_kind_name(kind)),
             [&](Workbench& bench) { return gpu::time_launch(bench, kind, target); });
}

Outcome<std::string> CudaDevice::gemm_library() {
  return products_->description();
}

std::unique_ptr<probes::GemmSession> CudaDevice::open_gemm(const probes::GemmProblem& problem) {
  const Outcome<GemmLibrary::Table> opened = products_->table();
  if (const auto* skipped = std::get_if<Skipped>(&opened)) throw NothingToMeasure(skipped->reason);
  if (const auto* failed = std::get_if<Failed>(&opened)) throw ProbeFailure(failed->reason);
  const auto& library = std::get<GemmLibrary::Table>(opened);
  prepared("preparing matrix products", [&] {
    if (!product_handle_) product_handle_ = make_lt_handle(library);
  });
  return open_gemm_session({description_,
                            health_,
                            bench_->timer(),
                            bench_->stream(),
                            library,
                            product_handle_.get(),
                            telemetry_},
                           problem);
}

bool CudaDevice::can_access_peer(int ordinal) const {
  if (ordinal == description_.ordinal) return true;
  int possible = 0;
  const cudaError_t status = cudaDeviceCanAccessPeer(&possible, description_.ordinal, ordinal);
  if (status != cudaSuccess) cudaGetLastError();
  return status == cudaSuccess && possible != 0;
}

}  // namespace scaleworth::gpu
