// SPDX-License-Identifier: Apache-2.0
/// A number with its error bar: the form in which every measured or fitted value is reported.
#pragma once

#include "src/core/error.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

namespace scaleworth {
/// Of every interval, unless its maker says otherwise.
inline constexpr double confidence = 0.95;
/// Half an interval of a normal quantity over its standard error, at that confidence.
inline constexpr double normal_reach = 1.96;

/// A closed interval, of `confidence`.
template <class T>
struct Interval {
  T low{};
  T high{};
  auto operator<=>(const Interval&) const = default;
};

/// A point estimate, its interval (absent when too few samples support one) and the sample count.
template <class T>
struct Estimate {
  T value{};
  std::optional<Interval<T>> interval;
  std::size_t samples = 0;

  // The ends of the interval; without one the value.
  T low() const { return interval ? interval->low : value; }
  T high() const { return interval ? interval->high : value; }
  auto operator<=>(const Estimate&) const = default;
};

/// What one sample of a series is, where others took it.
struct Sampling {
  enum class Kind : std::uint8_t { single, mean, minimum } kind = Kind::single;
  std::int64_t of = 1;      // operations that it is the mean or the minimum of
  double resolution = 0.0;  // of the printed number it was read from; 0: exact
};

/// Samples of one measurement in the order taken, and the run, a process of its own, of each.
struct Series : std::vector<double> {
  using std::vector<double>::vector;
  Series(std::vector<double> samples) : std::vector<double>(std::move(samples)) {}

  int run(std::size_t i) const { return runs.empty() ? 0 : runs[i]; }
  void add(double sample, int of_run) {
    push_back(sample);
    runs.push_back(of_run);
  }
  void append(const Series& other) {
    for (std::size_t i = 0; i < other.size(); ++i) add(other[i], other.run(i));
  }

  std::vector<int> runs;  // empty: all of one
  Sampling sampling;
};

/// The same estimate in another unit or type; `convert` must be increasing.
template <class T, class Convert>
auto transform(const Estimate<T>& estimate, Convert convert) {
  using U = decltype(convert(estimate.value));
  Estimate<U> result{convert(estimate.value), std::nullopt, estimate.samples};
  if (const auto& ends = estimate.interval) {
    result.interval = Interval<U>{convert(ends->low), convert(ends->high)};
  }
  return result;
}

/// As `transform`, for a decreasing `convert` (a time into a rate): the ends change places.
template <class T, class Convert>
auto transform_decreasing(const Estimate<T>& estimate, Convert convert) {
  auto result = transform(estimate, convert);
  if (result.interval) std::swap(result.interval->low, result.interval->high);
  return result;
}

/// A plain number as the quantity `Q`, in base units.
template <class Q>
Estimate<Q> as(const Estimate<double>& number) {
  return transform(number, [](double value) { return Q(value); });
}
}  // namespace scaleworth
