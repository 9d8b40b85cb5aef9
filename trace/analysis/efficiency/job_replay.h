// SPDX-License-Identifier: Apache-2.0
/// The steps that count once more: what they would take without whoever is late.
#pragma once

#include "trace/analysis/efficiency/replay.h"

namespace scaleworth::trace {
/// Ranks that compute longer than their peers, alike.
struct SlowUnit {
  attribution::LateUnit level = attribution::LateUnit::rank;
  std::string name;                    // "rank 3", "pipeline stage 3", "host node-2"
  std::vector<std::uint32_t> members;  // places, ascending
  std::vector<std::uint32_t> peers;    // of any member
  std::uint32_t compared = 0;          // of the first member's peers the median one
  double excess = 0.0;                 // beyond the median peer, of what that one takes; the mean
};

/// Refers to what it is made of. The window's recorded dependencies, each kernel with its operation
/// (all kernels of one name, on whatever rank). What-ifs leave launches, gaps that nothing recorded
/// explains and transfers as they were; the ideal job of Lin et al., "Understanding Stragglers in
/// Large Model Training Using What-if Analysis", OSDI 2025, sets every operation to the mean of its
/// type and has no gaps, so that its savings are larger.
class JobReplay {
 public:
  JobReplay(const Job& job, const StepPlan& steps, const Waits& waits, const Alignment& alignment);

  /// Why there is nothing to replay, or a replay without change misses the measured time by more
  /// than a tenth; else empty.
  const std::string& reason() const { return reason_; }
  const Job& job() const { return job_; }
  const StepPlan& steps() const { return steps_; }
  const Waits& waits() const { return waits_; }
  const Alignment& alignment() const { return alignment_; }
  const EfficiencyWindows& windows() const { return windows_; }
  const std::vector<ReplayGraph>& runs() const { return runs_; }
  /// By rank: union of kernels that are not communication.
  const std::vector<nanoseconds>& useful() const { return useful_; }
  nanoseconds runtime() const;
  /// A replay without change against the measurement, as a fraction.
  double error() const { return error_; }
  bool has_stages() const { return stage_count_ > 1; }

  /// The largest groups first: a stage, the ranks of a host, the stages of a replica, of which each
  /// rank exceeds its peers by at least half as much as their mean does, then single ranks. Peers
  /// are the other ranks of the same stage, of a stage the ranks of all others; those that are slow
  /// themselves are left out. A mean excess counts from 3 % (5 % for a stage, whose cut is never
  /// even) and from five standard errors of the pieces of work on.
  const std::vector<SlowUnit>& slow_units() const { return units_; }
  bool is_slow(Rank place) const { return slow_[static_cast<std::size_t>(place.index)]; }
  /// Whether the length of pieces of work (a micro-batch) changes from one to the next and from
  /// replica to replica, by 2 % and more and over all operations alike: the inputs' lengths do
  /// that, the kernels' own noise does not.
  bool rotating_load() const { return rotating_; }

  /// Without the lateness of all of `stragglers`: those that compute longer take as long as their
  /// peers, operation by operation; uneven stages as long as their mean; of a rotating load every
  /// piece takes the mean; for any other late rank nobody waits.
  Change without(const std::vector<attribution::Straggler>& stragglers) const;
  /// Every stage computes as long as their mean, operation by operation. One stage alone, or one
  /// replica of it, saves little: the next one takes its place.
  Change even_stages() const;
  /// Time of the steps with each change, of that without, in [0, 1]; no step gets shorter than the
  /// longest compute of a rank.
  std::vector<double> ratios(const std::vector<Change>& changes) const;

 private:
  using Times = std::vector<double>;  // ns by operation

  std::string build_graphs();
  void find_stages();
  void number_operations();
  void measure_pieces();
  void find_units();
  std::int32_t group_of(std::uint32_t rank) const;  // equal for peers
  bool is_peer(std::uint32_t rank, std::uint32_t other, attribution::LateUnit level) const;
  SlowUnit unit_of(attribution::LateUnit level,
                   const std::string& name,
                   const std::vector<std::uint32_t>& members) const;
  Times mean_times(const std::vector<std::uint32_t>& ranks) const;
  void set_pace(std::uint32_t rank, const Times& own, const Times& target, Change& change) const;

  const Job& job_;
  const StepPlan& steps_;
  const Waits& waits_;
  const Alignment& alignment_;
  std::string reason_;
  EfficiencyWindows windows_;
  std::vector<ReplayGraph> runs_;
  double error_ = 0.0;
  std::vector<nanoseconds> useful_;
  std::vector<std::int32_t> stages_;  // by rank; -1: not known
  std::size_t stage_count_ = 0;
  std::vector<Times> times_;  // compute by rank
  Times totals_;              // of times_, by rank
  Times typical_;             // the same with typical pieces
  Times standard_error_;      // of a rank's excess
  std::vector<SlowUnit> units_;
  std::vector<bool> slow_;  // by rank: of a unit
  bool rotating_ = false;
};
}  // namespace scaleworth::trace
