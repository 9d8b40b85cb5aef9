// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/single_rank_group.h"

#include "probes/host/training/train.h"
#include "src/core/error.h"

#include <utility>

namespace scaleworth::cli {

SingleRankGroup::SingleRankGroup(std::string why,
                                 std::shared_ptr<const probes::host::Blas> blas,
                                 Bytes available_memory)
    : why_(std::move(why)), blas_(std::move(blas)), available_memory_(available_memory) {}

std::string SingleRankGroup::placement() const {
  return "1 rank in this process: " + why_;
}

probes::CollectiveMeasured SingleRankGroup::time_collective(const probes::CollectiveWork&,
                                                            const StoppingTarget&) {
  throw NothingToMeasure(why_);
}

probes::TrainingMeasured SingleRankGroup::train(const probes::TrainingWork& work) {
  return probes::host::train_alone(*blas_, work);
}

}  // namespace scaleworth::cli
