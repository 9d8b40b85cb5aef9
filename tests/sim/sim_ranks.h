// SPDX-License-Identifier: Apache-2.0
/// A group of ranks whose links, speeds and straggler are known.
#pragma once

#include "probes/ranks.h"
#include "tests/sim/sim_noise.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::sim {

/// A protocol between neighbours; for each message the fastest protocol is used.
struct LinkTruth {
  double alpha_s = 2e-6;  // per hop
  double beta_s_per_byte = 0.2e-9;
};

/// A way in which the simulated library can run a collective, among all ranks.
struct WayTruth {
  std::string algorithm;
  std::string protocol;
  double alpha_s = 10e-6;  // per operation
  double beta_s_per_byte = 1e-10;
  double bias = 1.0;  // of the library's own prediction, by which it chooses
};

struct RankTruth {
  int ranks = 4;
  /// Not empty: the collectives that a tuner is asked for run in the way that the library predicts
  /// to be the fastest, or in the one forced.
  std::vector<WayTruth> ways{};
  std::vector<LinkTruth> protocols{LinkTruth{}};
  double pipelining = 0.5;  // share of alpha that remains in back-to-back calls
  // Training: seconds of compute per sequence, share of it before the first gradient is ready
  // (forward), seconds of the optimizer and of the host per step.
  double sequence_s = 2e-3;
  double forward_share = 1.0 / 3.0;
  double optimizer_s = 0.5e-3;
  double host_s = 0.1e-3;
  double gradient_bytes = 8e6;
  Bytes memory{8e9};      // that a rank may use
  int ranks_on_node = 0;  // above 0: the group says on which node each rank is
  /// Collectives with a rank of that node take so many times as long.
  std::optional<std::pair<int, double>> slow_node{};
  /// Of one rank's buffers: collectives that need more fail.
  std::optional<Bytes> out_of_memory_above{};
  NoiseTruth noise;
};

/// Rank 0 of a simulated group. All-reduce is a ring, all_gather, reduce_scatter and all_to_all
/// half of one, broadcast a chain of neighbours in a binomial tree, send_receive one hop.
class SimRankGroup final : public probes::RankGroup {
 public:
  explicit SimRankGroup(RankTruth truth) : truth_(std::move(truth)), noise_(truth_.noise) {}

  Rank rank() const override { return Rank{0}; }
  int size() const override { return truth_.ranks; }
  std::string placement() const override { return "simulated ranks"; }
  Bytes available_memory_per_rank() const override { return truth_.memory; }
  probes::RankLinks links() const override;
  probes::CollectiveMeasured time_collective(const probes::CollectiveWork& work,
                                             const StoppingTarget& target) override;
  /// Communication of a bucket starts when its last rank has posted it and the bucket before is
  /// done.
  probes::TrainingMeasured train(const probes::TrainingWork& work) override;

  /// The true time of one isolated operation.
  double collective_s(Collective collective, double bytes, int ranks) const;

 private:
  bool offers_ways(Collective collective) const;
  const WayTruth& way_of(const probes::CollectiveWork& work) const;
  double operation_s(Collective collective, double bytes, int ranks, double alpha_share) const;
  void simulate_step(const probes::TrainingWork& work,
                     std::int32_t step,
                     double& start_s,
                     const std::vector<Bytes>& buckets,
                     Timeline& timeline);

  RankTruth truth_;
  Noise noise_;
};

}  // namespace scaleworth::sim
