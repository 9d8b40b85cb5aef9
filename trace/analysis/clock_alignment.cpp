// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "trace/analysis/waits.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
/// Whether all recordings are one framework's timeline, which has one clock by construction.
bool one_timeline(const Job& job) {
  return !job.recordings.empty() &&
         std::ranges::all_of(job.recordings, [&](const Recording& recording) {
           return recording.origin.pipeline_stage.has_value() &&
                  recording.origin.file == job.recordings.front().origin.file;
         });
}

class Placer {
 public:
  Placer(const Job& job, const Meetings& meetings)
      : job_(job), meetings_(meetings), placed_(job.recordings.size()) {
    result_.offsets.resize(placed_.size());
    result_.component.resize(placed_.size());
    result_.ties.resize(placed_.size(), ClockTie::reference);
    result_.half_widths.resize(placed_.size());
  }

  Placement place() {
    if (one_timeline(job_)) {
      result_.ties.assign(placed_.size(), ClockTie::one_clock);
      result_.components = 1;
      return std::move(result_);
    }
    for (std::size_t rank = 0; rank < placed_.size(); ++rank) {
      if (placed_[rank]) continue;
      settle(rank, nanoseconds::zero(), ClockTie::reference);
      // The best tie first; every rank placed may bring others within its reach.
      while (grow_by_meetings() || grow_by_messages() || grow_by_host()) check_interrupt();
      ++result_.components;
    }
    return std::move(result_);
  }

 private:
  void settle(std::size_t rank, nanoseconds offset, ClockTie tie) {
    placed_[rank] = true;
    result_.offsets[rank] = offset;
    result_.component[rank] = result_.components;
    result_.ties[rank] = tie;
  }

  bool here(std::uint32_t rank) const {
    return placed_[rank] && result_.component[rank] == result_.components;
  }

  nanoseconds common(std::uint32_t rank, nanoseconds time) const {
    return time + result_.offsets[rank];
  }

  bool grow_by_meetings() {
    std::map<std::uint32_t, std::vector<nanoseconds>> candidates;
    std::vector<nanoseconds> ends;
    for (const Meetings::Meeting& meeting : meetings_.meetings) {
      ends.clear();
      for (const MeetingSide& side : meetings_.sides_of(meeting))
        if (here(side.rank)) ends.push_back(common(side.rank, side.end));
      if (ends.empty() || ends.size() == meeting.count) continue;
      const nanoseconds end = upper_median(ends);
      for (const MeetingSide& side : meetings_.sides_of(meeting))
        if (!placed_[side.rank]) candidates[side.rank].push_back(bounded_offset(end - side.end));
    }
    for (auto& [rank, offsets] : candidates)
      settle(rank, upper_median(offsets), ClockTie::meetings);
    return !candidates.empty();
  }

  bool grow_by_messages() {
    std::map<std::uint32_t, Freedom> bounds;
    for (const Precedence& p : meetings_.precedences) {
      if (here(p.before_rank) && !placed_[p.after_rank])
        bounds[p.after_rank].raise(bounded_offset(common(p.before_rank, p.before) - p.after));
      if (here(p.after_rank) && !placed_[p.before_rank])
        bounds[p.before_rank].lower(bounded_offset(common(p.after_rank, p.after) - p.before));
    }
    bool grown = false;
    for (const auto& [rank, of] : bounds) {
      const auto half_width = of.half_width();
      if (!half_width) continue;
      settle(rank, *of.low + (*of.high - *of.low) / 2, ClockTie::messages);
      result_.half_widths[rank] = *half_width;
      grown = true;
    }
    return grown;
  }

  bool grow_by_host() {
    bool grown = false;
    std::map<std::string_view, std::uint32_t> hosts;
    for (std::uint32_t rank = 0; rank < placed_.size(); ++rank)
      if (here(rank) && !job_.recordings[rank].origin.host.empty())
        hosts.emplace(job_.recordings[rank].origin.host, rank);
    for (std::uint32_t rank = 0; rank < placed_.size(); ++rank) {
      const auto found = hosts.find(job_.recordings[rank].origin.host);
      if (placed_[rank] || found == hosts.end()) continue;
      settle(rank, result_.offsets[found->second], ClockTie::one_clock);
      grown = true;
    }
    return grown;
  }

  const Job& job_;
  const Meetings& meetings_;
  std::vector<bool> placed_;
  Placement result_;
};

std::optional<nanoseconds> quantile(const std::vector<WeightedValue>& values, double p) {
  const std::optional<double> found = weighted_quantile(values, p);
  if (!found) return std::nullopt;
  return nanoseconds(static_cast<std::int64_t>(*found));
}

/// Median of `ends`, sorted, without the one at `left_out`.
double median_without(const std::vector<std::pair<double, std::uint32_t>>& ends,
                      std::size_t left_out) {
  const std::size_t count = ends.size() - 1;
  const auto at = [&](std::size_t place) {
    return ends[place < left_out ? place : place + 1].first;
  };
  return (at((count - 1) / 2) + at(count / 2)) / 2.0;
}

/// From so many collectives on the residuals give the error; below, only causality does.
constexpr std::int64_t fewest_for_residuals = 4;
/// Two GPUs of one host agree that well without any correction: 22 us were seen between two H100 of
/// one Nsight recording, 7 us between eight V100 of one host.
constexpr nanoseconds one_host_error = std::chrono::microseconds(30);

double microseconds(nanoseconds time) {
  return in_ns(time) / 1e3;
}

class Aligner {
 public:
  Aligner(const Job& job, const Matching& matching)
      : job_(job),
        matching_(matching),
        meetings_(find_meetings(job, matching)),
        placement_(Placer(job, meetings_).place()) {}

  Alignment align() {
    alignment_.map =
        one_timeline(job_)
            ? ClockMap(job_.recordings.size())
            : obey_causality(meetings_, placement_, refine_clocks(meetings_, placement_));
    alignment_.component = placement_.component;
    describe_ranks();
    find_error();
    alignment_.report.causality_violations =
        count_violations(meetings_, alignment_.map, alignment_.report.error);
    alignment_.report.method = method();
    judge();
    return std::move(alignment_);
  }

 private:
  /// A residual is the distance of one rank's end of a collective from the median of the others'
  /// ends; quantiles weigh collectives as the fit does.
  void describe_ranks() {
    const ClockMap& map = alignment_.map;
    std::vector<std::vector<WeightedValue>> by_rank(map.ranks());
    std::vector<WeightedValue> all;
    std::vector<std::pair<double, std::uint32_t>> ends;
    for (const Meetings::Meeting& meeting : meetings_.meetings) {
      ends.clear();
      nanoseconds origin{};
      for (const MeetingSide& side : meetings_.sides_of(meeting)) {
        const nanoseconds end = map.to_common(side.rank, side.end);
        if (ends.empty()) origin = end;
        ends.emplace_back(in_ns(end - origin), side.rank);
      }
      std::ranges::sort(ends);
      for (std::size_t i = 0; i < ends.size(); ++i) {
        const double residual = std::abs(ends[i].first - median_without(ends, i));
        by_rank[ends[i].second].push_back({residual, meeting.weight});
        all.push_back({residual, meeting.weight});
      }
    }
    for (std::size_t rank = 0; rank < job_.recordings.size(); ++rank)
      alignment_.report.ranks.push_back({Rank{static_cast<int>(rank)},
                                         map.clock(rank).offset,
                                         0.0 - map.clock(rank).drift * 1e6,
                                         quantile(by_rank[rank], 0.5),
                                         quantile(by_rank[rank], 0.95),
                                         std::ssize(by_rank[rank])});
    p50_ = quantile(all, 0.5);
    p95_ = quantile(all, 0.95);
  }

  /// What all ranks have in common, and more where a rank's tie to the others is weaker.
  void find_error() {
    nanoseconds error = p95_.value_or(nanoseconds::zero());
    const std::vector<Freedom> freedom = freedom_of(meetings_, alignment_.map);
    for (std::size_t rank = 0; rank < job_.recordings.size(); ++rank) {
      const ClockTie tie = placement_.ties[rank];
      if (tie == ClockTie::messages) error = std::max(error, placement_.half_widths[rank]);
      const bool few = alignment_.report.ranks[rank].matches < fewest_for_residuals;
      if (tie == ClockTie::one_clock && few && !one_timeline(job_))
        error = std::max(error, one_host_error);
      if (tie == ClockTie::meetings && few)
        // Few collectives cannot show how well their ends agree: half the room that causality
        // leaves.
        error = std::max(error, freedom[rank].half_width().value_or(error));
    }
    alignment_.report.error = error;
  }

  std::string method() const {
    if (job_.recordings.size() < 2) return "a single rank: nothing to align";
    const std::string agreement =
        p50_ ? fmt::format(
                   "the ends of {} collectives agree to {:.1f} us (median), {:.1f} us (95 %)",
                   meetings_.meetings.size(),
                   microseconds(*p50_),
                   microseconds(*p95_))
             : "no collective shows how well they agree";
    if (one_timeline(job_)) return fmt::format("one timeline, one clock; {}", agreement);
    const auto drifting = std::ranges::count_if(
        alignment_.report.ranks, [](const auto& clock) { return clock.drift_ppm != 0.0; });
    std::string text = fmt::format("one offset per rank{} from collectives that end together: {}",
                                   drifting > 0 ? " and a drift where it shows" : "",
                                   agreement);
    for (const auto& [tie, words] :
         {std::pair(ClockTie::messages, "are tied to the others by messages only"),
          std::pair(ClockTie::one_clock, "are taken to share their host's clock")})
      if (const std::string ranks = ranks_tied_by(tie); !ranks.empty())
        text += fmt::format("; {} {}", ranks, words);
    if (placement_.components > 1)
      text += fmt::format("; {} sets of ranks share no collective and are not compared",
                          placement_.components);
    return text;
  }

  std::string ranks_tied_by(ClockTie tie) const {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < placement_.ties.size(); ++rank)
      if (placement_.ties[rank] == tie) ranks.push_back(rank);
    return RankNumbers(job_).names(ranks);
  }

  /// Refuses verdicts across ranks where nothing ties clocks, or their error is larger than most of
  /// the lateness that they show.
  void judge() {
    attribution::ClockReport& report = alignment_.report;
    if (job_.recordings.size() < 2) return;
    if (placement_.components == job_.recordings.size()) {
      report.reason = "no collective, message or host ties the ranks' clocks together";
    } else if (const auto typical = typical_lateness(); typical && *typical < report.error) {
      report.reason = fmt::format(
          "the clocks agree to {:.1f} us only, and half of all lateness is "
          "in arrivals less than {:.1f} us apart",
          microseconds(report.error),
          microseconds(*typical));
    }
    report.comparable = report.reason.empty();
  }

  /// Half of all lateness is in collectives whose arrivals are spread by at least this.
  std::optional<nanoseconds> typical_lateness() const {
    const ArrivalFinder finder(job_, alignment_.map);
    std::vector<WeightedValue> spreads;
    for (const MatchedCollective& matched : matching_.collectives) {
      const auto [first, last] = std::ranges::minmax(finder.of(matched), {}, &TimeInterval::start);
      const auto spread = in_ns(last.start - first.start);
      if (spread > 0.0) spreads.push_back({spread, spread});
    }
    return quantile(spreads, 0.5);
  }

  const Job& job_;
  const Matching& matching_;
  Meetings meetings_;
  Placement placement_;
  std::optional<nanoseconds> p50_;  // of the residuals of all ranks together
  std::optional<nanoseconds> p95_;
  Alignment alignment_;
};
}  // namespace

Alignment align_clocks(const Job& job, const Matching& matching) {
  return Aligner(job, matching).align();
}
}  // namespace scaleworth::trace
