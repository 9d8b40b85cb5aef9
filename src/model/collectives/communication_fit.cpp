// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives/communication_fit.h"

#include "src/core/statistics/quantile.h"
#include "src/core/statistics/regression.h"
#include "src/model/collectives/prediction.h"

#include <cmath>
#include <string>

namespace scaleworth::model {
namespace {

constexpr std::size_t least_for_held_out = 6;

std::optional<CommunicationSegment> fit_line(std::span<const TimedSize> points, bool with_sqrt) {
  std::vector<std::vector<double>> rows;
  std::vector<double> times;
  for (const TimedSize& point : points) {
    rows.push_back({1.0, point.message.value()});
    if (with_sqrt) rows.back().push_back(std::sqrt(point.message.value()));
    times.push_back(point.time.value());
  }
  const std::optional<RegressionFit> fit = fit_relative(rows, times, {.non_negative = true});
  if (!fit) return std::nullopt;
  CommunicationSegment segment;
  segment.smallest = points.front().message;
  segment.largest = points.back().message;
  segment.alpha = transform(fit->coefficients[0], [](double value) { return Seconds(value); });
  segment.beta =
      transform(fit->coefficients[1], [](double value) { return SecondsPerByte(value); });
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

}  // namespace

std::vector<CommunicationFit> fit_communication(std::span<const TimedSize> points) {
  std::vector<CommunicationFit> fits;
  for (const char* form : {form_alpha_beta, form_sqrt, form_segmented}) {
    std::optional<CommunicationFit> fit = fit_form(points, form);
    if (!fit) continue;
    fit->held_out_error = held_out_error(points, form);
    fit->median_residual = median(relative_errors(*fit, points)).value_or(0.0);
    fits.push_back(std::move(*fit));
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

}  // namespace scaleworth::model
