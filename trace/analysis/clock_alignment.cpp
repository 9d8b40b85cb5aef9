// SPDX-License-Identifier: Apache-2.0
#include "src/core/mean_ledger.h"
#include "src/core/process.h"
#include "trace/analysis/waits.h"

#include <cmath>
#include <map>

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
  return nanoseconds(saturated<std::int64_t>(*found));
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

/// Fills `alignment.report.ranks` and returns the residuals of all ranks together. A residual is
/// the distance of one rank's end of a collective from the median of the others' ends; quantiles
/// weigh collectives as the fit does.
std::vector<WeightedValue> describe_ranks(const RankNumbers& numbers,
                                          const Meetings& meetings,
                                          Alignment& alignment) {
  const ClockMap& map = alignment.map;
  std::vector<std::vector<WeightedValue>> by_rank(map.ranks());
  std::vector<WeightedValue> all;
  std::vector<std::pair<double, std::uint32_t>> ends;
  for (const Meetings::Meeting& meeting : meetings.meetings) {
    ends.clear();
    nanoseconds origin{};
    for (const MeetingSide& side : meetings.sides_of(meeting)) {
      const nanoseconds end = map.to_common(side.rank, side.end);
      if (ends.empty()) origin = end;
      ends.emplace_back(in_ns(end - origin), side.rank);
    }
    std::ranges::sort(ends);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const double residual = std::abs(ends[i].first - median_without(ends, i));
      all.push_back({residual, meeting.weight});
      by_rank[ends[i].second].push_back(all.back());
    }
  }
  for (std::size_t rank = 0; rank < map.ranks(); ++rank)
    alignment.report.ranks.push_back({numbers.at(place_at(rank)),
                                      map.clock(rank).offset,
                                      0.0 - map.clock(rank).drift * 1e6,
                                      quantile(by_rank[rank], 0.5),
                                      // What one in twenty exceeds; the report says so.
                                      quantile(by_rank[rank], 0.95),
                                      std::ssize(by_rank[rank])});
  return all;
}

/// At least `error`, what all ranks have in common, and more where a rank's tie to the others is
/// weaker.
nanoseconds largest_error(const Meetings& meetings,
                          const Placement& placement,
                          const Alignment& alignment,
                          bool one_clock,
                          nanoseconds error) {
  const std::vector<Freedom> freedom = freedom_of(meetings, alignment.map);
  for (std::size_t rank = 0; rank < freedom.size(); ++rank) {
    const ClockTie tie = placement.ties[rank];
    if (tie == ClockTie::messages) error = std::max(error, placement.half_widths[rank]);
    const bool few = alignment.report.ranks[rank].matches < fewest_for_residuals;
    if (tie == ClockTie::one_clock && few && !one_clock) error = std::max(error, one_host_error);
    if (tie == ClockTie::meetings && few) {
      // Few collectives hardly show how well their ends agree: half the room that causality leaves,
      // or ten times the difference between ends of several.
      constexpr int certain = 10;
      const auto& clock = alignment.report.ranks[rank];
      nanoseconds room = freedom[rank].half_width().value_or(error);
      if (clock.matches >= 2 && clock.residual_p95)
        room = std::min(room, certain * *clock.residual_p95);
      error = std::max(error, room);
    }
  }
  return error;
}

/// How the clocks of ranks of different recordings were aligned; `agreement` says how well.
Finding method_of(const RankNumbers& numbers,
                  const Placement& placement,
                  const ClockReport& report,
                  const Finding& agreement) {
  const bool drifts =
      std::ranges::any_of(report.ranks, [](const auto& clock) { return clock.drift_ppm != 0.0; });
  Finding method(drifts ? FindingId::clock_offsets_and_drifts : FindingId::clock_offsets,
                 agreement);
  for (const auto& [tie, tied] : {std::pair(ClockTie::messages, FindingId::tied_by_messages),
                                  std::pair(ClockTie::one_clock, FindingId::tied_by_host)}) {
    std::vector<Place> ranks;
    for (Place place; place.index < placement.ties.size(); ++place.index)
      if (placement.ties[place.index] == tie) ranks.push_back(place);
    if (!ranks.empty()) method = Finding(tied, method, numbers.names(ranks));
  }
  if (placement.components > 1)
    method = Finding(FindingId::sets_not_compared, method, placement.components);
  return method;
}

/// Half of all lateness is in collectives whose arrivals are spread by at least this. Whoever came
/// earlier has a longer call, but in timelines: a wrong pairing moves starts apart, not that.
std::optional<nanoseconds> typical_lateness(const Job& job,
                                            const Matching& matching,
                                            const ClockMap& clocks) {
  const ArrivalFinder finder(job, clocks);
  std::vector<WeightedValue> spreads;
  for (const MatchedCollective& matched : matching.collectives) {
    std::vector<TimeInterval> arrivals = finder.of(matched);
    if (!job.recordings[matched.members.front().place.index].origin.framework_timeline)
      for (TimeInterval& arrival : arrivals) arrival.start -= arrival.end;
    const auto [first, last] = std::ranges::minmax(arrivals, {}, &TimeInterval::start);
    const auto spread = in_ns(last.start - first.start);
    if (spread > 0.0) spreads.push_back({spread, spread});
  }
  return quantile(spreads, 0.5);
}

nanoseconds longest_recording(const Job& job) {
  nanoseconds longest{};
  for (const Recording& one : job.recordings)
    if (!one.device_events.empty())
      longest = std::max(longest, one.device_events.back().end - one.device_events.front().start);
  return longest;
}
}  // namespace

Alignment align_clocks(const Job& job, const Matching& matching) {
  const Meetings meetings = find_meetings(job, matching);
  const Placement placement = Placer(job, meetings).place();
  const bool one_clock = one_timeline(job);
  const std::size_t ranks = job.recordings.size();
  Alignment alignment;
  alignment.map = one_clock
                      ? ClockMap(ranks)
                      : obey_causality(meetings, placement, refine_clocks(meetings, placement));
  alignment.component = placement.component;
  ClockReport& report = alignment.report;
  const RankNumbers numbers(job);
  const std::vector<WeightedValue> residuals = describe_ranks(numbers, meetings, alignment);
  const auto p50 = quantile(residuals, 0.5);
  const auto p95 = quantile(residuals, 0.95);
  report.error =
      largest_error(meetings, placement, alignment, one_clock, p95.value_or(nanoseconds::zero()));
  report.causality_violations = count_violations(meetings, alignment.map, report.error);
  if (ranks < 2) {
    report.method = FindingId::nothing_to_align;
    return alignment;
  }
  const Finding agreement = p50 ? Finding(FindingId::ends_agree,
                                          meetings.meetings.size(),
                                          microseconds(*p50),
                                          microseconds(*p95))
                                : FindingId::agreement_not_shown;
  report.method = one_clock ? Finding(FindingId::one_timeline, agreement)
                            : method_of(numbers, placement, report, agreement);
  // No verdicts across ranks where nothing ties clocks, or where their error is larger than most of
  // the lateness that they show.
  if (placement.components == ranks) {
    report.reason = FindingId::clocks_not_tied;
  } else if (const auto typical = typical_lateness(job, matching, alignment.map);
             typical && *typical < report.error) {
    report.reason =
        Finding(FindingId::clocks_too_coarse, in_seconds(report.error), in_seconds(*typical));
  }
  if (!report.reason &&
      report.error > std::max<nanoseconds>(longest_recording(job), std::chrono::seconds(1)))
    report.reason = Finding(FindingId::clocks_beyond_recordings, in_seconds(report.error));
  report.comparable = !report.reason;
  return alignment;
}
}  // namespace scaleworth::trace
