// SPDX-License-Identifier: Apache-2.0
/// The seam to the GPU layer: which definitions are linked decides. cuda/ in a CUDA build,
/// probes/gpu/absent.cpp otherwise, tests/sim/gpu/open_sim.cpp in the rehearsal program.
#pragma once

#include "probes/gpu/registry.h"
#include "src/core/outcome.h"
#include "src/core/run/record.h"

#include <string>
#include <vector>

namespace scaleworth::probes {

/// Paths that the user gave (--cublas-lib, ...); empty: search.
struct VendorPaths {
  std::string cublas_lt;
  std::string nccl;
  std::string nvml;
  std::string cupti;
};

/// A rung of the degradation ladder: one vendor library, found or not, and what is lost without it.
struct VendorLibrary {
  std::string name;     // "cuBLASLt"
  std::string version;  // empty when not found
  std::string path;     // empty when not found
  std::string reason;   // why it is missing, or which search step found it
  std::string lost;     // the probes and figures that are lost without it
};
std::vector<VendorLibrary> vendor_libraries(const VendorPaths& paths);

/// One section per GPU ("gpu 0", ...), and "cuda" with the versions, and "gpu links" with the
/// peer matrix. Skipped with the reason when there is none, no driver, or no CUDA in this build.
Outcome<std::vector<FactSection>> gpu_facts(const VendorPaths& paths);

/// Every GPU that this process sees. Skipped with the reason when there is none; Failed when one is
/// there and cannot be used (exclusive mode, lost, insufficient permissions), with the remedy.
Outcome<Devices> open_devices(const VendorPaths& paths);

}  // namespace scaleworth::probes
