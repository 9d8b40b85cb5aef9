// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/cublas_lt.h"
#include "cuda/libraries/cupti.h"
#include "cuda/libraries/nccl.h"
#include "cuda/libraries/nvml.h"
#include "probes/gpu/driver_signs.h"

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
namespace {
/// Both numbers stay 0 where the runtime does not know, which is the answer of a missing driver.
VendorLibrary driver() {
  int supported = 0;
  int needed = 0;
  cudaDriverGetVersion(&supported);
  cudaRuntimeGetVersion(&needed);
  cudaGetLastError();
  VendorLibrary rung = driver_rung(supported, needed, loaded_driver());
  if (!rung.path.empty()) return rung;
  // The reason that a measurement gives, where the node shows more than this library.
  const DriverSigns signs = read_driver_signs(environment_variables(), loaded_driver());
  if (auto why = obstacle(signs, first_driver(needed / 1000))) rung.reason = std::move(*why);
  return rung;
}

template <class Table>
VendorLibrary rung(const char* name,
                   const char* lost,
                   const Outcome<std::shared_ptr<const Table>>& opened) {
  if (const auto* table = std::get_if<std::shared_ptr<const Table>>(&opened)) {
    return {name, (*table)->version, (*table)->path, (*table)->found_by, lost};
  }
  return {name, "", "", reason_of(opened), lost};
}
}  // namespace

std::string loaded_driver() {
  try {
    return SharedLibrary("libcuda.so.1").path();
  } catch (const UnusableLibrary&) {
    return {};
  }
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

VendorLibrary driver_rung(int driver, int runtime, const std::string& path) {
  VendorLibrary result{"driver", "", "", "", "every GPU probe"};
  const std::string needed = fmt::format("this program needs one for CUDA {}, {} or later",
                                         cuda_version_text(runtime),
                                         first_driver(runtime / 1000));
  if (path.empty()) {
    result.reason = fmt::format(
        "no libcuda.so.1 on the loader's path: install NVIDIA's driver ({}), or start the "
        "container with --gpus all",
        needed);
  } else if (driver == 0) {
    result.reason = fmt::format("{} does not report its version: {}", path, needed);
  } else if (driver / 1000 < runtime / 1000) {
    result.reason = fmt::format(
        "{} supports CUDA {} and is too old: {}; on data-centre GPUs the "
        "package cuda-compat serves too",
        path,
        cuda_version_text(driver),
        needed);
  } else {
    result.version = "CUDA " + cuda_version_text(driver);
    result.path = path;
    result.reason = "the loader's path";
  }
  return result;
}
}  // namespace scaleworth::gpu

namespace scaleworth::probes {
std::vector<VendorLibrary> vendor_libraries(const VendorPaths& paths) {
  return {gpu::driver(),
          gpu::rung("cuBLASLt",
                    "matrix products on GPUs and the training step on GPUs",
                    gpu::open_cublas_lt(paths.cublas_lt)),
          gpu::rung("NCCL",
                    "collectives between GPUs and training on more than one GPU",
                    gpu::open_nccl(paths.nccl)),
          gpu::rung("NVML",
                    "clocks, power, energy, temperature, throttle reasons; power limits, ECC, PCIe "
                    "and NVLink facts",
                    gpu::open_nvml(paths.nvml)),
          gpu::rung("CUPTI",
                    "the traced repetition of the training step on GPUs",
                    gpu::choose_cupti(paths.cupti, gpu::cupti_of_cuda_12_0))};
}
}  // namespace scaleworth::probes
