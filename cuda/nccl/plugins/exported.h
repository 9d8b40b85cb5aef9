// SPDX-License-Identifier: Apache-2.0
/// The plugins that NCCL finds in this program itself (STATIC_PLUGIN): their symbols must be in the
/// dynamic table of the executable.
#pragma once

#include "cuda/nccl/plugins/profiler_interface.h"
#include "cuda/nccl/plugins/tuner_interface.h"

#include <string>

extern "C" {
extern scaleworth::gpu::NcclTunerV5 ncclTunerPlugin_v5;
extern scaleworth::gpu::NcclProfilerV5 ncclProfiler_v5;
}

namespace scaleworth::gpu {

/// Points NCCL_TUNER_PLUGIN and NCCL_PROFILER_PLUGIN at this program unless the user has set them.
/// To be called before the first communicator and while no other thread runs: NCCL remembers a
/// failed load, and the environment has no lock. Returns what is lost for respecting the user's
/// settings, in words; empty for nothing.
std::string offer_plugins();

}  // namespace scaleworth::gpu
