// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/cuda_device.h"

#include "cuda/device/gpu_facts.h"
#include "cuda/device/questions.h"
#include "cuda/gemm/gemm_session.h"
#include "cuda/kernels/loading.h"
#include "cuda/libraries/library.h"
#include "cuda/libraries/nvml.h"
#include "probes/gpu/registry.h"
#include "src/core/error.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

namespace scaleworth::gpu {
namespace {

/// One GPU that answers the questions of probes/gpu/device.h. Makes a context on its GPU with the
/// first question, not before. Once the GPU is lost every question fails at once.
class CudaDevice : public Device {
 public:
  /// `telemetry` is read while a question is answered; `products` is shared by all GPUs.
  CudaDevice(DeviceDescription description,
             std::shared_ptr<TelemetrySource> telemetry,
             std::shared_ptr<GemmLibrary> products)
      : description_(std::move(description)),
        telemetry_(std::move(telemetry)),
        health_(description_.ordinal),
        products_(std::move(products)) {}

  const DeviceDescription& description() const override { return description_; }

  void prepare() override {
    prepared("loading this program's kernels", [&] {
      if (!std::exchange(kernels_loaded_, true)) check(load_kernels());
    });
  }

  Bytes available_memory() const override {
    health_.require();
    try {
      check(cudaSetDevice(description_.ordinal));
      std::size_t available = 0;
      std::size_t total = 0;
      check(cudaMemGetInfo(&available, &total));
      // The driver allocates in pieces of 2 MiB and keeps some for itself.
      constexpr double kept = 256.0 * mebibyte;  // presumed
      return Bytes(std::max(0.0, static_cast<double>(available) - kept));
    } catch (const Error& error) {
      throw_failure(health_, "asking for free memory", error.status(), error.what());
    }
  }

  DeviceMeasured time_fma(NumberFormat format, const Target& target) override {
    return ask("multiply-adds in registers",
               [&](Workbench& bench) { return time_cuda_cores(bench, format, target); });
  }

  DeviceMeasured time_stream(const StreamWork& work, const Target& target) override {
    return ask(fmt::format("{} of {:.0f} bytes", key_of(work.kernel), work.working_set.value()),
               [&](Workbench& bench) { return time_device_stream(bench, work, target); });
  }

  DeviceMeasured time_chase(const ChaseWork& work, const Target& target) override {
    return ask(fmt::format("a chain of loads through {:.0f} bytes", work.working_set.value()),
               [&](Workbench& bench) { return gpu::time_chase(bench, work, target); });
  }

  DeviceMeasured time_transfer(const TransferWork& work, const Target& target) override {
    return ask(fmt::format("moving {:.0f} bytes from {} to {}",
                           work.bytes.value(),
                           word_of(place_of(work.source)),
                           word_of(place_of(work.target))),
               [&](Workbench& bench) { return gpu::time_transfer(bench, work, target); });
  }

  DeviceMeasured time_launch(LaunchKind kind, const Target& target) override {
    return ask(fmt::format("launching ({})", word_of(kind)),
               [&](Workbench& bench) { return gpu::time_launch(bench, kind, target); });
  }

  Outcome<std::string> gemm_library() override { return products_->description(); }

  std::unique_ptr<GemmSession> open_gemm(const GemmProblem& problem) override {
    const GemmLibrary::Table library = required(products_->table());
    prepared("preparing matrix products", [&] {
      if (!product_handle_) product_handle_ = make_lt_handle(library);
    });
    return open_gemm_session({*bench_, library, product_handle_.get()}, problem);
  }

  bool can_access_peer(int ordinal) const override {
    if (ordinal == description_.ordinal) return true;
    int possible = 0;
    const cudaError_t status = cudaDeviceCanAccessPeer(&possible, description_.ordinal, ordinal);
    if (status != cudaSuccess) cudaGetLastError();
    return status == cudaSuccess && possible != 0;
  }

 private:
  /// Answers with this GPU current; failed calls become ProbeFailure that say what was being done.
  DeviceMeasured ask(const std::string& doing,
                     const std::function<DeviceMeasured(Workbench& bench)>& question) {
    DeviceMeasured measured;
    prepared(doing, [&] {
      measured = question(*bench_);
      bench_->finished();
    });
    return measured;
  }

  /// Runs `action` with this GPU current and the workbench there; failures as in `ask`.
  void prepared(const std::string& doing, const std::function<void()>& action) {
    health_.require();
    try {
      check(cudaSetDevice(description_.ordinal));
      if (!bench_) bench_ = std::make_unique<Workbench>(description_, health_, telemetry_);
      action();
    } catch (const Error& error) {
      throw_failure(health_, doing, error.status(), error.what());
    } catch (const LibraryError& error) {
      throw ProbeFailure("GPU {}: {} failed: {}", description_.ordinal, doing, error.what());
    }
  }

  DeviceDescription description_;
  std::shared_ptr<TelemetrySource> telemetry_;
  mutable DeviceHealth health_;
  std::unique_ptr<Workbench> bench_;
  bool kernels_loaded_ = false;
  std::shared_ptr<GemmLibrary> products_;
  LtHandle product_handle_;
};

std::string visible_devices() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES={})", visible);
}

/// Why the GPU cannot be used; absent when it can, as far as is known without a context on it.
std::optional<std::string> refusal(int ordinal) {
  int mode = cudaComputeModeDefault;
  check(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, ordinal));
  if (mode == cudaComputeModeProhibited) {
    return fmt::format(
        "GPU {} is in compute mode 'prohibited': set the default mode (nvidia-smi -c 0), or leave "
        "it out by CUDA_VISIBLE_DEVICES",
        ordinal);
  }
  if (mode != cudaComputeModeExclusiveProcess) return std::nullopt;
  // Only a context shows whether another program holds it.
  const cudaError_t status = cudaSetDevice(ordinal);
  if (status == cudaSuccess) return std::nullopt;
  cudaGetLastError();
  return fmt::format(
      "GPU {} is in exclusive compute mode and another program holds it ({}): end that program, "
      "set the default mode (nvidia-smi -c 0), or leave it out by CUDA_VISIBLE_DEVICES",
      ordinal,
      cudaGetErrorString(status));
}
}  // namespace

Workbench::Workbench(const DeviceDescription& description,
                     DeviceHealth& health,
                     std::shared_ptr<TelemetrySource> telemetry)
    : description_(description),
      health_(health),
      telemetry_(std::move(telemetry)),
      timer_(health, stream_.get()) {}

BatchOptions Workbench::batch_options() const {
  // Presumed: shorter warms up for nothing, longer times a GPU at its idle clock.
  constexpr std::chrono::milliseconds idle_from{500};
  constexpr Seconds after_idle{0.3};  // of work until the clocks are up; presumed
  BatchOptions options;
  if (std::chrono::steady_clock::now() - finished_ > idle_from) options.warm_up = after_idle;
  return options;
}

int Workbench::passes_for(const std::function<BatchWork(int passes)>& work, int most) {
  timer_.run_once(work(1));
  BatchOptions options = batch_options();
  const bool idle = options.warm_up > BatchOptions{}.warm_up;
  if (!idle) options.warm_up = Seconds{};
  // A launch is then below 1 %, and the GPU's timer steps by 1 us at most.
  options.batch = Seconds{0.5e-3};
  options.maximum_repetitions = most;
  BatchFunction launch([&](int passes) { return timer_.time_once(work(passes), 1); });
  const int passes = calibrate_repetitions(launch, options);
  finished();  // the clocks are up: what follows needs not wait for them
  return passes;
}

std::variant<Skipped, Failed> explain_no_gpus(cudaError_t status,
                                              int driver,
                                              int runtime,
                                              const DriverSigns& signs) {
  if (status == cudaErrorStubLibrary) {
    return Failed{
        "libcuda.so.1 is the toolkit's stub, not a driver: take its folder out of "
        "LD_LIBRARY_PATH"};
  }
  // The signs name versions and files, of which the status says nothing.
  if (const auto why = obstacle(signs, first_driver(runtime / 1000))) {
    return Failed{*why};
  }
  switch (status) {
    case cudaErrorNoDevice: {
      const std::string reason = "the CUDA driver sees no GPU" + visible_devices();
      if (!signs.any()) return Skipped{reason};
      return Failed{fmt::format("{} (here is {}): see whether nvidia-smi -L lists one, and dmesg",
                                reason,
                                describe(signs))};
    }
    case cudaErrorInsufficientDriver:
      if (driver > 0) {
        return Failed{fmt::format(
            "the NVIDIA driver supports CUDA {} and this program needs {}: install driver {} or "
            "later",
            cuda_version_text(driver),
            cuda_version_text(runtime),
            first_driver(runtime / 1000))};
      }
      if (signs.any()) {
        return Failed{
            fmt::format("{} cannot be used (here is {}): install the driver's package again",
                        signs.library,
                        describe(signs))};
      }
      return Skipped{
          "no CUDA driver (libcuda.so.1) is installed here: install the NVIDIA driver, or start "
          "the container with --gpus all"};
    case cudaErrorOperatingSystem:
    case cudaErrorNotPermitted:
      return Failed{
          "this user may not open the GPUs: check the permissions of /dev/nvidia*, and in a "
          "container its device list"};
    case cudaErrorSystemNotReady:
      return Failed{"the GPUs' switches are not ready: start nvidia-fabricmanager and see its log"};
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return Failed{
          "the CUDA libraries do not fit the kernel's driver: reload the driver or reboot after "
          "its update"};
    default:
      return Failed{fmt::format(
          "CUDA cannot start ({}, code {}): see dmesg for Xid, and whether nvidia-smi works",
          cudaGetErrorString(status),
          static_cast<int>(status))};
  }
}

std::optional<std::string> launches_block() {
  const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (value == nullptr || *value == '\0' || std::string_view(value) == "0") return std::nullopt;
  return fmt::format(
      "CUDA_LAUNCH_BLOCKING={} makes every launch wait for its kernel, so that nothing runs at the "
      "same time on a GPU: what is measured would hang, or be no figure of the machine; unset it",
      value);
}

Outcome<int> count_gpus() {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  if (status == cudaSuccess) status = cudaErrorNoDevice;
  cudaGetLastError();
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  const DriverSigns signs = read_driver_signs(environment_variables(), loaded_driver());
  return std::visit([](auto&& reason) -> Outcome<int> { return reason; },
                    explain_no_gpus(status, driver, CUDART_VERSION, signs));
}
}  // namespace scaleworth::gpu

namespace scaleworth::probes {
Outcome<Devices> open_devices(const VendorPaths& paths) {
  return and_then(gpu::count_gpus(), [&](int count) -> Outcome<Devices> {
    if (const auto reason = gpu::launches_block()) return Failed{*reason};
    try {
      const auto nvml = gpu::open_nvml(paths.nvml);
      const auto products = std::make_shared<gpu::GemmLibrary>(paths.cublas_lt);
      Devices devices;
      for (int ordinal = 0; ordinal < count; ++ordinal) {
        if (const auto reason = gpu::refusal(ordinal)) return Failed{*reason};
        DeviceDescription description = gpu::describe_device(ordinal);
        auto telemetry = gpu::open_telemetry_source(nvml, description);
        devices.push_back(std::make_unique<gpu::CudaDevice>(
            std::move(description), std::move(telemetry), products));
      }
      return devices;
    } catch (const gpu::Error& error) {
      return Failed{std::string("CUDA: ") + error.what() +
                    "; see dmesg for Xid, and whether nvidia-smi works"};
    }
  });
}
}  // namespace scaleworth::probes
