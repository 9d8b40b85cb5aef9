// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/job_replay.h"

#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/stragglers.h"

#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace scaleworth::trace {
namespace {

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

/// Of a rank.
template <class Visit>
void each_compute(std::vector<ReplayGraph>& runs, std::size_t rank, Visit visit) {
  for (ReplayGraph& run : runs)
    for (NodeIndex i = run.ranks[rank].first; i < run.ranks[rank].last; ++i)
      if (run.devices[i].kind == DeviceNode::Kind::compute) visit(run.devices[i]);
}
}  // namespace

/// Compute of a run, cut into pieces by how often each operation occurs, such as micro-batches: the
/// i-th piece has the i-th of equal numbers of its occurrences on a rank. Only of the longest
/// operations, at most eight: together 80 % of all, if they suffice.
class Pieces {
 public:
  std::vector<std::uint32_t> operations;
  std::size_t count = 0;                   // of all runs
  std::vector<std::vector<double>> times;  // ns by rank, then piece * operations + operation
  std::vector<std::vector<double>> means;  // of a piece, by rank and operation

  /// `sums` are the operations' times on all ranks.
  Pieces(std::vector<ReplayGraph>& runs, const EfficiencyWindows& windows, std::vector<double> sums)
      : runs_(runs) {
    constexpr std::size_t most_operations = 8;  // kinds: memory is their number by pieces and ranks
    // Of the time: the rest is many short ones, which carry no pattern.
    constexpr double enough = 0.8;
    constexpr std::size_t most_pieces = 1024;  // for memory: ranks by pieces by operations
    double left = enough * std::accumulate(sums.begin(), sums.end(), 0.0);
    while (left > 0.0 && operations.size() < most_operations) {
      const auto longest = std::ranges::max_element(sums);
      operations.push_back(static_cast<std::uint32_t>(longest - sums.begin()));
      left -= std::exchange(*longest, 0.0);
    }
    const std::size_t ranks = runs.front().ranks.size();
    counts_.assign(runs.size() * ranks, std::vector<std::size_t>(operations.size()));
    visit(
        [&](auto run, auto rank, auto&, auto kind, auto) { ++counts_[run * ranks + rank][kind]; });
    for (std::size_t run = 0; run < runs.size(); ++run) {
      std::size_t divisor = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank)
        for (const std::size_t one : counts_[run * ranks + rank]) divisor = std::gcd(divisor, one);
      const auto steps = static_cast<std::size_t>(windows.runs[run].steps());
      first_.push_back(count);
      of_run_.push_back(std::min(std::max(divisor, steps), most_pieces));
      count += of_run_.back();
    }
    times.assign(ranks, std::vector<double>(count * operations.size()));
    means.assign(ranks, std::vector<double>(operations.size()));
    visit([&](auto run, auto rank, auto& node, auto kind, auto nth) {
      const auto time = static_cast<double>(node.end - node.start);
      times[rank][place(run, rank, kind, nth)] += time;
      means[rank][kind] += time / static_cast<double>(count);
    });
  }

  /// Of all operations of a piece, in ns.
  double time(std::size_t rank, std::size_t piece) const {
    const auto first = times[rank].begin() + (piece * operations.size());
    return std::accumulate(first, first + operations.size(), 0.0);
  }

  /// As `times` of the median of `ranks`; of one alone its mean piece.
  std::vector<double> usual(const std::vector<Place>& ranks) const {
    std::vector<double> all(count * operations.size());
    std::vector<double> at(ranks.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::ranges::transform(ranks, at.begin(), [&](Place one) { return times[one.index][i]; });
      all[i] = ranks.size() > 1 ? *median(at) : means[ranks[0].index][i % operations.size()];
    }
    return all;
  }

  /// Calls visit(run, rank, node, operation, how-manieth) for compute of these operations.
  template <class Visit>
  void visit(Visit visit) {
    for (std::size_t run = 0; run < runs_.size(); ++run)
      for (std::size_t rank = 0; rank < runs_[run].ranks.size(); ++rank) {
        std::vector<std::size_t> counts(operations.size());
        const RankSpan& span = runs_[run].ranks[rank];
        for (NodeIndex i = span.first; i < span.last; ++i) {
          DeviceNode& node = runs_[run].devices[i];
          const auto found = std::ranges::find(operations, node.operation);
          if (node.kind != DeviceNode::Kind::compute || found == operations.end()) continue;
          const auto kind = static_cast<std::size_t>(found - operations.begin());
          visit(run, rank, node, kind, counts[kind]++);
        }
      }
  }

  /// In `times`.
  std::size_t place(std::size_t run, std::size_t rank, std::size_t kind, std::size_t nth) const {
    const std::size_t all = counts_[run * times.size() + rank][kind];
    return (first_[run] + nth * of_run_[run] / all) * operations.size() + kind;
  }

 private:
  std::vector<ReplayGraph>& runs_;
  std::vector<std::vector<std::size_t>> counts_;  // by run and rank, then operation
  std::vector<std::size_t> first_;                // piece, by run
  std::vector<std::size_t> of_run_;               // pieces
};

namespace {
struct LatePieces {
  bool gather = false;  // more of the group's late pieces are this rank's than chance gives it
  bool vary = false;    // how much longer its pieces take changes from one to the next
};

/// Of the ranks of a group, against the `usual` pieces of the same time, of two the shorter one. A
/// piece is late that takes longer by 3 % and more and by six times the spread of all of the
/// group's: the median distance, 1 / 1.4826 of a normal's standard deviation; of two ranks, of
/// which one may be late in half of the pieces, the distance from the piece before. Late pieces
/// gather on a rank when chance would put so many of them on any one rank in fewer than one of a
/// thousand groups.
std::vector<LatePieces> late_pieces(const Pieces& pieces,
                                    const std::vector<Place>& ranks,
                                    const std::vector<double>& usual) {
  // See the header; presumed: less names the noise of kernels.
  constexpr double least_excess = 0.03;
  constexpr double least_variation = 0.02;  // presumed, as above
  constexpr double rare = 1e-3;             // one group in a thousand by chance
  constexpr int fewest = 3;                 // late pieces: two may be one event
  std::vector<LatePieces> found(ranks.size());
  const std::size_t kinds = pieces.operations.size();
  if (ranks.size() < 2 || std::cmp_less(pieces.count, fewest)) return found;
  std::vector<std::vector<double>> beyond(ranks.size());  // by rank, then piece, as a fraction
  std::vector<double> distances;
  for (std::size_t piece = 0; piece < pieces.count; ++piece) {
    double all = 0.0;
    for (std::size_t kind = 0; kind < kinds; ++kind) all += usual[piece * kinds + kind];
    // In the middle between two, a late one's partner would mirror it.
    const auto time = [&](Place one) { return pieces.time(one.index, piece); };
    if (ranks.size() == 2) all = std::min(time(ranks[0]), time(ranks[1]));
    for (std::size_t i = 0; i < ranks.size() && all > 0.0; ++i) {
      const double from = ranks.size() == 2 && !beyond[i].empty() ? beyond[i].back() : 0.0;
      beyond[i].push_back(time(ranks[i]) / all - 1.0);
      distances.push_back(std::abs(beyond[i].back() - from));
    }
  }
  const double spread = sigma_per_mad * median(distances).value_or(0.0);
  // Of a normal none of 1,024 pieces by chance.
  const double late = std::max(least_excess, 6.0 * spread);
  const auto counts = mapped(beyond, [&](const std::vector<double>& one) {
    return static_cast<std::int32_t>(
        std::ranges::count_if(one, [&](double x) { return x > late; }));
  });
  const std::int32_t all = std::accumulate(counts.begin(), counts.end(), 0);
  const auto n = static_cast<double>(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    found[i].gather = counts[i] >= fewest && n * binomial_tail(counts[i], all, 1.0 / n) < rare;
    const double deviation = std::sqrt(moments_of(beyond[i]).of_one.variance);
    found[i].vary = deviation > std::max(least_variation, 3.0 * spread);
  }
  return found;
}
}  // namespace

JobReplay::JobReplay(const Job& of_job,
                     const StepPlan& of_steps,
                     const Waits& of_waits,
                     const Alignment& of_alignment,
                     std::size_t least_ranks)
    : job(of_job),
      steps(of_steps),
      waits(of_waits),
      alignment(of_alignment),
      useful(job.recordings.size()),
      numbers_(job),
      slow_(job.recordings.size()) {
  reason = build_graphs(least_ranks);
  if (runs.empty()) return;
  find_stages();
  measure_pieces();
}

std::optional<Finding> JobReplay::build_graphs(std::size_t least_ranks) {
  /// A window without steps may hold a whole recording; so many pieces of GPU work and their
  /// launches take about 10 GB.
  constexpr std::int64_t most_nodes = 64'000'000;
  /// A replay that misses the recording by more than this does not know what depended on what.
  constexpr double most_error = 0.10;
  if (job.recordings.size() < least_ranks) return FindingId::one_rank_alone;
  auto chosen = choose_windows(job, steps, alignment.map);
  if (!chosen) return FindingId::no_work_of_a_gpu;
  windows = std::move(*chosen);
  const std::vector<IntervalSet> computing = compute_intervals(job, alignment.map);
  for (const EfficiencyWindow& run : windows.runs)
    for (std::size_t rank = 0; rank < useful.size(); ++rank)
      useful[rank] += computing[rank].within(run.by_rank[rank]).length();
  if (*std::ranges::max_element(useful) <= nanoseconds::zero())
    return FindingId::only_communication;
  std::int64_t events = 0;
  for (const EfficiencyWindow& run : windows.runs) {
    events += events_within(job, alignment.map, run);
    runtime += run.length();
  }
  if (events > most_nodes) return Finding(FindingId::too_much_to_replay, events);
  for (const EfficiencyWindow& run : windows.runs)
    runs.push_back(build_replay_graph(job, waits, alignment.map, run));
  if (std::ranges::all_of(runs, [](const ReplayGraph& run) { return run.devices.empty(); })) {
    runs.clear();
    return FindingId::no_work_in_steps;
  }
  // How long each rank's own work takes is known all the same.
  if (!alignment.report.comparable)
    return Finding(FindingId::clocks_not_comparable, *alignment.report.reason);
  error = Predictor(runs, {}).error();
  if (std::abs(error) <= most_error) return std::nullopt;
  return Finding(FindingId::replay_not_understood, error);
}

/// What the tools state or, where messages link all ranks to chains of one length, the place in the
/// chain, from the rank that sends first.
void JobReplay::find_stages() {
  for (const Recording& recording : job.recordings)
    stage_.push_back(recording.origin.pipeline_stage.value_or(-1));
  std::vector<std::set<std::size_t>> linked(stage_.size());
  std::vector<std::size_t> heads;  // senders, in the order of their messages
  const bool stated = std::ranges::count(stage_, -1) != std::ssize(stage_);
  for (const CollectiveWait& one : waits.collectives) {
    if (!one.sender || one.participants.size() != 2 || stated) continue;
    const CollectiveWait::Participant& first = one.participants[0];
    const CollectiveWait::Participant& second = one.participants[1];
    linked[first.place.index].insert(second.place.index);
    linked[second.place.index].insert(first.place.index);
    heads.push_back((*one.sender == first.rank ? first : second).place.index);
  }
  std::set<std::int32_t> lengths;
  for (std::size_t at : heads) {
    if (linked[at].size() != 1 || stage_[at] >= 0) continue;
    std::int32_t stage = 0;
    for (bool more = true; more; ++stage) {
      stage_[at] = stage;
      more = false;
      for (const std::size_t next : linked[at])
        if (stage_[next] < 0 && linked[next].size() <= 2) more = (at = next, true);
    }
    lengths.insert(stage);
  }
  const bool whole = std::ranges::count(stage_, -1) == 0 && (stated || lengths.size() == 1);
  if (!whole) stage_.assign(stage_.size(), -1);
  stages = std::set(stage_.begin(), stage_.end()).size();
  std::map<std::int32_t, std::size_t> numbers;  // of groups, by stage
  for (std::size_t rank = 0; rank < stage_.size(); ++rank) {
    const std::int32_t key = stages == stage_.size() ? -1 : stage_[rank];
    group_of_.push_back(numbers.emplace(key, groups_.size()).first->second);
    groups_.resize(numbers.size());
    groups_[group_of_.back()].ranks.push_back(place_at(rank));
  }
}

/// Numbers compute by its name, on all ranks; the times in ns of all of each, and by rank.
std::vector<double> JobReplay::number_operations() {
  std::map<std::string_view, std::uint32_t> numbers;
  std::vector<double> sums;
  totals_.resize(useful.size());
  for (std::uint32_t rank = 0; rank < totals_.size(); ++rank) {
    const Recording& recording = job.recordings[rank];
    auto number = remembered(recording.names, [&](std::string_view name) {
      return numbers.emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
    });
    each_compute(runs, rank, [&](DeviceNode& node) {
      node.operation = number(recording.device_events[node.event].name);
      sums.resize(numbers.size());
      sums[node.operation] += static_cast<double>(node.end - node.start);
      totals_[rank] += static_cast<double>(node.end - node.start);
    });
  }
  return sums;
}

/// By what the rank's pieces take beyond the `usual` ones of its group, whose `ranks` they are of,
/// at the same time; each operation in proportion to its means. Sets the error of its excess.
PieceVariance JobReplay::variance_of(const Pieces& pieces,
                                     std::size_t rank,
                                     const std::vector<double>& usual,
                                     std::size_t ranks) {
  const std::size_t kinds = pieces.operations.size();
  std::vector<double> means(kinds);
  for (std::size_t i = 0; i < usual.size(); ++i)
    means[i % kinds] += usual[i] / static_cast<double>(pieces.count);
  std::vector<double> beyond(pieces.count);
  std::vector<double> squares(kinds);
  for (std::size_t i = 0; i < usual.size(); ++i) {
    const std::size_t kind = i % kinds;
    const double pace = means[kind] > 0.0 ? pieces.means[rank][kind] / means[kind] : 0.0;
    const double residual = pieces.times[rank][i] - pace * usual[i];
    squares[kind] += residual * residual;
    beyond[i / kinds] += residual;
  }
  // Pieces that follow each other may be of one micro-batch.
  double most = 0.0;
  for (std::size_t block = 1; block == 1 || 8 * block <= pieces.count; block *= 2)
    most = std::max(most, sum_of_squares(beyond, block));
  const auto peers = static_cast<double>(ranks);
  if (pieces.count > 1 && totals_[rank] > 0.0)
    standard_error_[rank] = std::sqrt(most) / totals_[rank] * peers / std::max(1.0, peers - 1.0);
  double roots = 0.0;
  for (const double one : squares) roots += std::sqrt(one);
  return {sum_of_squares(beyond, 1),
          std::accumulate(squares.begin(), squares.end(), 0.0),
          roots * roots};
}

/// By the ranks that are not slow, and on which no late pieces gather. Of two ranks the other one
/// mirrors what a late one takes longer.
bool JobReplay::rotates(const Pieces& pieces, const std::vector<PieceVariance>& variances) const {
  constexpr double least_correlation = 0.5;  // half of the variance is common to all operations
  constexpr double least_deviation = 0.02;   // see the header; less is the kernels' own noise
  const auto late = [&](Place one) { return slow_[one.index] || often_late_[one.index]; };
  PieceVariance sum;
  double all = 0.0;
  double count = 0.0;
  for (std::size_t rank = 0; rank < totals_.size(); ++rank) {
    const std::vector<Place>& ranks = groups_[group_of_[rank]].ranks;
    if (late(place_at(rank)) || (ranks.size() == 2 && std::ranges::any_of(ranks, late))) continue;
    sum.whole += variances[rank].whole;
    sum.independent += variances[rank].independent;
    sum.alike += variances[rank].alike;
    all += totals_[rank];
    count += static_cast<double>(pieces.count);
  }
  return pieces.count > 1 && pieces.operations.size() > 1 &&
         sum.whole - sum.independent > least_correlation * (sum.alike - sum.independent) &&
         std::sqrt(sum.whole * count) > least_deviation * all;
}

/// Every piece as the mean one of its group without slow ranks. Who is slow stays slow.
void JobReplay::set_as_mean_pieces(Pieces& pieces) {
  const std::size_t kinds = pieces.operations.size();
  std::vector<std::vector<double>> fair_means;  // of a piece, of those that are not slow
  for (const PeerGroup& group : groups_) {
    std::vector<double>& means = fair_means.emplace_back(kinds);
    for (const Place one : group.without_slow)
      for (std::size_t kind = 0; kind < kinds; ++kind)
        means[kind] +=
            pieces.means[one.index][kind] / static_cast<double>(group.without_slow.size());
  }
  pieces.visit([&](auto run, auto rank, auto& node, auto kind, auto nth) {
    const double mean = slow_[rank] ? pieces.means[rank][kind] : fair_means[group_of_[rank]][kind];
    const double own = pieces.times[rank][pieces.place(run, rank, kind, nth)];
    if (own <= 0.0) return;
    node.typical = static_cast<float>(mean / own);
    typical_[rank] += static_cast<double>(node.end - node.start) * (mean / own - 1.0);
  });
}

void JobReplay::measure_pieces() {
  Pieces pieces(runs, windows, number_operations());
  std::vector<PieceVariance> variances(totals_.size());
  standard_error_.assign(totals_.size(), 1.0);
  often_late_.resize(totals_.size());
  as_peers_.resize(totals_.size());
  for (const PeerGroup& group : groups_) {
    const std::vector<double> usual = pieces.usual(group.ranks);
    const std::vector<LatePieces> late = late_pieces(pieces, group.ranks, usual);
    for (std::size_t i = 0; i < late.size(); ++i) {
      const std::size_t rank = group.ranks[i].index;
      variances[rank] = variance_of(pieces, rank, usual, group.ranks.size());
      often_late_[rank] = late[i].gather;
      as_peers_[rank] = late[i].vary;
    }
  }
  find_units();
  rotating_load = rotates(pieces, variances);
  typical_ = totals_;
  for (std::size_t rank = 0; rank < totals_.size(); ++rank)
    as_peers_[rank] = as_peers_[rank] && slow_[rank] && !rotating_load;
  rotating_load ? set_as_mean_pieces(pieces) : set_as_peers(pieces);
}

/// Of slow ranks whose pieces vary: each piece, with what lies between its operations, as the mean
/// piece of the peers that are not slow, at the same time.
void JobReplay::set_as_peers(Pieces& pieces) {
  const std::size_t kinds = pieces.operations.size();
  std::vector<std::vector<float>> paces(totals_.size());  // by rank and piece
  for (std::size_t rank = 0; rank < totals_.size(); ++rank) {
    const std::vector<Place>& peers = groups_[group_of_[rank]].without_slow;
    as_peers_[rank] = as_peers_[rank] && !peers.empty();
    for (std::size_t piece = 0; piece < pieces.count && as_peers_[rank]; ++piece) {
      double usual = 0.0;
      for (const Place peer : peers)
        usual += pieces.time(peer.index, piece) / static_cast<double>(peers.size());
      const double own = pieces.time(rank, piece);
      paces[rank].push_back(own > 0.0 ? static_cast<float>(usual / own) : 1.0F);
    }
  }
  pieces.visit([&](auto run, auto rank, auto& node, auto kind, auto nth) {
    if (as_peers_[rank]) node.typical = paces[rank][pieces.place(run, rank, kind, nth) / kinds];
  });
  const std::vector<bool> by_pieces = as_peers_;
  set_operations_as_peers();
  for (std::size_t rank = 0; rank < totals_.size(); ++rank) {
    float pace = 1.0F;
    const auto follow = [&](DeviceNode& node) {
      const bool in_piece = std::ranges::count(pieces.operations, node.operation) > 0;
      (in_piece ? pace : node.typical) = in_piece ? node.typical : pace;
    };
    if (by_pieces[rank]) each_compute(runs, rank, follow);
  }
}

/// Of slow ranks whose pieces are alike: each operation takes as long as on the peers that are not
/// slow, so that what is not late (the attention beside a hot expert) stays. Where most of the
/// rank's time is in operations that its peers do not have, all of it keeps one pace.
void JobReplay::set_operations_as_peers() {
  // Of the rank's time; presumed: with less its peers do other work.
  constexpr double least_shared = 0.9;
  std::vector<std::vector<double>> times(totals_.size());  // ns by rank and operation
  const auto times_of = [&](std::size_t rank) -> std::vector<double>& {
    if (times[rank].empty())
      each_compute(runs, rank, [&](const DeviceNode& node) {
        if (times[rank].size() <= node.operation) times[rank].resize(node.operation + 1);
        times[rank][node.operation] += static_cast<double>(node.end - node.start);
      });
    return times[rank];
  };
  for (std::size_t rank = 0; rank < totals_.size(); ++rank) {
    const std::vector<Place>& peers = groups_[group_of_[rank]].without_slow;
    if (!slow_[rank] || as_peers_[rank] || peers.empty()) continue;
    const std::vector<double>& own = times_of(rank);
    std::vector<double> usual(own.size());
    for (const Place peer : peers) {
      const std::vector<double>& of_peer = times_of(peer.index);
      for (std::size_t i = 0; i < std::min(own.size(), of_peer.size()); ++i)
        usual[i] += of_peer[i] / static_cast<double>(peers.size());
    }
    double shared = 0.0;
    for (std::size_t i = 0; i < own.size(); ++i) shared += usual[i] > 0.0 ? own[i] : 0.0;
    if (shared < least_shared * totals_[rank]) continue;
    as_peers_[rank] = true;
    each_compute(runs, rank, [&](DeviceNode& node) {
      const std::size_t i = node.operation;
      node.typical = usual[i] > 0.0 && own[i] > 0.0 ? static_cast<float>(usual[i] / own[i]) : 1.0F;
    });
  }
}

std::vector<Place> JobReplay::peers_of(Place member, const SlowUnit& unit) const {
  std::vector<Place> peers;
  const auto add = [&](const PeerGroup& group) {
    for (const Place one : group.ranks)
      if (!slow_[one.index] && !std::ranges::binary_search(unit.members, one)) peers.push_back(one);
  };
  const std::size_t own = group_of_[member.index];
  if (unit.level != LateUnit::stage) add(groups_[own]);
  for (std::size_t group = 0; group < groups_.size() && unit.level == LateUnit::stage; ++group)
    if (group != own) add(groups_[group]);
  return peers;
}

void JobReplay::sort_peers() {
  for (PeerGroup& group : groups_) {
    group.without_slow = group.ranks;
    std::erase_if(group.without_slow, [&](Place one) { return slow_[one.index]; });
    std::ranges::sort(
        group.without_slow, {}, [&](Place one) { return std::pair(totals_[one.index], one); });
  }
}

/// Without a list of the peers, which are nearly all ranks: the ranks of a unit are few, and what
/// stands before the median peer are peers and so many of them.
///
///   without_slow   a b M c M d e f      by compute; M: the unit's own
///   peers          a b   c   d e f      the median one, d, is peer 3: two of the unit before it
std::optional<Place> JobReplay::median_peer(Place member, const SlowUnit& unit) const {
  if (unit.level == LateUnit::stage) {
    std::vector<Place> peers = peers_of(member, unit);
    if (peers.empty()) return std::nullopt;
    const auto middle = peers.begin() + std::ssize(peers) / 2;
    std::ranges::nth_element(
        peers, middle, {}, [&](Place one) { return std::pair(totals_[one.index], one); });
    return *middle;
  }
  const std::size_t own = group_of_[member.index];
  const std::vector<Place>& all = groups_[own].without_slow;
  const auto by_compute = [&](Place one) { return std::pair(totals_[one.index], one); };
  std::vector<std::size_t> left_out;  // in `all`
  for (const Place one : unit.members)
    if (group_of_[one.index] == own && !slow_[one.index])
      left_out.push_back(static_cast<std::size_t>(
          std::ranges::lower_bound(all, by_compute(one), {}, by_compute) - all.begin()));
  if (left_out.size() >= all.size()) return std::nullopt;
  std::ranges::sort(left_out);
  std::size_t middle = (all.size() - left_out.size()) / 2;
  for (const std::size_t one : left_out)
    if (one <= middle) ++middle;
  return all[middle];
}

void JobReplay::compare(SlowUnit& unit) const {
  constexpr double certain = 5.0;  // standard errors: of hundreds of units none by chance
  const auto count = static_cast<double>(unit.members.size());
  double least = 1e9;  // above any excess
  double error_of_unit = 0.0;
  std::map<std::size_t, std::optional<Place>> medians;  // by group, whose members have one
  for (const Place member : unit.members) {
    const auto [known, fresh] = medians.try_emplace(group_of_[member.index]);
    if (fresh) known->second = median_peer(member, unit);
    if (!known->second || slow_[member.index]) return void(unit.excess = 0.0);
    const Place median = *known->second;
    unit.compared.push_back(median);
    const double usual = totals_[median.index];
    const double excess = usual > 0.0 ? totals_[member.index] / usual - 1.0 : 0.0;
    unit.excess += excess / count;
    least = std::min(least, excess);
    error_of_unit += standard_error_[member.index] / count;
  }
  const auto flagged = [&](const std::vector<bool>& flags) {
    return std::ranges::all_of(unit.members, [&](Place one) { return flags[one.index]; });
  };
  const bool gathers = flagged(often_late_);
  unit.in_some_pieces = gathers && flagged(as_peers_);
  if (least < 0.5 * unit.excess || (unit.excess < certain * error_of_unit && !gathers) ||
      unit.excess < (unit.level == LateUnit::stage ? 0.05 : 0.03))  // see the header
    unit.excess = 0.0;
}

void JobReplay::find_units() {
  constexpr std::size_t most_units = 8;  // each costs a pass; people read no more
  constexpr std::array levels{LateUnit::stage, LateUnit::host, LateUnit::replica, LateUnit::rank};
  std::array<std::map<std::string, std::vector<Place>>, levels.size()> units;
  for (Place place; place.index < totals_.size(); ++place.index) {
    const Origin& origin = job.recordings[place.index].origin;
    units[0][fmt::format("pipeline stage {}", stage_[place.index])].push_back(place);
    units[1]["host " + origin.host].push_back(place);
    units[2][fmt::format("replica {}", origin.data_parallel_rank.value_or(-1))].push_back(place);
    units[3][fmt::format("rank {}", numbers_.at(place).index)].push_back(place);
  }
  sort_peers();
  for (std::size_t level = 0; level < levels.size() && slow_units.size() < most_units;) {
    SlowUnit slowest;
    for (const auto& [name, members] : units[level]) {
      if ((members.size() == 1) != (levels[level] == LateUnit::rank)) continue;
      SlowUnit unit{levels[level], name, members, {}};
      compare(unit);
      if (unit.excess > slowest.excess) slowest = std::move(unit);
    }
    level += slowest.members.empty() ? 1 : 0;
    for (const Place member : slowest.members) slow_[member.index] = true;
    if (slowest.members.empty()) continue;
    slow_units.push_back(std::move(slowest));
    sort_peers();
  }
}

Change JobReplay::even_stages() const {
  std::map<std::int32_t, std::pair<double, double>> sums;  // ns and ranks
  for (std::size_t rank = 0; rank < totals_.size(); ++rank) {
    sums[stage_[rank]].first += totals_[rank];
    sums[stage_[rank]].second += 1.0;
  }
  double mean = 0.0;
  for (const auto& [stage, sum] : sums)
    mean += sum.first / sum.second / static_cast<double>(sums.size());
  Change change;
  for (const std::int32_t stage : stage_)
    change.compute.push_back(sums[stage].first > 0.0 ? mean * sums[stage].second / sums[stage].first
                                                     : 1.0);
  return change;
}

/// Of its pauses between calls what is left without those that its peers do not make; absent where
/// the recording has no calls of the host, as timers of a framework have none.
std::optional<double> JobReplay::host_pace(Place member, const Straggler& straggler) const {
  double pauses = 0.0;
  for (const ReplayGraph& run : runs)
    for (const HostNode& node : run.hosts)
      if (node.rank == member.index && node.before != no_index)
        pauses +=
            static_cast<double>(std::max<std::int64_t>(node.start - run.hosts[node.before].end, 0));
  double longer = 0.0;
  for (const CauseShare& share : straggler.shares)
    if (share.cause == LateCause::host) longer += in_ns(share.time);
  if (!(pauses > 0.0)) return std::nullopt;
  return std::clamp(1.0 - longer / pauses, 0.0, 1.0);
}

Change JobReplay::without(const std::vector<Straggler>& stragglers) const {
  Change change;
  change.compute.resize(totals_.size(), 1.0);
  for (const Straggler& one : stragglers) {
    change.typical_pieces |= one.level == LateUnit::rotating;
    if (one.level == LateUnit::rotating) continue;
    const bool computes = one.cause == LateCause::slower_kernels ||
                          one.cause == LateCause::longer_kernels ||
                          (one.cause == LateCause::more_work && stages > 1) ||
                          (one.cause == LateCause::undecided && is_slow(one.rank));
    if (one.level == LateUnit::stage) {
      const Change even = even_stages();
      for (std::size_t rank = 0; rank < even.compute.size(); ++rank)
        change.compute[rank] *= even.compute[rank];
      continue;
    }
    SlowUnit unit;
    for (const Rank rank : one.members) unit.members.push_back(*numbers_.place_of(rank));
    if (unit.members.empty()) unit.members.push_back(*numbers_.place_of(one.rank));
    std::map<std::size_t, double> means;  // of the peers, by group
    for (const Place member : unit.members) {
      const auto [mean, fresh] = means.try_emplace(group_of_[member.index], 0.0);
      const std::vector<Place> peers = fresh ? peers_of(member, unit) : std::vector<Place>{};
      for (const Place peer : peers)
        mean->second += totals_[peer.index] / static_cast<double>(peers.size());
      const double own = totals_[member.index];
      const auto pace =
          stages > 1 && one.cause == LateCause::host ? host_pace(member, one) : std::nullopt;
      if (computes && mean->second > 0.0 && own > 0.0) {
        change.compute[member.index] *= mean->second / own;
        change.as_peers.resize(totals_.size());
        change.as_peers[member.index] = as_peers_[member.index];
      } else if (pace) {
        change.host.resize(totals_.size(), 1.0);
        change.host[member.index] = *pace;
      } else {
        change.on_time.resize(totals_.size());
        change.on_time[member.index] = true;
      }
    }
  }
  return change;
}

std::vector<double> JobReplay::ratios(const std::vector<Change>& changes) const {
  const Predictor predictor(runs, changes);
  std::vector<double> ratios;
  for (const Change& change : changes) {
    double least = 0.0;
    for (std::uint32_t rank = 0; rank < totals_.size(); ++rank) {
      if (change.excuses(rank) || totals_[rank] <= 0.0) continue;
      const double paced = (change.typical_pieces ? typical_[rank] : totals_[rank]) *
                           (change.compute.empty() ? 1.0 : change.compute[rank]);
      least = std::max(least, in_ns(useful[rank]) * paced / totals_[rank]);
    }
    ratios.push_back(
        std::clamp(predictor.ratio(change), std::min(1.0, least / in_ns(runtime)), 1.0));
  }
  return ratios;
}
}  // namespace scaleworth::trace
