// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/job_replay.h"

#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/efficiency/efficiency.h"

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using attribution::LateCause;
using attribution::LateUnit;

double sum_of_times(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0);
}

/// Of sums of so many values each; the last block may be shorter.
double sum_of_squares(const std::vector<double>& values, std::size_t block) {
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); i += block) {
    double sum = 0.0;
    for (std::size_t j = i; j < std::min(i + block, values.size()); ++j) sum += values[j];
    squares += sum * sum;
  }
  return squares;
}

/// Places of the longest operations in `sums`, at most eight: together 80 % of all, if they
/// suffice.
std::vector<std::uint32_t> longest_operations(const std::vector<double>& sums) {
  constexpr std::size_t most = 8;
  constexpr double enough = 0.8;
  std::vector<std::uint32_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t i) { return sums[i]; });
  double left = enough * sum_of_times(sums);
  std::size_t count = 0;
  while (count < std::min(most, order.size()) && left > 0.0) left -= sums[order[count++]];
  order.resize(count);
  return order;
}

/// Calls visit(node, operation, how-manieth) for compute of a rank in a run; operations count by
/// their place in `operations`.
template <class Visit>
void for_each_occurrence(ReplayGraph& run,
                         std::size_t rank,
                         const std::vector<std::uint32_t>& operations,
                         Visit visit) {
  std::vector<std::size_t> counts(operations.size());
  for (NodeIndex i = run.ranks[rank].first; i < run.ranks[rank].last; ++i) {
    DeviceNode& node = run.devices[i];
    const auto place = std::ranges::find(operations, node.operation);
    if (node.kind != DeviceNode::Kind::compute || place == operations.end()) continue;
    const auto operation = static_cast<std::size_t>(place - operations.begin());
    visit(node, operation, counts[operation]++);
  }
}

/// Compute of a run, cut into pieces by how often each operation occurs, such as micro-batches: the
/// i-th piece has the i-th of equal numbers of its occurrences on a rank.
struct Pieces {
  std::size_t count = 1;
  std::vector<std::vector<std::size_t>> occurrences;  // by rank and operation
  std::vector<std::vector<double>> times;  // ns by rank, then piece * operations + operation

  Pieces(ReplayGraph& run, const std::vector<std::uint32_t>& operations, std::size_t steps)
      : occurrences(run.ranks.size(), std::vector<std::size_t>(operations.size())) {
    constexpr std::size_t most = 1024;
    std::size_t divisor = 0;
    for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
      for_each_occurrence(
          run, rank, operations, [&](auto&, auto kind, auto) { ++occurrences[rank][kind]; });
      for (const std::size_t one : occurrences[rank]) divisor = std::gcd(divisor, one);
    }
    count = std::min(std::max(divisor, steps), most);
    times.assign(run.ranks.size(), std::vector<double>(count * operations.size()));
    for (std::size_t rank = 0; rank < run.ranks.size(); ++rank)
      for_each_occurrence(run, rank, operations, [&](auto& node, auto kind, auto nth) {
        times[rank][place(rank, kind, nth)] += static_cast<double>(node.end - node.start);
      });
  }

  std::size_t place(std::size_t rank, std::size_t operation, std::size_t nth) const {
    const std::vector<std::size_t>& counts = occurrences[rank];
    return nth * count / counts[operation] * counts.size() + operation;
  }
};
}  // namespace

JobReplay::JobReplay(const Job& job,
                     const StepPlan& steps,
                     const Waits& waits,
                     const Alignment& alignment)
    : job_(job),
      steps_(steps),
      waits_(waits),
      alignment_(alignment),
      useful_(job.recordings.size()),
      slow_(job.recordings.size()) {
  reason_ = build_graphs();
  if (!reason_.empty()) return;
  find_stages();
  number_operations();
  measure_pieces();
}

std::string JobReplay::build_graphs() {
  /// A window without steps may hold a whole recording; so many pieces of GPU work and their
  /// launches take about 10 GB.
  constexpr std::int64_t most_nodes = 64'000'000;
  /// A replay that misses the recording by more than this does not know what depended on what.
  constexpr double largest_error = 0.10;
  if (job_.recordings.size() < 2) return "one rank alone has no parallel efficiency.";
  if (!alignment_.report.comparable)
    return "the ranks' clocks do not compare: " + alignment_.report.reason;
  auto windows = choose_windows(job_, steps_, alignment_.map);
  if (!windows) return "the recordings hold no work of a GPU.";
  windows_ = std::move(*windows);
  for_each_index(useful_.size(), [&](std::size_t rank) {
    const IntervalSet computing =
        compute_intervals(RankView(job_.recordings[rank], alignment_.map, rank));
    for (const EfficiencyWindow& run : windows_.runs)
      useful_[rank] += computing.within(run.by_rank[rank]).length();
  });
  if (*std::ranges::max_element(useful_) <= nanoseconds::zero())
    return "no kernel ran that is not communication.";
  std::int64_t events = 0;
  for (const EfficiencyWindow& run : windows_.runs)
    events += events_within(job_, alignment_.map, run);
  if (events > most_nodes)
    return fmt::format("{} events without steps are too many to replay.", events);
  for (const EfficiencyWindow& run : windows_.runs)
    runs_.push_back(build_replay_graph(job_, waits_, alignment_.map, run));
  if (std::ranges::all_of(runs_, [](const ReplayGraph& run) { return run.devices.empty(); }))
    return "no GPU work begins in the steps that count.";
  error_ = Predictor(runs_, {}).error();
  if (std::abs(error_) <= largest_error) return "";
  return fmt::format(
      "a replay of the recorded dependencies misses the measured time by {:.0f} %, "
      "so that they are not understood.",
      100.0 * error_);
}

nanoseconds JobReplay::runtime() const {
  nanoseconds sum{};
  for (const EfficiencyWindow& run : windows_.runs) sum += run.length();
  return sum;
}

/// What the tools state or, where messages link all ranks to chains of one length, the place in the
/// chain, from the rank that sends first.
void JobReplay::find_stages() {
  for (const Recording& recording : job_.recordings)
    stages_.push_back(recording.origin.pipeline_stage.value_or(-1));
  std::vector<std::set<std::size_t>> linked(stages_.size());
  std::vector<std::size_t> heads;  // senders, in the order of their messages
  const bool stated = std::ranges::count(stages_, -1) != std::ssize(stages_);
  for (const attribution::CollectiveWait& one : waits_.collectives) {
    if (!one.sender || one.participants.size() != 2 || stated) continue;
    const auto a = static_cast<std::size_t>(one.participants[0].rank.index);
    const auto b = static_cast<std::size_t>(one.participants[1].rank.index);
    linked[a].insert(b);
    linked[b].insert(a);
    heads.push_back(static_cast<std::size_t>(one.sender->index));
  }
  std::set<std::int32_t> lengths;
  for (std::size_t at : heads) {
    if (linked[at].size() != 1 || stages_[at] >= 0) continue;
    std::int32_t stage = 0;
    for (bool more = true; more; ++stage) {
      stages_[at] = stage;
      more = false;
      for (const std::size_t next : linked[at])
        if (stages_[next] < 0 && linked[next].size() <= 2) more = (at = next, true);
    }
    lengths.insert(stage);
  }
  const bool whole = std::ranges::count(stages_, -1) == 0 && (stated || lengths.size() == 1);
  if (!whole) stages_.assign(stages_.size(), -1);
  stage_count_ = std::set(stages_.begin(), stages_.end()).size();
}

void JobReplay::number_operations() {
  std::map<std::string_view, std::uint32_t> numbers;
  times_.resize(useful_.size());
  for (std::size_t rank = 0; rank < times_.size(); ++rank) {
    const Recording& recording = job_.recordings[rank];
    auto number = remembered(recording.names, [&](std::string_view name) {
      return numbers.emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
    });
    for (ReplayGraph& run : runs_)
      for (NodeIndex i = run.ranks[rank].first; i < run.ranks[rank].last; ++i) {
        DeviceNode& node = run.devices[i];
        if (node.kind != DeviceNode::Kind::compute) continue;
        node.operation = number(recording.device_events[node.event].name);
        times_[rank].resize(numbers.size());
        times_[rank][node.operation] += static_cast<double>(node.end - node.start);
      }
  }
  for (Times& times : times_) {
    times.resize(numbers.size());
    totals_.push_back(sum_of_times(times));
  }
}

/// By what a rank's pieces take beyond its peers' pieces of the same time, or, where it has no
/// peers, beyond its mean piece; each operation in proportion to its means.
void JobReplay::measure_pieces() {
  const auto ranks = static_cast<std::uint32_t>(totals_.size());
  Times sums(times_.front().size());
  for (const Times& times : times_)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += times[i];
  const std::vector<std::uint32_t> operations = longest_operations(sums);
  const std::size_t kinds = operations.size();
  std::vector<Pieces> runs;
  double n = 0.0;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    runs.emplace_back(runs_[i], operations, static_cast<std::size_t>(windows_.runs[i].steps()));
    n += static_cast<double>(runs.back().count);
  }
  std::map<std::int32_t, std::vector<std::uint32_t>> groups;  // of peers
  for (std::uint32_t rank = 0; rank < ranks; ++rank) groups[group_of(rank)].push_back(rank);
  std::vector<Times> squares(ranks, Times(kinds));  // of what is beyond the peers, by operation
  std::vector<Times> beyond(ranks);                 // the same of whole pieces, by piece
  for (const auto& [group, members] : groups)
    for (const Pieces& run : runs)
      for (std::size_t at = 0; at < run.count * kinds; at += kinds) {
        for (const std::uint32_t one : members) beyond[one].push_back(0.0);
        for (std::size_t kind = 0; kind < kinds; ++kind) {
          double sum = 0.0;
          double all = 0.0;
          for (const std::uint32_t one : members) {
            sum += run.times[one][at + kind];
            all += times_[one][operations[kind]];
          }
          const double pace = members.size() == 1 ? 1.0 / n : all > 0.0 ? sum / all : 0.0;
          for (const std::uint32_t one : members) {
            const double residual =
                run.times[one][at + kind] - pace * times_[one][operations[kind]];
            squares[one][kind] += residual * residual / n;
            beyond[one].back() += residual;
          }
        }
      }
  double variance = 0.0;     // of whole pieces
  double independent = 0.0;  // the same if operations varied each for itself
  double alike = 0.0;        // the same if all varied alike
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    double roots = 0.0;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      independent += squares[rank][kind];
      roots += std::sqrt(squares[rank][kind]);
    }
    alike += roots * roots;
    variance += sum_of_squares(beyond[rank], 1) / n;
    const auto peers = static_cast<double>(groups[group_of(rank)].size());
    // Pieces that follow each other may be of one micro-batch.
    double most = 0.0;
    for (std::size_t block = 1; block == 1 || 8 * block <= beyond[rank].size(); block *= 2)
      most = std::max(most, sum_of_squares(beyond[rank], block));
    standard_error_.push_back(n > 1.0 && totals_[rank] > 0.0
                                  ? std::sqrt(most) / totals_[rank] *
                                        (peers > 1.0 ? peers / (peers - 1.0) : 1.0)
                                  : 1.0);
  }
  find_units();
  constexpr double least_correlation = 0.5;
  constexpr double least_deviation = 0.02;
  const double mean = sum_of_times(totals_) / n / ranks;
  rotating_ = n > 1.0 && kinds > 1 &&
              variance - independent > least_correlation * (alike - independent) &&
              std::sqrt(variance / ranks) > least_deviation * mean;
  typical_ = totals_;
  for (std::uint32_t rank = 0; rank < ranks && rotating_; ++rank) {
    std::vector<std::uint32_t> peers = groups[group_of(rank)];
    // Who is slow stays slow.
    std::erase_if(peers, [&](std::uint32_t one) { return slow_[one]; });
    const Times usual = mean_times(slow_[rank] ? std::vector{rank} : peers);
    for (std::size_t i = 0; i < runs.size(); ++i)
      for_each_occurrence(runs_[i], rank, operations, [&](auto& node, auto kind, auto nth) {
        const double own = runs[i].times[rank][runs[i].place(rank, kind, nth)];
        const double typical = own > 0.0 ? usual[operations[kind]] / n / own : 1.0;
        node.typical = static_cast<float>(typical);
        typical_[rank] += static_cast<double>(node.end - node.start) * (typical - 1.0);
      });
  }
}

std::int32_t JobReplay::group_of(std::uint32_t rank) const {
  return stage_count_ == stages_.size() ? -1 : stages_[rank];
}

bool JobReplay::is_peer(std::uint32_t rank, std::uint32_t other, LateUnit level) const {
  if (other == rank || slow_[other]) return false;
  return level == LateUnit::stage ? stages_[other] != stages_[rank]
                                  : group_of(other) == group_of(rank);
}

SlowUnit JobReplay::unit_of(LateUnit level,
                            const std::string& name,
                            const std::vector<std::uint32_t>& members) const {
  SlowUnit unit{level, name, members, {}};
  std::vector<bool> known(totals_.size());  // of the peers
  const auto count = static_cast<double>(members.size());
  double least = 1e9;
  double error = 0.0;
  for (const std::uint32_t member : members) {
    Times usual;
    for (std::uint32_t other = 0; other < totals_.size(); ++other)
      if (is_peer(member, other, level) && std::ranges::find(members, other) == members.end()) {
        if (!known[other]) unit.peers.push_back(other);
        known[other] = true;
        usual.push_back(totals_[other]);
      }
    const double of_peers = median(usual).value_or(0.0);
    if (member == members.front() && !usual.empty())
      unit.compared = *std::ranges::min_element(
          unit.peers, {}, [&](std::uint32_t other) { return std::abs(totals_[other] - of_peers); });
    const double excess = slow_[member] || of_peers <= 0.0 ? 0.0 : totals_[member] / of_peers - 1.0;
    unit.excess += excess / count;
    least = std::min(least, excess);
    error += standard_error_[member] / count;
  }
  constexpr double certain = 5.0;
  if (least < 0.5 * unit.excess || unit.excess < certain * error ||
      unit.excess < (level == LateUnit::stage ? 0.05 : 0.03))
    unit.excess = 0.0;
  return unit;
}

void JobReplay::find_units() {
  constexpr std::size_t most_units = 8;
  constexpr std::array levels{LateUnit::stage, LateUnit::host, LateUnit::replica, LateUnit::rank};
  const RankNumbers numbers(job_);
  std::array<std::map<std::string, std::vector<std::uint32_t>>, levels.size()> groups;
  for (std::uint32_t rank = 0; rank < totals_.size(); ++rank) {
    const Origin& origin = job_.recordings[rank].origin;
    groups[0][fmt::format("pipeline stage {}", stages_[rank])].push_back(rank);
    groups[1]["host " + origin.host].push_back(rank);
    groups[2][fmt::format("replica {}", origin.data_parallel_rank.value_or(-1))].push_back(rank);
    groups[3][fmt::format("rank {}", numbers.at(rank).index)].push_back(rank);
  }
  for (std::size_t level = 0; level < levels.size() && units_.size() < most_units;) {
    SlowUnit slowest;
    for (const auto& [name, members] : groups[level]) {
      if (slow_[members.front()] || members.size() == totals_.size() ||
          (members.size() < 2 && levels[level] != LateUnit::rank))
        continue;
      SlowUnit unit = unit_of(levels[level], name, members);
      if (unit.excess > slowest.excess) slowest = std::move(unit);
    }
    if (slowest.members.empty()) {
      ++level;
      continue;
    }
    for (const std::uint32_t member : slowest.members) slow_[member] = true;
    units_.push_back(std::move(slowest));
  }
}

JobReplay::Times JobReplay::mean_times(const std::vector<std::uint32_t>& ranks) const {
  Times mean(times_.front().size());
  for (const std::uint32_t rank : ranks)
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += times_[rank][i] / static_cast<double>(ranks.size());
  return mean;
}

/// Of operations that only one side has, all together take as long as the other's; where the rank
/// has none, its others take as much longer.
void JobReplay::set_pace(std::uint32_t rank,
                         const Times& own,
                         const Times& target,
                         Change& change) const {
  change.compute.resize(totals_.size() * own.size(), 1.0);
  std::array<double, 2> own_sum{};  // of operations of one side, of both
  std::array<double, 2> target_sum{};
  const auto common = [&](std::size_t i) { return own[i] > 0.0 && target[i] > 0.0; };
  for (std::size_t i = 0; i < own.size(); ++i) {
    own_sum.at(common(i)) += own[i];
    target_sum.at(common(i)) += target[i];
  }
  const double rest = own_sum[0] > 0.0 ? target_sum[0] / own_sum[0] : 1.0;
  const double more = own_sum[0] > 0.0 || target_sum[1] <= 0.0
                          ? 1.0
                          : (target_sum[0] + target_sum[1]) / target_sum[1];
  for (std::size_t i = 0; i < own.size(); ++i)
    change.compute[rank * own.size() + i] *= common(i) ? more * target[i] / own[i] : rest;
}

Change JobReplay::even_stages() const {
  std::map<std::int32_t, std::vector<std::uint32_t>> stages;
  for (std::uint32_t rank = 0; rank < totals_.size(); ++rank) stages[stages_[rank]].push_back(rank);
  Times target(times_.front().size());
  for (const auto& [stage, ranks] : stages) {
    const Times mean = mean_times(ranks);
    for (std::size_t i = 0; i < target.size(); ++i)
      target[i] += mean[i] / static_cast<double>(stages.size());
  }
  Change change;
  for (const auto& [stage, ranks] : stages)
    for (const std::uint32_t rank : ranks) set_pace(rank, mean_times(ranks), target, change);
  return change;
}

Change JobReplay::without(const std::vector<attribution::Straggler>& stragglers) const {
  Change change;
  for (const attribution::Straggler& one : stragglers) {
    if (one.level == LateUnit::rotating) {
      change.typical_pieces = true;
      continue;
    }
    if (one.level == LateUnit::stage) {
      const Change even = even_stages();
      change.compute.resize(even.compute.size(), 1.0);
      for (std::size_t i = 0; i < even.compute.size(); ++i) change.compute[i] *= even.compute[i];
      continue;
    }
    const bool computes =
        one.cause == LateCause::slower_kernels || one.cause == LateCause::longer_kernels ||
        one.cause == LateCause::more_work ||
        (one.cause == LateCause::undecided && slow_[static_cast<std::size_t>(one.rank.index)]);
    std::vector<Rank> members = one.members;
    if (members.empty()) members.push_back(one.rank);
    for (const Rank member : members) {
      const auto rank = static_cast<std::uint32_t>(member.index);
      std::vector<std::uint32_t> peers;
      for (std::uint32_t other = 0; other < totals_.size(); ++other)
        if (is_peer(rank, other, LateUnit::rank) &&
            std::ranges::find(members, Rank{static_cast<int>(other)}) == members.end())
          peers.push_back(other);
      if (computes && !peers.empty()) {
        set_pace(rank, times_[rank], mean_times(peers), change);
      } else {
        change.on_time.resize(totals_.size());
        change.on_time[rank] = true;
      }
    }
  }
  return change;
}

std::vector<double> JobReplay::ratios(const std::vector<Change>& changes) const {
  const Predictor predictor(runs_, changes);
  std::vector<double> ratios;
  for (const Change& change : changes) {
    double least = 0.0;
    for (std::uint32_t rank = 0; rank < totals_.size(); ++rank) {
      if (change.excuses(rank) || totals_[rank] <= 0.0) continue;
      double paced = change.typical_pieces ? typical_[rank] : totals_[rank];
      for (std::size_t i = 0; i < times_[rank].size() && !change.compute.empty(); ++i)
        paced += times_[rank][i] * (change.compute[rank * times_[rank].size() + i] - 1.0);
      least = std::max(least, in_ns(useful_[rank]) * paced / totals_[rank]);
    }
    ratios.push_back(
        std::clamp(predictor.ratio(change), std::min(1.0, least / in_ns(runtime())), 1.0));
  }
  return ratios;
}
}  // namespace scaleworth::trace
