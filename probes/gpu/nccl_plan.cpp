// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "probes/gpu/nccl.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::probes {
namespace {
constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr Bytes small_message{1 << 20};
constexpr Bytes largest_shared{1 << 22};
constexpr Bytes largest_quick{gibibyte};
constexpr Bytes largest_standard{16.0 * gibibyte};
// Forced ways and variants of a call: the low-latency protocols have long lost there, and the rest
// has its bandwidth.
constexpr Bytes largest_of_variants{gibibyte};

// For estimates and budgets only: 8 GPUs behind a switch, small messages at the upper end of what
// is published for one process per node.
constexpr double operation_latency_s = 30e-6;
constexpr double message_rate = 200e9;  // B/s
constexpr double setting_s = 6e-3;      // agreement, buffers, graph or connections, recording
constexpr double warm_operations = 5.0;
constexpr double block_s = 1e-3;  // shortest repetition of several operations
constexpr double least_operations = 2.0;
constexpr double team_base_s = 0.4;
constexpr double team_rank_s = 0.1;

/// Doublings between two sizes.
struct Grid {
  int step;
  Bytes largest;
};

Bytes largest_message(const NcclPlanning& planning) {
  if (planning.shared_gpu) return largest_shared;
  return planning.suite == Suite::quick ? largest_quick : largest_standard;
}

/// From 8 B; the largest size is one of them.
std::vector<Bytes> sizes(const Grid& grid) {
  std::vector<Bytes> result;
  for (double bytes = 8.0; bytes < grid.largest.value(); bytes *= std::ldexp(1.0, grid.step)) {
    result.emplace_back(bytes);
  }
  result.push_back(grid.largest);
  return result;
}

double expected_operation_s(const CollectiveWork& work) {
  return operation_latency_s + work.message.value() / message_rate;
}

double expected_repetition_s(const CollectiveWork& work) {
  const double operation_s = expected_operation_s(work);
  if (work.mode == CollectiveMode::isolated) return operation_s;
  return std::max(block_s, least_operations * operation_s);
}

/// Adds one setting per size that fits and differs from the one before after rounding.
class Settings {
 public:
  Settings(const RankTopology& topology, const NcclPlanning& planning)
      : topology_(topology), planning_(planning) {}

  void add(CollectiveWork work, const Grid& grid) {
    work.members = topology_.members;
    work.ranks = static_cast<int>(topology_.members.size());
    Bytes last;
    for (const Bytes bytes : sizes(grid)) {
      const MessageShape shape = message_shape(work.collective, bytes, work.ranks);
      if (shape.message == last || shape.buffers() > planning_.memory_per_rank) continue;
      last = work.message = shape.message;
      works_.push_back(work);
    }
  }

  std::vector<CollectiveWork> shuffled() {
    in_random_order(works_, collective_order_seed);
    return std::move(works_);
  }

 private:
  const RankTopology& topology_;
  const NcclPlanning& planning_;
  std::vector<CollectiveWork> works_;
};

bool is_whole(const RankTopology& topology) {
  return topology.name == "all ranks";
}

void add_variants(Settings& settings, const Grid& coarse, Suite suite) {
  std::vector<Collective> collectives{Collective::all_reduce};
  if (suite == Suite::standard) {
    collectives.insert(collectives.end(), {Collective::all_gather, Collective::reduce_scatter});
  }
  for (const Collective collective : collectives) {
    settings.add({.collective = collective, .mode = CollectiveMode::graph}, coarse);
    settings.add({.collective = collective, .in_place = true}, coarse);
    settings.add({.collective = collective, .registered = true}, coarse);
  }
}
}  // namespace

std::vector<CollectiveWork> plan_choice(const RankTopology& topology,
                                        const NcclPlanning& planning) {
  const bool quick = planning.suite == Suite::quick;
  const Bytes largest = largest_message(planning);
  const Grid fine{quick ? 3 : 1, largest};
  const Grid coarse{quick ? 4 : 2, largest};
  const Grid variants{coarse.step, std::min(largest_of_variants, largest)};
  Settings settings(topology, planning);
  if (!is_whole(topology)) {
    std::vector<Collective> collectives{Collective::all_reduce, Collective::send_receive};
    if (!quick) {
      collectives.insert(collectives.end(), {Collective::all_gather, Collective::reduce_scatter});
    }
    for (const Collective collective : collectives) {
      settings.add({.collective = collective}, coarse);
    }
    return settings.shuffled();
  }
  for (const Collective collective : nccl_collectives) {
    const bool all_reduce = collective == Collective::all_reduce;
    settings.add({.collective = collective}, all_reduce ? fine : coarse);
    if (quick && !all_reduce) continue;
    settings.add({.collective = collective, .mode = CollectiveMode::back_to_back}, variants);
  }
  if (!planning.shared_gpu) add_variants(settings, variants, planning.suite);
  return settings.shuffled();
}

std::vector<CollectiveWork> plan_forced(const RankTopology& topology,
                                        const OfferedWays& ways,
                                        const NcclPlanning& planning) {
  const bool fine = planning.suite == Suite::standard && is_whole(topology);
  const Grid grid{fine ? 2 : 4, std::min(largest_of_variants, largest_message(planning))};
  Settings settings(topology, planning);
  for (const auto& [collective, offered] : ways) {
    for (const CollectiveAlgorithm& way : offered) {
      settings.add({.collective = collective, .algorithm = way.algorithm, .protocol = way.protocol},
                   grid);
    }
  }
  return settings.shuffled();
}

StoppingTarget nccl_target(const CollectiveWork& work, const NcclPlanning& planning) {
  const bool latency = work.mode == CollectiveMode::isolated && work.message <= small_message;
  const bool quick = planning.suite == Suite::quick;
  StoppingTarget target{.relative_half_width = 0.01,
                        .minimum_samples = latency ? 30U : 6U,
                        .maximum_samples = latency ? 400U : 100U,
                        .time_budget = Seconds(quick ? 0.01 : 0.04)};
  // Ranks that share a GPU are time-sliced: each operation takes milliseconds.
  if (planning.shared_gpu) target.minimum_samples = 6;
  return target;
}

Seconds nccl_setting_time(const CollectiveWork& work, const NcclPlanning& planning) {
  const StoppingTarget target = nccl_target(work, planning);
  const double operation_s = expected_operation_s(work);
  const double least_s = expected_repetition_s(work) * static_cast<double>(target.minimum_samples);
  return Seconds(setting_s + warm_operations * operation_s +
                 std::max(least_s, target.time_budget.value()));
}

Seconds nccl_team_time(int ranks) {
  return Seconds(team_base_s + team_rank_s * ranks);
}

namespace {
/// In messages; absent where it is not known.
std::optional<double> share(Collective collective, const std::string& algorithm, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  const bool all_reduce = collective == Collective::all_reduce;
  const bool gathers =
      collective == Collective::all_gather || collective == Collective::reduce_scatter;
  switch (collective) {
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter:
      return others;
    case Collective::send_receive:
      return 1.0;
    default:
      break;
  }
  if (algorithm == "Ring" || algorithm == "PAT") {
    if (all_reduce) return 2.0 * others;
    return gathers ? others : 1.0;
  }
  if (algorithm == "Tree" && all_reduce) return 2.0;
  if (algorithm != "NVLS" || !(all_reduce || gathers)) return std::nullopt;
  return all_reduce ? 1.0 + 1.0 / ranks : 1.0;
}
}  // namespace

std::optional<Bytes> wire_bytes(Collective collective,
                                const std::string& algorithm,
                                Bytes message,
                                int ranks) {
  const std::optional<double> messages = share(collective, algorithm, ranks);
  if (!messages) return std::nullopt;
  return message * *messages;
}
}  // namespace scaleworth::probes
