// SPDX-License-Identifier: Apache-2.0
/// What the collectives among CPU ranks are measured at, and the probe comm.collectives.
#pragma once

#include "probes/ranks.h"
#include "probes/registry.h"
#include "src/core/statistics/sampling.h"
#include "src/core/units.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes {
struct SweepPlan {
  /// In the order of measurement: all settings in one random order, the same on every rank, so that
  /// a drift of the machine does not look like an effect of size.
  std::vector<CollectiveWork> settings;
  std::optional<Finding> left_out;  // sizes, for lack of memory
};

/// 2, 4, 8, ... and `size` itself; empty for one rank.
std::vector<int> rank_counts(int size);

/// Sizes from 8 B: standard every power of 2 up to 256 MiB, quick every other one up to 64 MiB and
/// 1 MiB; or those that were asked for. Two sizes that become one after rounding to whole elements
/// are measured once. Both buffers of a rank must fit into half of `memory_per_rank`.
SweepPlan plan_sweep(Suite suite, int size, Bytes memory_per_rank, const RankOptions& asked = {});

/// Places of what fits into `budget` of `settings` that are not `done`, among at most `size` ranks,
/// by what `cost` says of each. Always there, so that runs can be compared: the smallest size, 1
/// MiB, 64 MiB and the largest of each collective, isolated, among all ranks. Then come these back
/// to back, the sizes between them, coarse before fine, and fewer ranks. In the order of
/// `settings`.
std::vector<std::size_t> cut_to_budget(const std::vector<CollectiveWork>& settings,
                                       const std::vector<bool>& done,
                                       int size,
                                       Seconds budget,
                                       const std::function<Seconds(const CollectiveWork&)>& cost);

/// Rounds in which nodes exchange data in pairs, all pairs of a round at once; a node is in one
/// pair of a round, or, where their number is odd, in none. Up to 16 nodes every pair meets once
/// (the circle method of tournaments); above, 8 rounds of random pairs, the same each time.
std::vector<std::vector<std::pair<int, int>>> pair_rounds(int nodes);

/// Elements are fp32. `block` is what one rank contributes (all_gather, gather), keeps
/// (reduce_scatter, scatter) or sends to each other rank (all_to_all); the whole message for the
/// other collectives.
struct MessageShape {
  std::size_t block = 0;
  std::size_t send = 0;     // elements in each rank's send buffer
  std::size_t receive = 0;  // elements in each rank's receive buffer
  Bytes message;            // after rounding up to whole elements per rank

  Bytes buffers() const { return Bytes(4.0 * static_cast<double>(send + receive)); }
};

/// The counts by which nccl-tests states a size: see CollectiveWork::message. Throws ProbeFailure
/// unless `message` is positive and `ranks` at least 2.
MessageShape message_shape(Collective collective, Bytes message, int ranks);

/// Sizes from 8 B by `step` doublings, and `largest`.
std::vector<Bytes> message_grid(int step, Bytes largest);

/// Of `sizes` in whole elements, each once, ascending, those whose buffers on a rank fit into
/// `memory`. `left_out` becomes the least size that does not, if that is less.
std::vector<Bytes> fitting_messages(Collective collective,
                                    int ranks,
                                    const std::vector<Bytes>& sizes,
                                    Bytes memory,
                                    std::optional<Bytes>* left_out = nullptr);

/// For in_random_order: ranks must agree on the order.
inline constexpr std::uint64_t collective_order_seed = 20241;

/// Parameters collective, mode, ranks and message_bytes, series time_s; `nodes` of a job on
/// several.
Point collective_point(const CollectiveWork& work,
                       CollectiveMeasured measured,
                       std::optional<int> nodes = {});

/// On several nodes, whose links only a pilot shows, the time that the sweep is then cut to.
RankProbe::Estimate estimate_collectives;

/// Adds one point per setting (parameters collective, mode, ranks, message_bytes; series time_s)
/// and each rank's start and end as rows of collectives.csv. Throws NothingToMeasure for one rank.
RankProbe::Measure measure_collectives;
/// Of the all-reduce of 8 B among all.
RankProbe::Measure look_again;

// Decides, on one rank for all, how many repetitions of a collective come next and when it is
// enough.

/// What all ranks do next; no repetitions: stop.
struct CollectiveBatch {
  int repetitions = 0;
  int operations = 1;  // of each repetition, between two clock readings

  /// "repetitions operations", for the way to the other ranks.
  std::string text() const;
  /// Throws ProbeFailure for anything else than such a text.
  static CollectiveBatch of(const std::string& text);
};

/// Isolated messages up to this take microseconds and scatter: they get more warm-up and samples.
/// Presumed; larger costs time in a sweep, smaller leaves latencies with wide intervals.
inline constexpr Bytes small_message{mebibyte};

/// Between batches ranks look for Ctrl-C and at the budget. The defaults are those of GPUs, whose
/// event clock is good to half a microsecond.
struct PacerLimits {
  double batch_s = 0.02;  // the event clock's 0.5 us is then below 0.01 %
  int repetitions = 50;   // of a batch at most
  double block_s = 1e-3;  // shortest repetition that is not isolated
  int operations = 100;   // of such a repetition at most; at least 2
};

class CollectivePacer {
 public:
  /// `operation`: about the time of one, from the warm-up. Isolated repetitions are one operation
  /// each.
  CollectivePacer(CollectiveMode mode,
                  const StoppingTarget& target,
                  Seconds operation,
                  const PacerLimits& limits = {});

  CollectiveBatch next() const;
  /// Seconds of one operation for each repetition of the batch that `next` gave, the slowest
  /// rank's.
  void add(const std::vector<double>& slowest);
  /// The same where a repetition takes `repetition` with what lies around it.
  void add(const std::vector<double>& slowest, Seconds repetition);
  const StoppingRule& rule() const { return rule_; }
  int operations() const { return operations_; }

 private:
  StoppingTarget target_;
  PacerLimits limits_;
  StoppingRule rule_;
  int operations_ = 1;
  double repetition_s_;
};

// Data whose collective results are known exactly: small integers in fp32 that depend on the rank
// and on the place in the buffer, so that a lost, doubled, shifted or swapped block shows.

/// t(rank) of `fill_pattern`.
float rank_term(int rank);

/// Sums over so many ranks are below 2^24 and exact in fp32; over more they cannot be checked.
inline constexpr int most_summed_ranks = 8208;

/// data[i] = h(i) + t(rank), h a hash to 0..1023, t(rank) = 7 rank mod 1021.
///   h(i) = (i mod 2^32) 2654435761 mod 2^32 / 2^22, Knuth's multiplicative hash
void fill_pattern(std::span<float> data, int rank);

/// A stretch of a receive buffer: element begin + j must be scale h(first + j) + offset.
struct ExpectedStretch {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::size_t first = 0;
  float scale = 1.0F;
  float offset = 0.0F;
};

/// What `rank` of `ranks` must hold after the collective. send_receive goes round a ring: each rank
/// sends to the next; rank 0 is the root of broadcast, reduce, gather and scatter. Empty for a rank
/// that receives nothing (reduce, gather: all but the root). Throws ProbeFailure for sums over more
/// than `most_summed_ranks`.
std::vector<ExpectedStretch> expected_result(Collective collective,
                                             const MessageShape& shape,
                                             int rank,
                                             int ranks);

/// Absent when all is as expected, else the first wrong element in words.
std::optional<std::string> find_error(std::span<const float> received,
                                      const std::vector<ExpectedStretch>& expected);
}  // namespace scaleworth::probes
