// SPDX-License-Identifier: Apache-2.0
/// The table of the probes of ranks on GPUs, in the order of measurement.
#include "probes/collectives/nccl_sweep.h"
#include "probes/registry.h"

#include <array>

namespace scaleworth::probes {

std::span<const RankProbe> device_rank_probes() {
  static const std::array probes{nccl_probe()};
  return probes;
}

}  // namespace scaleworth::probes
