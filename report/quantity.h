// SPDX-License-Identifier: Apache-2.0
/// Numbers as people read them: with a scaled unit, an error bar, and no digit beyond the spread.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <chrono>
#include <optional>

namespace scaleworth::report {
/// What a number counts; decides its base unit and how it is scaled for printing.
enum class Unit {
  plain,
  count,    // printed in full, no fraction
  percent,  // held as a fraction, printed times 100
  seconds,
  hours,  // held in hours and never scaled: the unit that prices are in
  bytes,  // binary multiples: KiB, MiB, GiB
  bytes_per_second,
  flop,
  flop_per_second,
  flop_per_byte,
  tokens_per_second,
  hertz,
  watts,
  celsius,
  flop_per_joule,
  dollars
};

/// A value in base units with its interval and sample count.
using Number = Estimate<double>;

/// The same estimate as a plain number in base units.
template <int S, int B, int F, int D>
Number number(const Estimate<Quantity<S, B, F, D>>& estimate) {
  return transform(estimate, [](Quantity<S, B, F, D> quantity) { return quantity.value(); });
}
inline Number number(const Number& estimate) {
  return estimate;
}
/// A number that has no interval.
inline Number number(double value) {
  return Number{value, std::nullopt, 0};
}
template <int S, int B, int F, int D>
Number number(Quantity<S, B, F, D> quantity) {
  return number(quantity.value());
}
/// In seconds.
inline Number number(std::chrono::nanoseconds time) {
  return number(static_cast<double>(time.count()) * 1e-9);
}

inline double per_hour(DollarsPerSecond price) {
  return price.value() * 3600.0;
}
inline std::optional<double> per_hour(const std::optional<DollarsPerSecond>& price) {
  return price ? std::optional(per_hour(*price)) : std::nullopt;
}

/// Something proportional to the step time (a cost) or to its inverse (a rate), with the step's
/// interval carried over.
Number in_proportion(double value, const Estimate<Seconds>& step);
Number in_inverse_proportion(double value, const Estimate<Seconds>& step);

/// The unit's name in base units, for files that programs read: "s", "B/s", "1" for a pure number.
std::string base_symbol(Unit unit);

/// A printed value is the base value times `factor`, followed by `symbol` ("" for pure numbers).
struct Scale {
  double factor = 1.0;
  std::string symbol;
};

/// The scale in which a value of this magnitude reads well: 0.0124 s in "ms", 1.5e11 FLOP/s in
/// "GFLOP/s". Rates in bytes are decimal, sizes in bytes binary.
Scale scale_for(Unit unit, double magnitude);

/// The number without its unit: "61.3 ± 0.4" with the longer arm, or "23.1 [22.8, 23.9]" where the
/// shorter arm is less than 70 % of it.
/// The last digit printed is the first digit of the interval's mean half-width, or the second if
/// that begins with a 1 (with brackets: less than 1.5) or the nearer end would not show; with a
/// spread below the fifth significant digit the value has five and the spread reads "<" one unit of
/// the last. Without an interval: `digits` significant digits, one decimal for percentages, whole
/// numbers below 10^4 in full. Counts are always whole. "n/a" for a value that is not finite.
std::string format_number(const Number& number, Unit unit, const Scale& scale, int digits = 3);

/// With so many places after the point, before it when negative; never "-0.00".
std::string fixed(double value, int decimals);

/// "12345.5" as "12,345.5".
std::string grouped(std::string number);

/// "$133,333", "46.72 EUR", "0.0987 EUR": from 1 on cents, from 100 on whole amounts with
/// separators, else and with an interval as in `format_number`; with the label of the currency, in
/// which the amount was given.
std::string format_money(const Number& amount, const std::string& currency);

/// The number with a unit chosen for its own magnitude: "61.3 ± 0.4 ms".
std::string format_quantity(const Number& number, Unit unit, int digits = 3);
/// The same of whatever has a `number`.
template <class Value>
std::string format_quantity(const Value& value, Unit unit, int digits = 3) {
  return format_quantity(number(value), unit, digits);
}
}  // namespace scaleworth::report
