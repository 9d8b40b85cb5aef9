// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/clocks.h"
#include "trace/analysis/intervals.h"

#include <cmath>

namespace scaleworth::trace {
namespace {
/// Ends differ the more the longer the transfer takes, but below some tens of microseconds other
/// things decide: eight V100 ended 1 to 7 us apart after transfers of 7 as of 86 us.
constexpr double shortest_useful_ns = 50e3;

/// Crystal oscillators are within 100 ppm; more is a recording gone wrong.
constexpr double largest_drift = 1e-3;
// Standard errors of a drift: below, offsets alone fit as well, and a drift of chance grows with
// the recording.
constexpr double significant_errors = 5.0;
constexpr int refine_passes = 16;   // it settles within some; each is a pass over all ends
constexpr double settled_ns = 1.0;  // a recording's own resolution
/// More ends than this add nothing new; the fit then looks at every n-th collective.
constexpr std::size_t enough_sides = 2'000'000;

class Refiner {
 public:
  Refiner(const Meetings& meetings, const Placement& placement)
      : meetings_(meetings),
        placement_(placement),
        ranks_(placement.offsets.size()),
        clocks_(ranks_),
        meets_(ranks_) {
    const auto start = [&](const MeetingSide& side) {
      return side.start + placement.offsets[side.rank];
    };
    if (!meetings.sides.empty()) origin_ = start(std::ranges::min(meetings.sides, {}, start));
    for (const MeetingSide& side : meetings.sides) meets_[side.rank] = true;
  }

  ClockMap refine() {
    for (int pass = 0; pass < refine_passes && adjust_offsets() >= settled_ns; ++pass) {
    }
    if (flag_drifts())
      for (int pass = 0; pass < refine_passes; ++pass) {
        adjust_drifts();
        adjust_offsets();
      }
    return normalized();
  }

 private:
  /// On top of the placement: common(t) = x + shift + drift * x, x = t + placement offset - origin.
  struct Correction {
    double shift = 0.0;
    double drift = 0.0;
    bool drifts = false;
  };

  double local(const MeetingSide& side) const {
    return in_ns(side.end + placement_.offsets[side.rank] - origin_);
  }
  double corrected(const MeetingSide& side) const {
    const Correction& clock = clocks_[side.rank];
    const double x = local(side);
    return x + clock.shift + clock.drift * x;
  }

  /// How far each rank's ends lie before the median end, by rank.
  std::vector<std::vector<WeightedValue>> lags() const {
    check_interrupt();
    std::vector<std::vector<WeightedValue>> by_rank(ranks_);
    std::vector<double> ends;
    const std::size_t stride = 1 + meetings_.sides.size() / enough_sides;
    for (std::size_t i = 0; i < meetings_.meetings.size(); i += stride) {
      const Meetings::Meeting& meeting = meetings_.meetings[i];
      ends.clear();
      for (const MeetingSide& side : meetings_.sides_of(meeting)) ends.push_back(corrected(side));
      std::ranges::sort(ends);
      const double middle = (ends[(ends.size() - 1) / 2] + ends[ends.size() / 2]) / 2.0;
      for (const MeetingSide& side : meetings_.sides_of(meeting))
        by_rank[side.rank].push_back({middle - corrected(side), meeting.weight, local(side)});
    }
    return by_rank;
  }

  /// By the median and not a mean with outliers cut, because ends often agree at two distances, by
  /// who came last: the median stays with the larger number. Returns the largest move.
  double adjust_offsets() {
    const auto by_rank = lags();
    double largest = 0.0;
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      if (const auto lag = weighted_quantile(by_rank[rank], 0.5)) {
        clocks_[rank].shift += *lag;
        largest = std::max(largest, std::abs(*lag));
      }
    return largest;
  }

  bool flag_drifts() {
    const auto by_rank = lags();
    bool any = false;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (by_rank[rank].size() < fewest_for_drift) continue;
      const auto line = huber_slope(by_rank[rank]);
      if (!line) continue;
      const double size = std::abs(line->slope);
      clocks_[rank].drifts = size > significant_errors * line->standard_error &&
                             size * line->span > robust_scale(by_rank[rank]) &&
                             size < largest_drift;
      any = any || clocks_[rank].drifts;
    }
    return any;
  }

  void adjust_drifts() {
    const auto by_rank = lags();
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (!clocks_[rank].drifts) continue;
      if (const auto line = huber_slope(by_rank[rank]))
        clocks_[rank].drift =
            std::clamp(clocks_[rank].drift + line->slope, -largest_drift, largest_drift);
    }
  }

  /// The fit moves all clocks; what counts is their difference from the component's first.
  ///   common - origin = x + shift + drift x = (1 + drift) x + shift, for r and reference 0:
  ///   on the clock of 0: x' = ((1 + drift_r) x + shift_r - shift_0) / (1 + drift_0)
  ClockMap normalized() const {
    std::vector<ClockMap::RankClock> result(ranks_);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      std::size_t first = 0;
      while (placement_.component[first] != placement_.component[rank]) ++first;
      const Correction& reference = clocks_[first];
      const Correction& own = meets_[rank] ? clocks_[rank] : reference;
      const double drift = (1.0 + own.drift) / (1.0 + reference.drift) - 1.0;
      const double shift = (own.shift - reference.shift) / (1.0 + reference.drift);
      result[rank].offset =
          bounded_offset(placement_.offsets[rank] + bounded_offset(rounded_ns(shift)));
      result[rank].drift = drift;
      result[rank].reference = origin_ - placement_.offsets[rank];
    }
    return ClockMap(std::move(result));
  }

  const Meetings& meetings_;
  const Placement& placement_;
  std::size_t ranks_;
  nanoseconds origin_{};  // numbers near the recording's begin keep all digits of a double
  std::vector<Correction> clocks_;
  std::vector<bool> meets_;  // by rank: has any collective; the others keep their placement
};

/// The largest but for what `rank` added.
nanoseconds largest_without(std::uint32_t rank, const TopTwo& of) {
  return rank == of.owner ? of.second : of.first;
}

nanoseconds slack(const Precedence& p, const ClockMap& clocks) {
  return clocks.to_common(p.after_rank, p.after) - clocks.to_common(p.before_rank, p.before);
}

constexpr double tuning = 1.345;  // keeps 95 % efficiency at normal errors
constexpr int robust_passes = 8;  // Huber's weights settle in a few

double huber_weight(double residual, double scale) {
  const double distance = std::abs(residual);
  return distance <= tuning * scale ? 1.0 : tuning * scale / distance;
}

double absolute_scale(std::vector<WeightedValue> residuals) {
  for (WeightedValue& residual : residuals) residual.value = std::abs(residual.value);
  return sigma_per_mad * weighted_quantile(std::move(residuals), 0.5).value_or(0.0);  // of a normal
}

struct Line {
  double center = 0.0;  // value at `middle`
  double middle = 0.0;
  double slope = 0.0;
  double spread = 0.0;  // sum w (at - middle)^2
  double weight = 0.0;
};

Line weighted_line(const std::vector<WeightedValue>& values) {
  Line line;
  for (const WeightedValue& v : values) {
    line.weight += v.weight;
    line.center += v.weight * v.value;
    line.middle += v.weight * v.at;
  }
  line.center /= line.weight;
  line.middle /= line.weight;
  double covariance = 0.0;
  for (const WeightedValue& v : values) {
    line.spread += v.weight * (v.at - line.middle) * (v.at - line.middle);
    covariance += v.weight * (v.at - line.middle) * (v.value - line.center);
  }
  if (line.spread > 0.0) line.slope = covariance / line.spread;
  return line;
}
}  // namespace

Meetings find_meetings(const Job& job, const Matching& matching) {
  Meetings found;
  const auto side = [&](const MatchedCollective::Member& member) {
    const DeviceEvent& event = job.recordings[member.place.index].device_events.at(member.event);
    return MeetingSide{member.place.index, event.start, event.end};
  };
  const auto precede = [&](const MeetingSide& begins, const MeetingSide& ends) {
    found.precedences.push_back({begins.rank, begins.start, ends.rank, ends.end});
  };
  for (const MatchedCollective& matched : matching.collectives) {
    const auto& members = matched.members;
    const Exchange exchange = exchange_of(matched.kind);
    if (exchange == Exchange::all || (exchange == Exchange::message && !matched.sender)) {
      nanoseconds shortest = nanoseconds::max();
      const std::size_t first = found.sides.size();
      for (const auto& member : members) {
        const MeetingSide& own = found.sides.emplace_back(side(member));
        shortest = std::min(shortest, own.end - own.start);
      }
      // Durations need no common clock.
      const double weight = shortest_useful_ns / (shortest_useful_ns + in_ns(shortest));
      found.meetings.push_back({first, members.size(), weight});
      continue;
    }
    if (matched.sender && members.size() == 2) {
      precede(side(members[*matched.sender]), side(members[1 - *matched.sender]));
      continue;
    }
    const auto root = std::ranges::find(members, matched.root, &MatchedCollective::Member::place);
    for (const auto& member : members) {
      if (root == members.end() || member.place == root->place) continue;
      if (exchange == Exchange::from_root) precede(side(*root), side(member));
      if (exchange == Exchange::to_root) precede(side(member), side(*root));
    }
  }
  return found;
}

ClockMap refine_clocks(const Meetings& meetings, const Placement& placement) {
  return Refiner(meetings, placement).refine();
}

std::vector<Freedom> freedom_of(const Meetings& meetings, const ClockMap& clocks) {
  std::vector<Freedom> freedom(clocks.ranks());
  for (const Meetings::Meeting& meeting : meetings.meetings) {
    TopTwo begins;
    TopTwo negated_ends;
    for (const MeetingSide& side : meetings.sides_of(meeting)) {
      begins.add(side.rank, clocks.to_common(side.rank, side.start));
      negated_ends.add(side.rank, -clocks.to_common(side.rank, side.end));
    }
    for (const MeetingSide& side : meetings.sides_of(meeting)) {
      Freedom& own = freedom[side.rank];
      own.raise(largest_without(side.rank, begins) - clocks.to_common(side.rank, side.end));
      own.lower(-largest_without(side.rank, negated_ends) -
                clocks.to_common(side.rank, side.start));
    }
  }
  for (const Precedence& p : meetings.precedences) {
    freedom[p.after_rank].raise(-slack(p, clocks));
    freedom[p.before_rank].lower(slack(p, clocks));
  }
  return freedom;
}

ClockMap obey_causality(const Meetings& meetings, const Placement& placement, ClockMap clocks) {
  // Presumed; what is left is counted as violations.
  constexpr int rounds = 40;
  for (int round = 0; round < rounds; ++round) {
    check_interrupt();
    const std::vector<Freedom> freedom = freedom_of(meetings, clocks);
    bool changed = false;
    for (std::size_t rank = 0; rank < clocks.ranks(); ++rank) {
      if (placement.ties[rank] == ClockTie::reference) continue;
      const nanoseconds low = freedom[rank].low.value_or(nanoseconds::min());
      const nanoseconds high = freedom[rank].high.value_or(nanoseconds::max());
      const nanoseconds move =
          low > high ? low / 2 + high / 2 : std::clamp(nanoseconds::zero(), low, high);
      // Half of it, because the other side of a breach may move too.
      const nanoseconds step = round + 1 == rounds ? move : move / 2;
      nanoseconds& offset = clocks.clock(rank).offset;
      offset = bounded_offset(offset + bounded_offset(step == nanoseconds::zero() ? move : step));
      changed = changed || move != nanoseconds::zero();
    }
    if (!changed) break;
  }
  return clocks;
}

std::int64_t count_violations(const Meetings& meetings, const ClockMap& clocks, nanoseconds error) {
  std::int64_t violations = 0;
  for (const Meetings::Meeting& meeting : meetings.meetings) {
    TopTwo begins;
    for (const MeetingSide& side : meetings.sides_of(meeting))
      begins.add(side.rank, clocks.to_common(side.rank, side.start));
    for (const MeetingSide& side : meetings.sides_of(meeting))
      if (begins.first - clocks.to_common(side.rank, side.end) > error) ++violations;
  }
  return violations + std::ranges::count_if(meetings.precedences, [&](const Precedence& p) {
           return -slack(p, clocks) > error;
         });
}

std::optional<double> weighted_quantile(std::vector<WeightedValue> values, double p) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values, {}, &WeightedValue::value);
  double total = 0.0;
  for (const WeightedValue& v : values) total += v.weight;
  double below = 0.0;
  for (const WeightedValue& v : values) {
    below += v.weight;
    if (below >= p * total) return v.value;
  }
  return values.back().value;
}

double robust_scale(std::vector<WeightedValue> values) {
  const double center = weighted_quantile(values, 0.5).value_or(0.0);
  for (WeightedValue& v : values) v.value -= center;
  return absolute_scale(std::move(values));
}

std::optional<RobustSlope> huber_slope(const std::vector<WeightedValue>& values) {
  if (values.size() < 3) return std::nullopt;
  const auto [first, last] =
      std::ranges::minmax_element(values, {}, [](const auto& a) { return a.at; });
  RobustSlope result;
  result.span = last->at - first->at;
  Line line = weighted_line(values);
  if (line.spread <= 0.0) return std::nullopt;
  std::vector<WeightedValue> reweighted = values;
  for (int pass = 0; pass < robust_passes; ++pass) {
    std::vector<WeightedValue> residuals = values;
    for (WeightedValue& v : residuals) v.value -= line.center + line.slope * (v.at - line.middle);
    const double scale = absolute_scale(residuals);
    double squares = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      reweighted[i].weight = scale > 0.0
                                 ? values[i].weight * huber_weight(residuals[i].value, scale)
                                 : values[i].weight;
      squares += reweighted[i].weight * residuals[i].value * residuals[i].value;
    }
    line = weighted_line(reweighted);
    if (line.spread <= 0.0) return std::nullopt;
    const double freedom =
        static_cast<double>(values.size() - 2) / static_cast<double>(values.size()) * line.weight;
    result.standard_error = std::sqrt(squares / freedom / line.spread);
  }
  result.slope = line.slope;
  // Spread as if all observations had equal weight: n_eff = (sum w)^2 / sum w^2.
  double square_weights = 0.0;
  for (const WeightedValue& v : reweighted) square_weights += v.weight * v.weight;
  const double effective = line.weight * line.weight / square_weights;
  result.standard_error *= std::sqrt(line.weight / effective);
  return result;
}
}  // namespace scaleworth::trace
