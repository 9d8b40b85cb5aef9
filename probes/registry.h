// SPDX-License-Identifier: Apache-2.0
/// The tables of all probes, in the order of running: `list`, help, plan and tests read them;
/// suite, pace, order of settings.
#pragma once

#include "probes/machine.h"
#include "probes/ranks.h"
#include "src/core/statistics/sampling.h"
#include "src/core/units.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scaleworth::probes {
/// quick: under a minute, coarse grids. standard: about four minutes, six on a GPU, the full grids.
enum class Suite { quick, standard };
const char* suite_name(Suite suite);
/// Throws UserError listing the known names.
Suite parse_suite(const std::string& name);

struct Pace {
  Seconds budget;               // the stopping rule's
  std::size_t minimum_samples;  // fit 70 % of the budget
};
StoppingTarget target_of(const Pace& pace);

struct SuitePace {
  Pace quick;
  Pace standard;
  constexpr const Pace& operator()(Suite suite) const {
    return suite == Suite::quick ? quick : standard;
  }
};

/// How long a sample may last for `minimum_samples` to fit 70 % of the budget.
Seconds fitting_sample(const StoppingTarget& target);

/// Time of one setting at this pace: samples (the stopping rule ends at 70 % of the budget on most
/// settings of a quiet machine, at 100 % otherwise) and the calibration before them.
Seconds time_per_setting(const Pace& pace);

/// whole(size) for sizes from `smallest` by `factor`, and for `largest`, which is at least half a
/// factor above the one before.
template <class Whole>
auto geometric(double smallest, double largest, double factor, const Whole& whole) {
  std::vector<decltype(whole(largest))> sizes;
  for (double size = smallest; size * std::sqrt(factor) < largest; size *= factor) {
    sizes.push_back(whole(size));
  }
  sizes.push_back(whole(largest));
  return sizes;
}

/// Shuffles `works`, the same way every time, so that a drift of the machine becomes noise along
/// every axis instead of an effect of size.
template <class Work>
void in_random_order(std::vector<Work>& works, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  for (std::size_t i = works.size(); i > 1; --i) std::swap(works[i - 1], works[random() % i]);
}

/// What the user asked of the rank probes beyond the suite.
struct RankOptions {
  std::optional<TrainingWork::Straggler> straggler;
  /// Width and sequences per rank of the training step, as an earlier run chose them; 0: calibrate.
  std::int64_t step_width = 0;
  std::int64_t step_batch = 0;
  std::vector<Collective> collectives{};  // only these; empty: all
  std::vector<Bytes> sizes{};             // of messages, instead of the suite's
  /// Of NCCL's ways only these are forced, those without a protocol in all; empty: all of them.
  std::vector<CollectiveAlgorithm> algorithms{};

  bool wants(Collective collective) const {
    return collectives.empty() || std::ranges::count(collectives, collective) > 0;
  }
};

/// What a plan is made from, without measuring anything.
struct PlanInputs {
  Suite suite = Suite::quick;
  int workers = 1;  // of the node
  Bytes available_memory;
  Bytes last_cache;  // as `Machine::last_cache`
  std::size_t isa_count = 1;
  int max_ranks = 1;
  int nodes = 1;  // of those ranks
  /// What the collectives may take, by --time; 0: as the suite and the nodes suggest.
  Seconds collectives_budget{0.0};
  RankOptions asked{};
};

template <class Planned, class... Arguments>
struct Probe {
  /// Expected duration; a plan must be within 30 % of the truth.
  using Estimate = Seconds(const Planned& setting);
  /// Records points. Throws ProbeFailure, NothingToMeasure or Interrupted; points added before
  /// stay.
  using Measure = void(Arguments... arguments);

  std::string_view name;      // of probe_name
  std::string_view question;  // what a person learns from it
  Estimate* estimate;
  Measure* measure;
  /// Its main figures once more, 30 ms each, when all else is done: a machine that changed
  /// meanwhile shows. Null for none.
  Measure* look_again = nullptr;
};

// A glance: the median of the fewest that have an interval.
inline constexpr Pace second_look_pace{Seconds(0.03), fewest_samples};

using NodeProbe = Probe<PlanInputs, Machine&, const PlanInputs&, Recorder&>;
/// Of a group of ranks; called on every rank, the recorder keeps only what rank 0 adds.
using RankProbe = Probe<PlanInputs, RankGroup&, const PlanInputs&, Recorder&>;

std::span<const NodeProbe> node_probes();
std::span<const RankProbe> rank_probes();
/// Those that are asked of ranks on GPUs instead.
std::span<const RankProbe> device_rank_probes();
}  // namespace scaleworth::probes
