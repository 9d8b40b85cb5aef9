// SPDX-License-Identifier: Apache-2.0
/// A group of one rank, without MPI: the training step at K = 1, and no collectives.
#pragma once

#include "probes/host/blas/blas.h"
#include "probes/ranks.h"

#include <memory>
#include <string>

namespace scaleworth::cli {

class SingleRankGroup final : public probes::RankGroup {
 public:
  /// `why` there is only one rank; becomes the reason of the skipped collectives.
  SingleRankGroup(std::string why,
                  std::shared_ptr<const probes::host::Blas> blas,
                  Bytes available_memory);

  Rank rank() const override { return Rank{0}; }
  int size() const override { return 1; }
  std::string placement() const override;
  Bytes available_memory_per_rank() const override { return available_memory_; }
  /// Always throws NothingToMeasure with the reason.
  probes::CollectiveMeasured time_collective(const probes::CollectiveWork& work,
                                             const StoppingTarget& target) override;
  probes::TrainingMeasured train(const probes::TrainingWork& work) override;

 private:
  std::string why_;
  std::shared_ptr<const probes::host::Blas> blas_;
  Bytes available_memory_;
};

}  // namespace scaleworth::cli
