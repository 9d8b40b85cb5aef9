// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/cost.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace scaleworth::model {
namespace {
constexpr double hopeless = 1000.0;  // expected over undisturbed time
constexpr int bisections = 200;      // beyond the precision of a double

Seconds expected_time(const Preemption& preemption, Seconds mean_time, Seconds work, int segments) {
  const Seconds each = work / segments;
  const Seconds last = expected_segment(each, preemption.restart, mean_time);
  const Seconds saved =
      expected_segment(each + preemption.checkpoint, preemption.restart, mean_time);
  return last + saved * (segments - 1.0);
}

SpotPlan planned(Seconds work, int segments, Seconds expected) {
  return {segments, work / segments, expected, expected / work - 1.0};
}

/// The expectation is convex in the number of segments, and the interval of endless work is within
/// a few segments of the best.
SpotPlan with_checkpoints(const Preemption& preemption, Seconds mean_time, Seconds work) {
  constexpr double most_segments = 1e9;
  const double guess = work / exact_interval(preemption.checkpoint, mean_time);
  const int near = static_cast<int>(std::min(guess, most_segments));
  SpotPlan best = planned(work, 1, expected_time(preemption, mean_time, work, 1));
  for (int segments = std::max(2, near - 2); segments <= near + 3; ++segments) {
    const Seconds expected = expected_time(preemption, mean_time, work, segments);
    // One segment of very long work overflows to infinity, which is never less.
    if (expected < best.expected) best = planned(work, segments, expected);
  }
  return best;
}

double chance(const Preemption& preemption, const CountTime& at, Seconds latest) {
  const Seconds work = at.time.high();
  const auto plan = plan_spot(preemption, at.ranks, work);
  return plan ? probability_in_time(preemption, at.ranks, *plan, work, latest) : 0.0;
}

using Complex = std::complex<double>;

/// Reclaims per second and seconds of a restart.
struct Reclaims {
  double rate;
  double restart;
};

/// Transform of the time of the work of `needed` seconds after a reclaim, over its undisturbed
/// time's e^(-s (needed - restart)): what is lost and restarted until one attempt gets through.
Complex attempts(const Reclaims& at, Complex s, double work) {
  const Complex total = at.rate + s;
  const Complex lost = at.rate * (1.0 - std::exp(-total * (at.restart + work))) / total;
  return std::exp(-total * at.restart) / (1.0 - lost);
}

/// Transform of a segment's delay beyond its work.
Complex segment_delay(const Reclaims& at, Complex s, double work) {
  const Complex total = at.rate + s;
  const Complex reclaimed = at.rate * (1.0 - std::exp(-total * work)) / total;
  return std::exp(-at.rate * work) * (1.0 + reclaimed * attempts(at, s, work));
}

Complex job_delay(const Reclaims& at, Complex s, const SpotPlan& plan, double saved_work) {
  const double last_work = plan.interval.value();
  const Complex last = segment_delay(at, s, last_work);
  if (plan.segments == 1) return last;
  return last * std::pow(segment_delay(at, s, saved_work), plan.segments - 1.0);
}

Complex noticed_delay(const Reclaims& at, Complex s, double work) {
  return std::exp(-at.rate * work * (1.0 - attempts(at, s, 0.0)));
}

/// f(t) from its transform by a Fourier series, its alternating tail averaged binomially.
template <class Transform>
double inverted(const Transform& transform, double t) {
  constexpr double decay = 18.4;  // discretisation error e^-18.4 = 1e-8
  constexpr int terms = 60;
  constexpr int averaged = 12;
  const auto at = [&](int k) {
    const Complex s(decay / (2.0 * t), k * std::numbers::pi / t);
    return (k % 2 == 0 ? 1.0 : -1.0) * std::real(transform(s));
  };
  double sum = 0.5 * at(0);
  for (int k = 1; k <= terms; ++k) sum += at(k);
  double result = 0.0;
  double weight = std::pow(2.0, -averaged);  // binomial(12, j) / 2^12
  for (int j = 0; j <= averaged; ++j) {
    result += weight * sum;
    weight *= static_cast<double>(averaged - j) / (j + 1);
    sum += at(terms + j + 1);
  }
  return std::exp(0.5 * decay) / t * result;
}
}  // namespace

Seconds mean_time_between_reclaims(const Preemption& preemption, int ranks) {
  require(preemption.per_hour > 0.0 && std::isfinite(preemption.per_hour) && ranks >= 1,
          "reclaims need a rate above zero per rank and hour and at least one rank");
  return Seconds(seconds_per_hour / (preemption.per_hour * ranks));
}

Seconds exact_interval(Seconds checkpoint, Seconds mean_time) {
  // u = tau/M solves ln(1 - u) + u = -d/M, whose left side falls from 0 without bound over (0, 1).
  const double target = -(checkpoint / mean_time);
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < bisections; ++i) {
    const double middle = 0.5 * (low + high);
    (std::log1p(-middle) + middle > target ? low : high) = middle;
  }
  return mean_time * (0.5 * (low + high));
}

Seconds expected_segment(Seconds work, Seconds restart, Seconds mean_time) {
  return mean_time * (std::exp(restart / mean_time) * std::expm1(work / mean_time));
}

std::optional<SpotPlan> plan_spot(const Preemption& preemption, int ranks, Seconds work) {
  const auto& [per_hour, checkpoint, restart, notice] = preemption;
  require(checkpoint > Seconds() && restart >= Seconds() && notice >= Seconds(),
          "a checkpoint takes more than 0 s, a restart and a notice 0 s or more; correct "
          "--checkpoint-s, --restart-s or --notice-s");
  const Seconds mean_time = mean_time_between_reclaims(preemption, ranks);
  const SpotPlan plan = notice >= checkpoint
                            ? planned(work, 1, work * std::exp(restart / mean_time))
                            : with_checkpoints(preemption, mean_time, work);
  if (!(plan.expected < work * hopeless)) return std::nullopt;
  return plan;
}

SpotChoice choose_spot_count(const Prices& prices,
                             const Preemption& preemption,
                             const std::vector<CountTime>& times,
                             const std::optional<Deadline>& deadline) {
  require(!deadline || deadline->latest > Seconds(), "the deadline must be above 0");
  require(!deadline || (deadline->probability > 0.0 && deadline->probability < 1.0),
          "the probability of meeting the deadline must lie between 0 and 1, as "
          "--deadline-probability 0.95");
  SpotChoice choice;
  for (const CountTime& at : times) {
    SpotCount count{at.ranks, plan_spot(preemption, at.ranks, at.time.value), {}, {}};
    if (count.plan) count.cost = job_cost(prices, at.ranks, count.plan->expected);
    if (deadline) count.in_time = chance(preemption, at, deadline->latest);
    choice.counts.push_back(count);
  }
  // The count of least `measure` among those that pass; the first where equal.
  const auto least = [&](auto measure, auto passes) {
    const SpotCount* best = nullptr;
    for (const SpotCount& at : choice.counts) {
      if (passes(at) && (!best || measure(at) < measure(*best))) best = &at;
    }
    return best ? std::optional(best->ranks) : std::nullopt;
  };
  const auto cost = [](const SpotCount& at) { return at.cost->value(); };
  const auto finishes = [](const SpotCount& at) { return at.plan.has_value(); };
  choice.cheapest = least(cost, finishes);
  choice.fastest = least([](const SpotCount& at) { return at.plan->expected.value(); }, finishes);
  if (!deadline) return choice;
  choice.surest = least([](const SpotCount& at) { return -*at.in_time; }, finishes);
  choice.cheapest_in_time = least(cost, [&](const SpotCount& at) {
    return finishes(at) && *at.in_time >= deadline->probability;
  });
  return choice;
}

double probability_in_time(
    const Preemption& preemption, int ranks, const SpotPlan& plan, Seconds work, Seconds deadline) {
  const double mean_time = mean_time_between_reclaims(preemption, ranks).value();
  const Reclaims at{1.0 / mean_time, preemption.restart.value()};
  const bool noticed = preemption.notice >= preemption.checkpoint;
  const double checkpoints = noticed ? 0.0 : (plan.segments - 1.0) * preemption.checkpoint.value();
  const double undisturbed = work.value() + checkpoints;
  const double spare = deadline.value() - undisturbed;
  if (spare < 0.0) return 0.0;
  const double no_reclaim = std::exp(-at.rate * undisturbed);
  // The shortest delay is one restart.
  if (spare <= at.restart || spare == 0.0) return no_reclaim;
  const double saved_work = plan.interval.value() + preemption.checkpoint.value();
  const auto delayed = [&](Complex s) {
    const Complex delay =
        noticed ? noticed_delay(at, s, work.value()) : job_delay(at, s, plan, saved_work);
    return (delay - no_reclaim) / s;
  };
  return std::clamp(no_reclaim + inverted(delayed, spare), no_reclaim, 1.0);
}
}  // namespace scaleworth::model
