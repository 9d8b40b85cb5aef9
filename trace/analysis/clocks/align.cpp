// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/clocks/align.h"

#include "trace/analysis/clocks/meetings.h"
#include "trace/analysis/clocks/placement.h"
#include "trace/analysis/clocks/refine.h"
#include "trace/analysis/clocks/residuals.h"
#include "trace/analysis/clocks/robust.h"
#include "trace/analysis/rank_numbers.h"
#include "trace/analysis/waits/arrival_finder.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

/// From so many collectives on the residuals tell the error; below, only causality does.
constexpr std::int64_t fewest_for_residuals = 4;
/// Two GPUs of one host agree that well without any correction: 22 us were seen between two H100 of
/// one Nsight recording, 7 us between eight V100 of one host.
constexpr nanoseconds one_host_error = std::chrono::microseconds(30);

double microseconds(nanoseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

/// Of a rank whose few collectives cannot tell how well their ends agree: half the room that
/// causality leaves its clock. Absent where that is without bound.
std::optional<nanoseconds> causal_error(const Freedom& freedom) {
  if (!freedom.low || !freedom.high) return std::nullopt;
  const nanoseconds width = *freedom.high - *freedom.low;
  return std::chrono::abs(width) / 2;
}

class Aligner {
 public:
  Aligner(const Job& job, const Matching& matching)
      : job_(job),
        matching_(matching),
        meetings_(find_meetings(job, matching)),
        placement_(place_clocks(job, meetings_)) {}

  Alignment align() {
    if (one_timeline(job_)) {
      alignment_.map = ClockMap(job_.recordings.size());
    } else {
      alignment_.map = obey_causality(meetings_, placement_, refine_clocks(meetings_, placement_));
    }
    alignment_.component = placement_.component;
    residuals_ = clock_residuals(meetings_, alignment_.map);
    describe_ranks();
    find_error();
    alignment_.report.causality_violations =
        count_violations(meetings_, alignment_.map, alignment_.report.error);
    alignment_.report.method = method();
    judge();
    return std::move(alignment_);
  }

 private:
  void describe_ranks() {
    for (std::size_t rank = 0; rank < job_.recordings.size(); ++rank) {
      const ClockMap::RankClock& clock = alignment_.map.clock(rank);
      const ClockResiduals::OfRank& of = residuals_.by_rank[rank];
      alignment_.report.ranks.push_back({Rank{static_cast<int>(rank)},
                                         clock.offset,
                                         0.0 - clock.drift * 1e6,
                                         of.p50,
                                         of.p95,
                                         of.matches});
    }
  }

  /// What all ranks have in common, and more where a rank's tie to the others is weaker.
  void find_error() {
    nanoseconds error = residuals_.p95.value_or(nanoseconds::zero());
    const std::vector<Freedom> freedom = freedom_of(meetings_, alignment_.map);
    for (std::size_t rank = 0; rank < job_.recordings.size(); ++rank) {
      const ClockTie tie = placement_.ties[rank];
      if (tie == ClockTie::messages) error = std::max(error, placement_.half_widths[rank]);
      const bool few = residuals_.by_rank[rank].matches < fewest_for_residuals;
      if (tie == ClockTie::one_clock && few && !one_timeline(job_))
        error = std::max(error, one_host_error);
      if (tie == ClockTie::meetings && few)
        error = std::max(error, causal_error(freedom[rank]).value_or(error));
    }
    alignment_.report.error = error;
  }

  std::string method() const {
    if (job_.recordings.size() < 2) return "a single rank: nothing to align";
    const std::string agreement =
        residuals_.p50
            ? fmt::format(
                  "the ends of {} collectives agree to {:.1f} us (median), {:.1f} us (95 %)",
                  meetings_.meetings.size(),
                  microseconds(*residuals_.p50),
                  microseconds(*residuals_.p95))
            : "no collective tells how well they agree";
    if (one_timeline(job_)) return fmt::format("one timeline, one clock; {}", agreement);
    const auto drifting = std::count_if(alignment_.report.ranks.begin(),
                                        alignment_.report.ranks.end(),
                                        [](const auto& clock) { return clock.drift_ppm != 0.0; });
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
      report.comparable = false;
      report.reason = "no collective, message or host ties the ranks' clocks together";
      return;
    }
    const std::optional<nanoseconds> typical = typical_lateness();
    if (typical && *typical < report.error) {
      report.comparable = false;
      report.reason = fmt::format(
          "the clocks agree to {:.1f} us only, and half of all lateness is "
          "in arrivals less than {:.1f} us apart",
          microseconds(report.error),
          microseconds(*typical));
    }
  }

  /// Half of all lateness is in collectives whose arrivals are spread by at least this.
  std::optional<nanoseconds> typical_lateness() const {
    const ArrivalFinder finder(job_, alignment_.map);
    std::vector<WeightedValue> spreads;
    for (const MatchedCollective& matched : matching_.collectives) {
      const std::vector<Arrival> arrivals = finder.of(matched);
      const auto [first, last] = std::minmax_element(
          arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
            return a.start < b.start;
          });
      const auto spread = static_cast<double>((last->start - first->start).count());
      if (spread > 0.0) spreads.push_back({spread, spread});
    }
    const std::optional<double> middle = weighted_quantile(std::move(spreads), 0.5);
    if (!middle) return std::nullopt;
    return nanoseconds(static_cast<std::int64_t>(*middle));
  }

  const Job& job_;
  const Matching& matching_;
  Meetings meetings_;
  Placement placement_;
  ClockResiduals residuals_;
  Alignment alignment_;
};

}  // namespace

Alignment align_clocks(const Job& job, const Matching& matching) {
  return Aligner(job, matching).align();
}

}  // namespace scaleworth::trace
