// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/regimes.h"
#include "src/model/laws/model_selection.h"

#include <limits>
#include <numeric>

namespace scaleworth::model {
namespace {
constexpr double exact = 1e-9;  // relative spread of times that are computed, not measured
constexpr int forecast_bisections = 40;
constexpr int chances = 24;  // of undisturbed times up to the deadline
constexpr std::size_t most_forecasts = 512;

struct RunNoise {
  double relative_sd = exact;
  double degrees = 1.0;
  bool measured = false;
};

/// Absent without repeats and without laws.
std::optional<RunNoise> noise_of_one_run(const std::vector<DecisionRow>& rows,
                                         const std::optional<CombinedLaw>& laws) {
  const SampleVariance& repeated = rows.front().noise;
  if (repeated.degrees > 0.0)
    return RunNoise{std::max(exact, std::sqrt(repeated.variance)), repeated.degrees, true};
  if (!laws) return std::nullopt;
  return RunNoise{std::max(exact, laws->noise), laws->noise_degrees, false};
}

using Failures = std::optional<Preemption>;

/// That a run with failures ends by `latest`, from `below`, the probability that it takes no longer
/// than a time without them: the chance of each undisturbed time over how probable that is.
template <class Below>
double met(const Failures& failures, int count, Seconds latest, const Below& below) {
  double met = below(latest);
  if (!failures || !(met > 0.0)) return met;
  met = 0.0;
  double before = 1.0;
  for (int i = 1; i <= chances; ++i) {
    const double chance = chance_in_time(*failures, count, latest * (1.0 * i / chances), latest);
    met += (before - chance) * below(latest * ((i - 0.5) / chances));
    before = chance;
  }
  return met + before * below(latest);
}

/// The time of one run, over the draws of the laws and the noise of a run. A predicted count has
/// the shape of a row, so that the rubric's gates judge both alike.
struct RunForecast {
  const DecisionRow& last;
  const MetricsRequest& metrics;
  const Failures& failures;
  WallTime wall;
  const CombinedLaw& laws;
  RunNoise noise;
  Deadline deadline;

  Seconds expected(int count) const {
    const double time = laws.time(count);
    return Seconds(wall ? wall(count, time) : time);
  }

  /// That one run meets the deadline.
  double in_time(int count) const { return met_by(count, laws.times(count), deadline.latest); }

  /// With `upper` as the end of the interval of its wall time.
  DecisionRow row_at(int count, Seconds upper) const {
    DecisionRow row;
    const Seconds time(laws.time(count));
    const double longer = expected(count) / time;
    row.count = count;
    row.same_work.value = time;
    row.same_work.interval = Interval<Seconds>{std::min(time, upper / longer), upper / longer};
    if (failures) row.failures.emplace().terms = *failures;
    if (failures) row.failures->plan.overhead = longer - 1.0;
    const double baseline_s = last.speedup.value * last.same_work.value.value();
    const double baseline_count = last.count / last.count_ratio;
    row.efficiency.value = baseline_s * baseline_count / (time.value() * count);
    if (const auto& prices = metrics.prices) {
      row.cost = transform(row.wall(), [&](Seconds at) { return job_cost(*prices, count, at); });
    }
    return row;
  }

  PredictedCount predict(int count) const {
    const Seconds latest(upper(count));
    const DecisionRow at = row_at(count, latest);
    return {count,
            at.wall().value,
            latest,
            in_time(count),
            at.cost ? std::optional(at.cost->value) : std::nullopt,
            at.cost ? std::optional(at.cost->interval->high) : std::nullopt,
            count > last.count};
  }

  /// The time that a run at `count` keeps with the probability of the deadline.
  double upper(int count) const {
    const std::vector<double> times = laws.times(count);
    double low = 0.0;
    double high = 2.0 * expected(count).value();
    const double wanted = deadline.probability;
    while (met_by(count, times, Seconds(high)) < wanted && std::isfinite(high)) high *= 2.0;
    for (int i = 0; i < forecast_bisections; ++i) {
      const double middle = 0.5 * (low + high);
      (met_by(count, times, Seconds(middle)) < wanted ? low : high) = middle;
    }
    return high;
  }

  /// That one run ends by `latest`, with the undisturbed time of each draw.
  double met_by(int count, const std::vector<double>& times, Seconds latest) const {
    return met(failures, count, latest, [&](Seconds at) { return probability(times, at); });
  }

  /// That it takes no longer undisturbed.
  double probability(const std::vector<double>& times, Seconds latest) const {
    double sum = 0.0;
    for (const double at : times) {
      // A law without end of speed-up takes no time in the limit.
      const double late = at > 0.0 ? (latest.value() / at - 1.0) / noise.relative_sd
                                   : std::numeric_limits<double>::max();
      sum += student_t_below(std::clamp(late, -1e100, 1e100), noise.degrees);
    }
    return sum / static_cast<double>(times.size());
  }

  /// Each draw at the best of `counts`, with no more failures than at the smallest: an upper bound.
  double in_time_anywhere(const std::vector<int>& counts) const {
    std::vector<double> least = laws.times(counts.front());
    for (const int count : counts) {
      const std::vector<double> times = laws.times(count);
      for (std::size_t i = 0; i < times.size(); ++i) least[i] = std::min(least[i], times[i]);
    }
    return met_by(counts.front(), least, deadline.latest);
  }
};

std::vector<int> counts_between(int from, int to, int step) {
  std::vector<int> counts;
  const int steps = (to - from) / step;
  if (static_cast<std::size_t>(steps) < most_forecasts) {
    for (int i = 0; i <= steps; ++i) counts.push_back(from + i * step);
    return counts;
  }
  const double ratio = static_cast<double>(to) / from;
  for (std::size_t i = 0; i < most_forecasts; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(most_forecasts - 1);
    const int count = saturated<int>(std::round(from * std::pow(ratio, part) / step)) * step;
    if (counts.empty() || count > counts.back()) counts.push_back(std::clamp(count, from, to));
  }
  return counts;
}

/// By what the cheapest is the cheapest: money, else ranks x seconds.
double price_of(const DecisionRow& row) {
  return row.cost ? row.cost->value.value() : row.count * row.wall().value.value();
}

Rubric predictable(const Rubric& rubric) {
  Rubric kept;
  kept.deadline = rubric.deadline;
  kept.deadline_probability = rubric.deadline_probability;
  kept.efficiency_threshold = rubric.efficiency_threshold;
  kept.budget = rubric.budget;
  return kept;
}

bool passes(const std::vector<Gate>& gates, const DecisionRow& row) {
  return std::ranges::all_of(gates, [&](const Gate& one) { return one.passes(row); });
}

const DecisionRow* cheapest_measured(const std::vector<DecisionRow>& rows,
                                     const std::vector<Gate>& gates) {
  const DecisionRow* best = nullptr;
  for (const DecisionRow& row : rows) {
    if (passes(gates, row) && (!best || price_of(row) < price_of(*best))) best = &row;
  }
  return best;
}

/// Of one more run at a measured count, whose median is uncertain itself.
double in_time_again(const DecisionRow& row,
                     const RunNoise& noise,
                     const Failures& failures,
                     Seconds latest) {
  const auto runs = static_cast<double>(std::max<std::size_t>(row.time.samples, 1));
  const double sd = noise.relative_sd * std::sqrt(1.0 + median_variance(runs));
  return met(failures, row.count, latest, [&](Seconds at) {
    return student_t_below((at / row.same_work.value - 1.0) / sd, noise.degrees);
  });
}

/// Cheapest first, so that the first one that passes is the answer; the expensive quantile is asked
/// for only where the rest holds.
std::optional<PredictedCount> cheapest_predicted(const std::vector<int>& counts,
                                                 const std::vector<Gate>& gates,
                                                 const std::vector<Gate>& untimed,
                                                 const RunForecast& law) {
  std::vector<DecisionRow> rows;
  for (const int count : counts) {
    if (!std::isfinite(law.expected(count).value())) continue;  // does not finish
    DecisionRow row = law.row_at(count, law.expected(count));
    if (passes(gates, row)) rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, {}, price_of);
  for (const DecisionRow& row : rows) {
    if (law.in_time(row.count) < law.deadline.probability) continue;
    const PredictedCount one = law.predict(row.count);
    if (passes(untimed, law.row_at(row.count, one.upper))) return one;
  }
  return std::nullopt;
}

void add_range(DeadlineForecast& forecast, const std::vector<DecisionRow>& rows) {
  forecast.step = 0;
  for (const DecisionRow& row : rows) forecast.step = std::gcd(forecast.step, row.count);
  forecast.from = rows.front().count;
  const double farthest = farthest_extrapolation * rows.back().count;
  forecast.to = saturated<int>(farthest) / forecast.step * forecast.step;
}
}  // namespace

std::optional<DeadlineForecast> forecast_deadline(const std::vector<DecisionRow>& rows,
                                                  const std::optional<CombinedLaw>& laws,
                                                  const std::optional<Finding>& unavailable,
                                                  const MetricsRequest& metrics,
                                                  TimeBasis basis,
                                                  const Rubric& rubric) {
  if (!rubric.deadline) return std::nullopt;
  Rubric judged = predictable(rubric);
  const std::vector<Gate> gates = gates_of(rows, judged, metrics.prices);
  judged.deadline.reset();
  const WallTime wall = wall_time(metrics, basis);
  const Failures failures = wall ? metrics.failures : std::nullopt;
  DeadlineForecast forecast;
  forecast.deadline = *deadline_of(rubric);
  const std::optional<RunNoise> noise = noise_of_one_run(rows, unavailable ? std::nullopt : laws);
  if (noise) {
    forecast.noise = noise->relative_sd;
    forecast.noise_measured = noise->measured;
  }
  if (const DecisionRow* row = cheapest_measured(rows, gates)) {
    forecast.measured = row->count;
    if (noise) {
      forecast.measured_in_time = in_time_again(*row, *noise, failures, forecast.deadline.latest);
    }
  }
  forecast.unavailable = unavailable;
  if (unavailable) return forecast;
  const RunForecast law{rows.back(), metrics, failures, wall, *laws, *noise, forecast.deadline};
  add_range(forecast, rows);
  std::vector<int> counts = counts_between(forecast.from, forecast.to, forecast.step);
  forecast.fastest = law.predict(
      *std::ranges::min_element(counts, {}, [&](int count) { return law.expected(count); }));
  forecast.in_time_anywhere = law.in_time_anywhere(counts);
  std::erase_if(
      counts, [&](int count) { return std::ranges::count(rows, count, &DecisionRow::count) > 0; });
  forecast.cheapest =
      cheapest_predicted(counts, gates, gates_of(rows, judged, metrics.prices), law);
  return forecast;
}
}  // namespace scaleworth::model
