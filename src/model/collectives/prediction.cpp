// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives/prediction.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace scaleworth::model {
namespace {

double time_at(const CommunicationSegment& segment, double alpha, double beta, double bytes) {
  return alpha + beta * bytes + segment.sqrt_coefficient * std::sqrt(bytes);
}

/// Relative distance from the fitted time to the one end (`high` or low) of both coefficients.
double coefficient_spread(const CommunicationSegment& segment, double bytes, bool high) {
  const auto end = [high](const auto& estimate) {
    if (!estimate.interval) return estimate.value.value();
    return (high ? estimate.interval->high : estimate.interval->low).value();
  };
  const double centre =
      time_at(segment, segment.alpha.value.value(), segment.beta.value.value(), bytes);
  return std::abs(time_at(segment, end(segment.alpha), end(segment.beta), bytes) / centre - 1.0);
}

}  // namespace

const CommunicationSegment& segment_at(const CommunicationFit& fit, Bytes message) {
  if (fit.segments.empty()) throw std::invalid_argument("segment_at: a fit without segments");
  for (std::size_t i = 0; i + 1 < fit.segments.size(); ++i) {
    const double boundary =
        std::sqrt(fit.segments[i].largest.value() * fit.segments[i + 1].smallest.value());
    if (message.value() <= boundary) return fit.segments[i];
  }
  return fit.segments.back();
}

Seconds evaluate(const CommunicationFit& fit, Bytes message) {
  const CommunicationSegment& segment = segment_at(fit, message);
  return Seconds(
      time_at(segment, segment.alpha.value.value(), segment.beta.value.value(), message.value()));
}

CommunicationPrediction predict(const CommunicationFit& fit, Bytes message) {
  constexpr double interval_per_mean_error = 2.45;
  const CommunicationSegment& segment = segment_at(fit, message);
  const Seconds time = evaluate(fit, message);
  CommunicationPrediction prediction;
  prediction.extrapolated =
      message < fit.segments.front().smallest || message > fit.segments.back().largest;
  prediction.time = {time, std::nullopt, segment.alpha.samples};
  const bool coefficients = segment.alpha.interval || segment.beta.interval;
  if (!coefficients && !fit.held_out_error) return prediction;
  const double misfit = interval_per_mean_error * fit.held_out_error.value_or(0.0);
  const double below = std::hypot(coefficient_spread(segment, message.value(), false), misfit);
  const double above = std::hypot(coefficient_spread(segment, message.value(), true), misfit);
  prediction.time.interval =
      Interval<Seconds>{time * std::max(0.0, 1.0 - below), time * (1.0 + above)};
  return prediction;
}

AllReduceModel::AllReduceModel(CommunicationFit fit, int ranks)
    : fit_(std::move(fit)), ranks_(ranks) {
  if (ranks < 2 || fit_.segments.empty()) {
    throw std::invalid_argument("AllReduceModel: needs a fit among at least two ranks");
  }
}

CommunicationPrediction AllReduceModel::predict(int ranks, Bytes message) const {
  if (ranks < 1) throw std::invalid_argument("AllReduceModel: a rank count below one");
  if (ranks == 1) return {{Seconds(0.0), Interval<Seconds>{}, 0}, false};
  const double steps = static_cast<double>(ranks - 1) / (ranks_ - 1);
  const double volume = steps * ranks_ / ranks;
  CommunicationFit scaled = fit_;
  for (CommunicationSegment& segment : scaled.segments) {
    segment.alpha = transform(segment.alpha, [=](Seconds value) { return value * steps; });
    segment.beta = transform(segment.beta, [=](SecondsPerByte value) { return value * volume; });
    segment.sqrt_coefficient *= std::sqrt(steps * volume);
  }
  CommunicationPrediction prediction = model::predict(scaled, message);
  prediction.extrapolated = prediction.extrapolated || ranks != ranks_;
  return prediction;
}

std::optional<AllReduceModel> all_reduce_model(const CollectiveResult& result) {
  if (result.collective != "all_reduce" || result.ranks < 2 || result.fits.empty()) {
    return std::nullopt;
  }
  return AllReduceModel(result.fits[result.chosen], result.ranks);
}

}  // namespace scaleworth::model
