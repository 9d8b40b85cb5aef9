// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/regression.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/statistics/sampling.h"
#include "src/model/collectives.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace scaleworth::model {
namespace {
constexpr std::size_t least_points = 3;
constexpr std::size_t most_segments = 3;
constexpr double least_noise = 0.01;
constexpr double corner = 2.385;  // 95 % efficiency at normal errors (Holland & Welsch 1977)
constexpr double unreachable = std::numeric_limits<double>::max();

struct Line {
  double alpha = 0.0;
  double beta = 0.0;
};

/// Sums of the normal equations of sum w (1 - (alpha u + beta v))^2, u = 1 / t, v = n / t.
struct Sums {
  double uu = 0.0, uv = 0.0, vv = 0.0, u = 0.0, v = 0.0;

  double loss(Line line) const {  // without the constant sum of w
    return line.alpha * (line.alpha * uu + 2.0 * line.beta * uv - 2.0 * u) +
           line.beta * (line.beta * vv - 2.0 * v);
  }
  Line best() const {
    const double determinant = uu * vv - uv * uv;
    if (determinant > 0.0) {
      const Line free{(u * vv - v * uv) / determinant, (v * uu - u * uv) / determinant};
      if (free.alpha >= 0.0 && free.beta >= 0.0) return free;
    }
    const Line constant{u / uu, 0.0};
    const Line proportional{0.0, v / vv};
    return loss(constant) < loss(proportional) ? constant : proportional;
  }
};

/// Cauchy's loss: a stray point must not be worth a segment, yet a large misfit must stay worse
/// than a small one, which a bounded loss would forget.
double cauchy(double residual) {
  return 0.5 * corner * corner * std::log1p(residual * residual / (corner * corner));
}

/// The robust loss of the best line through `points`, by reweighted least squares.
double line_cost(std::span<const TimedSize> points, double sigma) {
  constexpr int iterations = 15;
  const auto residual = [&](Line line, const TimedSize& point) {
    const double fitted = line.alpha + line.beta * point.message.value();
    return (fitted / point.time.value() - 1.0) / sigma;
  };
  Line line;
  for (int i = 0; i < iterations; ++i) {
    Sums sums;
    for (const TimedSize& point : points) {
      const double r = i == 0 ? 0.0 : residual(line, point);
      const double w = 1.0 / (1.0 + r * r / (corner * corner));  // of Cauchy's loss
      const double u = 1.0 / point.time.value();
      const double v = point.message.value() * u;
      sums.uu += w * u * u;
      sums.uv += w * u * v;
      sums.vv += w * v * v;
      sums.u += w * u;
      sums.v += w * v;
    }
    line = sums.best();
  }
  double cost = 0.0;
  for (const TimedSize& point : points) cost += cauchy(residual(line, point));
  return cost;
}

/// First indices of one to three segments of `points` (ascending sizes, no duplicates), at least
/// three points each. Minimises, by dynamic programming over the boundaries,
///   sum over segments min over alpha, beta >= 0 of sum cauchy((alpha + beta n - t) / (t sigma))
///   + 1.5 ln(points) per segment after the first
/// (half the Bayesian information criterion's price of two coefficients and a boundary); sigma is
/// the curve's noise, at least 1 %. {0} for fewer than six points.
std::vector<std::size_t> segment_starts(std::span<const TimedSize> points) {
  const std::size_t n = points.size();
  if (n < 2 * least_points) return {0};
  std::vector<double> logs;
  for (const TimedSize& point : points) logs.push_back(std::log(point.time.value()));
  const double sigma = std::max(least_noise, curve_noise(logs));
  const double price = 1.5 * std::log(static_cast<double>(n));
  // cost[s][end]: least cost of the first `end` points in s + 1 segments; start: of the last one.
  std::vector cost(most_segments, std::vector(n + 1, unreachable));
  std::vector start(most_segments, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t end = least_points; end <= n; ++end) {
    for (std::size_t begin = 0; begin + least_points <= end; ++begin) {
      const double alone = line_cost(points.subspan(begin, end - begin), sigma);
      for (std::size_t s = begin == 0 ? 0 : 1; s < (begin == 0 ? 1 : most_segments); ++s) {
        const double before = begin == 0 ? 0.0 : cost[s - 1][begin];
        if (before == unreachable || before + price + alone >= cost[s][end]) continue;
        cost[s][end] = before + price + alone;
        start[s][end] = begin;
      }
    }
  }
  const auto last =
      std::ranges::min_element(cost, {}, [=](const auto& ends) { return ends[n]; }) - cost.begin();
  std::vector<std::size_t> starts;
  for (std::size_t end = n, s = static_cast<std::size_t>(last) + 1; s-- > 0; end = starts.back()) {
    starts.push_back(start[s][end]);
  }
  std::ranges::reverse(starts);
  return starts;
}

constexpr std::size_t least_for_held_out = 6;

std::optional<CommunicationSegment> fit_line(std::span<const TimedSize> points, bool with_sqrt) {
  std::vector<std::vector<double>> rows;
  std::vector<double> times;
  for (const TimedSize& point : points) {
    rows.push_back({1.0, point.message.value()});
    if (with_sqrt) rows.back().push_back(std::sqrt(point.message.value()));
    times.push_back(point.time.value());
  }
  const std::optional<RegressionFit> fit = fit_relative(rows, times);
  if (!fit) return std::nullopt;
  CommunicationSegment segment;
  segment.smallest = points.front().message;
  segment.largest = points.back().message;
  segment.alpha = as<Seconds>(fit->coefficients[0]);
  segment.beta = as<SecondsPerByte>(fit->coefficients[1]);
  if (with_sqrt) segment.sqrt_coefficient = fit->coefficients[2].value;
  return segment;
}

std::optional<CommunicationFit> fit_form(std::span<const TimedSize> points,
                                         const std::string& form) {
  const std::size_t least = form == form_alpha_beta ? 3 : form == form_sqrt ? 4 : 6;
  if (points.size() < least) return std::nullopt;
  std::vector<std::size_t> starts{0};
  if (form == form_segmented) starts = segment_starts(points);
  CommunicationFit fit;
  fit.form = form;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : points.size();
    const auto segment = fit_line(points.subspan(starts[i], end - starts[i]), form == form_sqrt);
    if (!segment) return std::nullopt;
    fit.segments.push_back(*segment);
  }
  return fit;
}

std::vector<double> relative_errors(const CommunicationFit& fit,
                                    std::span<const TimedSize> points) {
  std::vector<double> errors;
  for (const TimedSize& point : points) {
    errors.push_back(std::abs(evaluate(fit, point.message) / point.time - 1.0));
  }
  return errors;
}

std::optional<double> held_out_error(std::span<const TimedSize> points, const std::string& form) {
  if (points.size() < least_for_held_out) return std::nullopt;
  std::vector<TimedSize> fitted;
  std::vector<TimedSize> left_out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    (i % 2 == 0 ? fitted : left_out).push_back(points[i]);
  }
  const std::optional<CommunicationFit> fit = fit_form(fitted, form);
  if (!fit) return std::nullopt;
  double sum = 0.0;
  for (const double error : relative_errors(*fit, left_out)) sum += error;
  return sum / static_cast<double>(left_out.size());
}

double time_at(const CommunicationSegment& segment,
               Seconds alpha,
               SecondsPerByte beta,
               double bytes) {
  return alpha.value() + beta.value() * bytes + segment.sqrt_coefficient * std::sqrt(bytes);
}

/// Relative distance from the fitted time to the one end (`high` or low) of both coefficients.
double coefficient_spread(const CommunicationSegment& segment, double bytes, bool high) {
  const auto& [smallest, largest, alpha, beta, sqrt_coefficient] = segment;
  const double at_end = high ? time_at(segment, alpha.high(), beta.high(), bytes)
                             : time_at(segment, alpha.low(), beta.low(), bytes);
  return std::abs(at_end / time_at(segment, alpha.value, beta.value, bytes) - 1.0);
}

/// Between two segments the one nearer by ratio of sizes.
const CommunicationSegment& segment_at(const CommunicationFit& fit, Bytes message) {
  if (fit.segments.empty()) throw std::invalid_argument("segment_at: a fit without segments");
  for (std::size_t i = 0; i + 1 < fit.segments.size(); ++i) {
    const double boundary =
        std::sqrt(fit.segments[i].largest.value() * fit.segments[i + 1].smallest.value());
    if (message.value() <= boundary) return fit.segments[i];
  }
  return fit.segments.back();
}
}  // namespace

std::optional<CommunicationFit> fit_communication(std::span<const TimedSize> points,
                                                  const std::string& form) {
  std::optional<CommunicationFit> fit = fit_form(points, form);
  if (!fit) return std::nullopt;
  fit->held_out_error = held_out_error(points, form);
  fit->median_residual = median(relative_errors(*fit, points)).value_or(0.0);
  return fit;
}

std::vector<CommunicationFit> fit_communication(std::span<const TimedSize> points) {
  std::vector<CommunicationFit> fits;
  for (const char* form : {form_alpha_beta, form_sqrt, form_segmented}) {
    if (auto fit = fit_communication(points, form)) fits.push_back(std::move(*fit));
  }
  return fits;
}

std::size_t choose_fit(std::span<const CommunicationFit> fits) {
  constexpr double worthwhile = 0.001;
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < fits.size(); ++i) {
    if (!fits[i].held_out_error) continue;
    const std::optional<double>& best = fits[chosen].held_out_error;
    if (!best || *fits[i].held_out_error < *best - worthwhile) chosen = i;
  }
  return chosen;
}

Seconds evaluate(const CommunicationFit& fit, Bytes message) {
  const CommunicationSegment& segment = segment_at(fit, message);
  return Seconds(time_at(segment, segment.alpha.value, segment.beta.value, message.value()));
}

Estimate<Seconds> predict(const CommunicationFit& fit, Bytes message) {
  constexpr double interval_per_mean_error = 2.45;
  const CommunicationSegment& segment = segment_at(fit, message);
  const Seconds time = evaluate(fit, message);
  Estimate<Seconds> predicted{time, std::nullopt, segment.alpha.samples};
  const bool coefficients = segment.alpha.interval || segment.beta.interval;
  if (!coefficients && !fit.held_out_error) return predicted;
  const double misfit = interval_per_mean_error * fit.held_out_error.value_or(0.0);
  const double below = std::hypot(coefficient_spread(segment, message.value(), false), misfit);
  const double above = std::hypot(coefficient_spread(segment, message.value(), true), misfit);
  predicted.interval = Interval<Seconds>{time * std::max(0.0, 1.0 - below), time * (1.0 + above)};
  return predicted;
}

Estimate<Seconds> predict_all_reduce(CommunicationFit fit, int measured, int ranks, Bytes message) {
  if (ranks == 1) return {Seconds(0.0), Interval<Seconds>{}, 0};
  const double steps = static_cast<double>(ranks - 1) / (measured - 1);
  const double volume = steps * measured / ranks;
  for (CommunicationSegment& segment : fit.segments) {
    segment.alpha = transform(segment.alpha, [=](Seconds value) { return value * steps; });
    segment.beta = transform(segment.beta, [=](SecondsPerByte value) { return value * volume; });
    segment.sqrt_coefficient *= std::sqrt(steps * volume);
  }
  return predict(fit, message);
}
}  // namespace scaleworth::model
