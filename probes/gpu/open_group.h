// SPDX-License-Identifier: Apache-2.0
/// The seam to ranks on GPUs: which definition is linked decides. cuda/ in a CUDA build,
/// probes/gpu/absent_group.cpp otherwise.
#pragma once

#include "probes/gpu/open.h"
#include "probes/ranks.h"
#include "src/core/launch/launch_environment.h"
#include "src/core/outcome.h"

#include <memory>

namespace scaleworth::probes {

struct DeviceGroupRequest {
  /// With a world of several ranks: one process per GPU, meeting at the rendezvous. Without: this
  /// process has all GPUs that it sees.
  LaunchEnvironment launch;
  /// Several ranks of the launcher may have one GPU: plumbing only.
  bool shared_gpu = false;
};

/// The ranks of this job on GPUs, over NCCL. To be called once and before any other thread is
/// started: it sets variables that NCCL reads. Every process of the job calls it. Skipped with the
/// reason without GPU, NCCL or CUDA in this build; Failed when a rank never came or broke, named.
/// Throws UserError for a launch that cannot be right, with the remedy.
Outcome<std::unique_ptr<RankGroup>> open_device_group(const VendorPaths& paths,
                                                      const DeviceGroupRequest& request);

}  // namespace scaleworth::probes
