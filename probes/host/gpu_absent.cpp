// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu.h"

namespace scaleworth::probes {

Outcome<std::vector<FactSection>> gpu_facts() {
  return Skipped{"this build has no CUDA layer; build the preset 'cuda' on a machine with nvcc"};
}

}  // namespace scaleworth::probes
