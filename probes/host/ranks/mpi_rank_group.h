// SPDX-License-Identifier: Apache-2.0
/// The ranks of an MPI job as a RankGroup.
#pragma once

#include "probes/host/mpi/module.h"
#include "probes/host/ranks/operation.h"
#include "probes/host/ranks/watchdog.h"
#include "probes/ranks.h"

#include <chrono>
#include <functional>
#include <map>
#include <string>

namespace scaleworth::probes::host {

/// Runs the training on the ranks of `group`, which are those of the work; called on each of them.
/// Complete on rank 0. What it throws on one rank only leaves the others waiting: agree first.
using TrainFunction = std::function<TrainingMeasured(MpiGroup group, const TrainingWork& work)>;

struct MpiRankGroupOptions {
  /// The least of all ranks holds, so that all plan the same sizes.
  Bytes available_memory_per_rank;
  TrainFunction train;
  /// Working ranks that make no progress for so long end the job, naming themselves.
  std::chrono::seconds stall_limit{120};
};

/// All ranks of MPI's world; `mpi` is initialised, outlives this and is finalised after it. Every
/// member function is collective.
class MpiRankGroup final : public RankGroup {
 public:
  MpiRankGroup(const MpiModule& mpi, MpiRankGroupOptions options);
  ~MpiRankGroup() override;
  MpiRankGroup(const MpiRankGroup&) = delete;
  MpiRankGroup& operator=(const MpiRankGroup&) = delete;

  Rank rank() const override { return Rank{rank_}; }
  int size() const override { return size_; }
  std::string placement() const override { return placement_; }
  Bytes available_memory_per_rank() const override { return memory_per_rank_; }
  CollectiveMeasured time_collective(const CollectiveWork& work,
                                     const StoppingTarget& target) override;
  TrainingMeasured train(const TrainingWork& work) override;
  void together(const std::function<void()>& action) override;

 private:
  void on_first_ranks(int ranks,
                      const std::string& what,
                      std::chrono::seconds limit,
                      const std::function<void(MpiGroup)>& action);
  MpiGroup first_ranks(int ranks);
  Operation make_operation(const CollectiveWork& work, MpiGroup group);

  const MpiModule& mpi_;
  const MpiRankGroupOptions options_;
  const MpiGroup world_;
  const int rank_;
  const int size_;
  Bytes memory_per_rank_;
  std::string placement_;
  std::map<int, MpiGroup> parts_;
  Buffer send_;
  Buffer receive_;
  Watchdog watchdog_;
};

}  // namespace scaleworth::probes::host
