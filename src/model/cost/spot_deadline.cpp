// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/spot_deadline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

namespace scaleworth::model {
namespace {

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
