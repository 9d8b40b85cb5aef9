// SPDX-License-Identifier: Apache-2.0
/// The steps that count once more: what they would take without whoever is late.
#pragma once

#include "trace/analysis/efficiency/replay.h"

namespace scaleworth::trace {
/// Ranks that compute longer than their peers, alike.
struct SlowUnit {
  LateUnit level = LateUnit::rank;
  std::string name;             // "rank 3", "pipeline stage 3", "host node-2"
  std::vector<Place> members;   // ascending
  std::vector<Place> compared;  // by member: of its peers the median one
  double excess = 0.0;          // mean, beyond those, of what they take
  bool in_some_pieces = false;  // late pieces of work gather on them, others of theirs are not late
};

class Pieces;

/// Squares in ns of what pieces of work take beyond the usual.
struct PieceVariance {
  double whole = 0.0;        // of whole pieces
  double independent = 0.0;  // the same if operations varied each for itself
  double alike = 0.0;        // the same if all varied alike
};

/// Refers to what it is made of. What-ifs leave launches, gaps that nothing recorded explains and
/// transfers as they were. The ideal job of Lin et al., "Understanding Stragglers in Large Model
/// Training Using What-if Analysis", OSDI 2025, sets every operation to the mean of its type and
/// has no gaps: its savings are larger.
class JobReplay {
 public:
  const Job& job;
  const StepPlan& steps;
  const Waits& waits;
  const Alignment& alignment;
  /// Why there is nothing to replay, that the ranks' clocks do not compare, or that a replay
  /// without change misses the measured time by more than a tenth. Where there are `runs`, what
  /// follows from the lengths of each rank's own work holds all the same.
  std::optional<Finding> reason;
  EfficiencyWindows windows;
  std::vector<ReplayGraph> runs;
  nanoseconds runtime{};
  double error = 0.0;               // of a replay without change, as a fraction
  std::vector<nanoseconds> useful;  // by rank: union of kernels that are not communication
  std::size_t stages = 0;           // of the pipeline
  /// The largest groups first: a stage, the ranks of a host, the stages of a replica, of which each
  /// rank exceeds its peers by at least half as much as their mean does, then single ranks. Peers
  /// are the other ranks of the same stage, of a stage the ranks of all others; those that are slow
  /// themselves are left out. A mean excess counts from 3 % (5 % for a stage, whose cut is never
  /// even) and from five standard errors of the pieces of work on, or where the pieces that take
  /// longer gather on these ranks: a GPU that is throttled now and then.
  std::vector<SlowUnit> slow_units;
  /// The length of pieces of work (a micro-batch) changes from one to the next and from replica to
  /// replica, by 2 % and more and over all operations alike: the inputs' lengths do that, the
  /// kernels' own noise does not.
  bool rotating_load = false;

  /// Nothing is replayed of fewer ranks than `least_ranks`.
  JobReplay(const Job& job,
            const StepPlan& steps,
            const Waits& waits,
            const Alignment& alignment,
            std::size_t least_ranks = 2);

  bool is_slow(Rank rank) const {
    const auto place = numbers_.place_of(rank);
    return place && slow_[place->index];
  }
  /// Without the lateness of all of `stragglers`: those that compute longer take as long as their
  /// peers; uneven stages as long as their mean; of a rotating load every piece takes the mean; of
  /// a pipeline a late host pauses as its peers' do; for any other late rank nobody waits, nor,
  /// outside of pipelines, for one that does more: kernels that others do not run have launches and
  /// gaps of their own.
  Change without(const std::vector<Straggler>& stragglers) const;
  /// Every stage computes as long as their mean. One stage alone, or one replica of it, saves
  /// little: the next one takes its place.
  Change even_stages() const;
  /// Time of the steps with each change, of that without, in [0, 1]; no step gets shorter than the
  /// longest compute of a rank.
  std::vector<double> ratios(const std::vector<Change>& changes) const;

 private:
  std::optional<Finding> build_graphs(std::size_t least_ranks);
  void find_stages();
  void measure_pieces();
  PieceVariance variance_of(const Pieces& pieces,
                            std::size_t rank,
                            const std::vector<double>& usual,
                            std::size_t ranks);
  bool rotates(const Pieces& pieces, const std::vector<PieceVariance>& variances) const;
  void set_as_mean_pieces(Pieces& pieces);
  std::vector<double> number_operations();
  void set_as_peers(Pieces& pieces);
  void set_operations_as_peers();
  void find_units();
  /// The ranks that `member` of `unit` compares with: those of its peer group that are not slow,
  /// of a stage those of all other stages, without the unit's own.
  std::vector<Place> peers_of(Place member, const SlowUnit& unit) const;
  void compare(SlowUnit& unit) const;
  /// That with the median compute of peers_of(member, unit).
  std::optional<Place> median_peer(Place member, const SlowUnit& unit) const;
  void sort_peers();
  std::optional<double> host_pace(Place member, const Straggler& straggler) const;

  /// Ranks of one stage, or all, where each stage has one rank and they are all that there is to
  /// compare with.
  struct PeerGroup {
    std::vector<Place> ranks;           // ascending
    std::vector<Place> without_slow{};  // by their compute
  };

  RankNumbers numbers_;
  std::vector<std::int32_t> stage_;  // by rank; -1: not known
  std::vector<PeerGroup> groups_;
  std::vector<std::size_t> group_of_;   // by rank, in groups_
  std::vector<double> totals_;          // ns of compute by rank
  std::vector<double> typical_;         // the same with typical pieces
  std::vector<double> standard_error_;  // of a rank's excess
  std::vector<bool> often_late_;        // by rank: late pieces of its group gather on it
  std::vector<bool> as_peers_;          // by rank: slow, and DeviceNode::typical is as its peers
  std::vector<bool> slow_;              // by rank: of a unit
};
}  // namespace scaleworth::trace
