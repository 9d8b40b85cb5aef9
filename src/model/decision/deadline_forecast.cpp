// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/cost.h"
#include "src/model/decision/choice.h"
#include "src/model/decision/sensitivity.h"
#include "src/model/laws/model_selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace scaleworth::decide {
namespace {
constexpr double exact = 1e-9;  // relative spread of times that are computed, not measured
constexpr int bisections = 50;

struct RunNoise {
  double relative_sd = exact;
  double degrees = 1.0;
  bool measured = false;
};

/// Absent without repeats and without a law that says what it misses the rows by.
std::optional<RunNoise> noise_of_one_run(const std::vector<DecisionRow>& rows,
                                         const std::optional<model::ContentionEstimate>& estimate) {
  double squares = 0.0;
  double degrees = 0.0;
  for (const DecisionRow& row : rows) {
    if (!row.relative_sd || row.time.samples < 2) continue;
    const auto free = static_cast<double>(row.time.samples - 1);
    squares += free * *row.relative_sd * *row.relative_sd;
    degrees += free;
  }
  const double repeats = degrees > 0.0 ? squares / degrees : 0.0;
  if (degrees > 0.0 && (!estimate || estimate->noise_measured)) {
    return RunNoise{std::max(exact, std::sqrt(repeats)), degrees, true};
  }
  if (!estimate) return std::nullopt;
  const auto n = static_cast<double>(rows.size());
  const double left = n - static_cast<double>(model::law_parameters);
  const double missed = estimate->best.residual * estimate->best.residual * n / left;
  return RunNoise{std::max(exact, std::sqrt(repeats + missed)), left, false};
}

/// The time of one run, over the draws of the fit and the noise of a run.
class RunTimes {
 public:
  RunTimes(const model::ContentionEstimate& estimate, RunNoise noise)
      : estimate_(estimate), noise_(noise) {}

  double expected(int count) const { return time_at(estimate_.best, count); }

  double probability(int count, double latest) const {
    return mean([&](const model::ContentionFit& fit) { return time_at(fit, count); }, latest);
  }

  /// Each draw at its own best count.
  double probability_anywhere(double latest) const { return mean(least_time, latest); }

  /// The time that a run at `count` keeps with `probability`.
  double upper(int count, double probability) const {
    double low = 0.0;
    double high = 2.0 * expected(count);
    while (this->probability(count, high) < probability && std::isfinite(high)) high *= 2.0;
    for (int i = 0; i < bisections; ++i) {
      const double middle = 0.5 * (low + high);
      (this->probability(count, middle) < probability ? low : high) = middle;
    }
    return high;
  }

  static double least_time(const model::ContentionFit& fit) {
    const auto count = peak_of(fit);
    return count ? fit.single * relative_time(fit, *count) : fit.single * fit.serial;
  }

  static std::optional<double> peak_of(const model::ContentionFit& fit) {
    if (!(fit.coherency > 0.0)) return std::nullopt;
    return std::max(1.0, std::sqrt((1.0 - fit.serial) / fit.coherency));
  }

 private:
  static double relative_time(const model::ContentionFit& fit, double count) {
    return fit.serial + (1.0 - fit.serial) / count + fit.coherency * (count - 1.0);
  }
  static double time_at(const model::ContentionFit& fit, int count) {
    return fit.single * relative_time(fit, count);
  }

  template <class Time>
  double mean(Time time, double latest) const {
    double sum = 0.0;
    for (const model::ContentionFit& fit : estimate_.draws) {
      const double at = time(fit);
      // A law without end of speed-up takes no time in the limit.
      const double late =
          at > 0.0 ? (latest / at - 1.0) / noise_.relative_sd : std::numeric_limits<double>::max();
      sum += student_t_below(std::clamp(late, -1e100, 1e100), noise_.degrees);
    }
    return sum / static_cast<double>(estimate_.draws.size());
  }

  const model::ContentionEstimate& estimate_;
  RunNoise noise_;
};

int common_step(const std::vector<DecisionRow>& rows) {
  int step = 0;
  for (const DecisionRow& row : rows) step = std::gcd(step, row.count);
  return step;
}

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
    const int count = static_cast<int>(std::lround(from * std::pow(ratio, part) / step)) * step;
    if (counts.empty() || count > counts.back()) counts.push_back(std::clamp(count, from, to));
  }
  return counts;
}

/// A count by the law in the shape of a row, so that the rubric's gates judge both alike.
class PredictedRows {
 public:
  PredictedRows(const ForecastBasis& basis, const RunTimes& times, const model::Deadline& deadline)
      : basis_(basis), times_(times), deadline_(deadline) {
    const DecisionRow& last = basis.rows.back();
    baseline_s_ = last.speedup.value * last.same_work.value.value();
    baseline_count_ = last.count / last.count_ratio;
  }

  /// With `upper` as the end of its interval.
  DecisionRow row_at(int count, Seconds upper) const {
    DecisionRow row;
    const Seconds expected(times_.expected(count));
    row.count = count;
    row.same_work.value = expected;
    row.same_work.interval = Interval<Seconds>{std::min(expected, upper), upper};
    row.efficiency.value = baseline_s_ * baseline_count_ / (expected.value() * count);
    if (basis_.prices) {
      row.cost = transform(row.same_work, [&](Seconds time) {
        return model::job_cost(*basis_.prices, count, time);
      });
    }
    return row;
  }

  PredictedCount predict(int count) const {
    const Seconds upper(times_.upper(count, deadline_.probability));
    const DecisionRow at = row_at(count, upper);
    PredictedCount predicted;
    predicted.count = count;
    predicted.expected = at.same_work.value;
    predicted.upper = upper;
    predicted.in_time = times_.probability(count, deadline_.latest.value());
    if (at.cost) {
      predicted.expected_cost = at.cost->value;
      predicted.upper_cost = at.cost->interval->high;
    }
    predicted.beyond = count > basis_.rows.back().count;
    return predicted;
  }

 private:
  const ForecastBasis& basis_;
  const RunTimes& times_;
  model::Deadline deadline_;
  double baseline_s_ = 0.0;
  double baseline_count_ = 1.0;
};

/// By what the cheapest is the cheapest: money, else ranks x seconds.
double price_of(const DecisionRow& row) {
  return row.cost ? row.cost->value.value() : row.count * row.same_work.value.value();
}

Rubric predictable(const Rubric& rubric) {
  Rubric kept;
  kept.deadline = rubric.deadline;
  kept.deadline_probability = rubric.deadline_probability;
  kept.efficiency_threshold = rubric.efficiency_threshold;
  kept.budget = rubric.budget;
  kept.value_of_time = rubric.value_of_time;
  return kept;
}

bool passes(const std::vector<Gate>& gates, const DecisionRow& row) {
  return std::all_of(gates.begin(), gates.end(), [&](const Gate& one) { return one.passes(row); });
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
double in_time_again(const DecisionRow& row, const RunNoise& noise, Seconds latest) {
  const auto runs = static_cast<double>(std::max<std::size_t>(row.time.samples, 1));
  const double sd = noise.relative_sd * std::sqrt(1.0 + 1.0 / runs);
  return student_t_below((latest / row.same_work.value - 1.0) / sd, noise.degrees);
}

/// Cheapest first, so that the first one that passes is the answer; the expensive quantile is asked
/// for only where the rest holds.
std::optional<PredictedCount> cheapest_predicted(const std::vector<int>& counts,
                                                 const std::vector<Gate>& gates,
                                                 const RunTimes& times,
                                                 const PredictedRows& predicted,
                                                 const model::Deadline& deadline) {
  std::vector<DecisionRow> rows;
  for (const int count : counts) {
    DecisionRow row = predicted.row_at(count, Seconds(times.expected(count)));
    if (passes(gates, row)) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const DecisionRow& a, const DecisionRow& b) {
    return price_of(a) < price_of(b);
  });
  for (const DecisionRow& row : rows) {
    if (times.probability(row.count, deadline.latest.value()) < deadline.probability) continue;
    const PredictedCount one = predicted.predict(row.count);
    if (passes(gates, predicted.row_at(row.count, std::min(one.upper, deadline.latest))))
      return one;
  }
  return std::nullopt;
}

/// The measured ones left out.
std::vector<int> counts_to_try(const DeadlineForecast& forecast,
                               const std::vector<DecisionRow>& rows) {
  std::vector<int> counts = counts_between(forecast.from, forecast.to, forecast.step);
  std::erase_if(counts, [&](int count) {
    return std::any_of(
        rows.begin(), rows.end(), [&](const DecisionRow& row) { return row.count == count; });
  });
  return counts;
}

void add_range(DeadlineForecast& forecast, const std::vector<DecisionRow>& rows) {
  forecast.step = common_step(rows);
  forecast.from = rows.front().count;
  const double farthest = model::farthest_extrapolation * rows.back().count;
  const double most = std::numeric_limits<int>::max();
  forecast.to = static_cast<int>(std::min(farthest, most)) / forecast.step * forecast.step;
}
}  // namespace

std::optional<DeadlineForecast> forecast_deadline(const ForecastBasis& basis,
                                                  const Rubric& rubric) {
  if (!rubric.deadline) return std::nullopt;
  const std::vector<DecisionRow>& rows = basis.rows;
  const std::vector<Gate> gates = gates_of(rows, predictable(rubric));
  DeadlineForecast forecast;
  forecast.deadline = {*rubric.deadline, rubric.deadline_probability};
  const std::optional<RunNoise> noise = noise_of_one_run(rows, basis.estimate);
  if (noise) {
    forecast.noise = noise->relative_sd;
    forecast.noise_measured = noise->measured;
  }
  if (const DecisionRow* row = cheapest_measured(rows, gates)) {
    forecast.measured = row->count;
    if (noise) forecast.measured_in_time = in_time_again(*row, *noise, forecast.deadline.latest);
  }
  forecast.unavailable = basis.unavailable;
  if (!basis.estimate || basis.estimate->draws.empty()) return forecast;
  const RunTimes times(*basis.estimate, *noise);
  const PredictedRows predicted(basis, times, forecast.deadline);
  add_range(forecast, rows);
  forecast.cheapest =
      cheapest_predicted(counts_to_try(forecast, rows), gates, times, predicted, forecast.deadline);
  const std::vector<int> all = counts_between(forecast.from, forecast.to, forecast.step);
  forecast.fastest = predicted.predict(*std::min_element(
      all.begin(), all.end(), [&](int a, int b) { return times.expected(a) < times.expected(b); }));
  forecast.in_time_anywhere = times.probability_anywhere(forecast.deadline.latest.value());
  forecast.peak = RunTimes::peak_of(basis.estimate->best);
  forecast.least = Seconds(RunTimes::least_time(basis.estimate->best));
  return forecast;
}
}  // namespace scaleworth::decide
