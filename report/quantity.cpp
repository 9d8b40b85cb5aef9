// SPDX-License-Identifier: Apache-2.0
#include "report/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
constexpr int most_digits = 5;
/// Arms whose shorter one is at least this part of the longer print as one.
constexpr double alike = 0.7;

struct Step {
  double from;  // magnitudes from here on
  double factor;
  const char* symbol;
};

constexpr std::array seconds_steps{Step{0.9995, 1.0, "s"},
                                   Step{0.9995e-3, 1e3, "ms"},
                                   Step{0.9995e-6, 1e6, "us"},
                                   Step{0.0, 1e9, "ns"}};
constexpr std::array hour_steps{Step{0.0, 1.0, "h"}};
constexpr std::array bytes_steps{Step{0x1p40, 0x1p-40, "TiB"},
                                 Step{0x1p30, 0x1p-30, "GiB"},
                                 Step{0x1p20, 0x1p-20, "MiB"},
                                 Step{0x1p10, 0x1p-10, "KiB"},
                                 Step{0.0, 1.0, "B"}};
constexpr std::array byte_rate_steps{
    Step{0.9995e12, 1e-12, "TB/s"}, Step{0.9995e8, 1e-9, "GB/s"}, Step{0.0, 1e-6, "MB/s"}};
constexpr std::array flop_steps{
    Step{0.9995e12, 1e-12, "TFLOP"}, Step{0.9995e8, 1e-9, "GFLOP"}, Step{0.0, 1e-6, "MFLOP"}};
constexpr std::array flop_rate_steps{
    Step{0.9995e12, 1e-12, "TFLOP/s"}, Step{0.9995e8, 1e-9, "GFLOP/s"}, Step{0.0, 1e-6, "MFLOP/s"}};
constexpr std::array intensity_steps{Step{0.0, 1.0, "FLOP/B"}};
constexpr std::array token_steps{Step{0.0, 1.0, "tokens/s"}};
constexpr std::array hertz_steps{Step{0.9995e9, 1e-9, "GHz"}, Step{0.0, 1e-6, "MHz"}};
constexpr std::array watt_steps{Step{0.0, 1.0, "W"}};
constexpr std::array celsius_steps{Step{0.0, 1.0, "C"}};
constexpr std::array flop_per_joule_steps{Step{0.0, 1e-9, "GFLOP/J"}};
constexpr std::array dollar_steps{Step{0.0, 1.0, "USD"}};
constexpr std::array percent_steps{Step{0.0, 100.0, "%"}};
constexpr std::array plain_steps{Step{0.0, 1.0, ""}};

std::span<const Step> steps(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return seconds_steps;
    case Unit::hours:
      return hour_steps;
    case Unit::bytes:
      return bytes_steps;
    case Unit::bytes_per_second:
      return byte_rate_steps;
    case Unit::flop:
      return flop_steps;
    case Unit::flop_per_second:
      return flop_rate_steps;
    case Unit::flop_per_byte:
      return intensity_steps;
    case Unit::tokens_per_second:
      return token_steps;
    case Unit::hertz:
      return hertz_steps;
    case Unit::watts:
      return watt_steps;
    case Unit::celsius:
      return celsius_steps;
    case Unit::flop_per_joule:
      return flop_per_joule_steps;
    case Unit::dollars:
      return dollar_steps;
    case Unit::percent:
      return percent_steps;
    case Unit::plain:
    case Unit::count:
      break;
  }
  return plain_steps;
}

/// Position of the leading digit: 0 for 1..9, 1 for 10..99, -1 for 0.1..0.99.
int leading_position(double value) {
  return static_cast<int>(std::floor(std::log10(std::abs(value))));
}

/// `value` rounded to `decimals` places after the point; before it when negative.
std::string fixed(double value, int decimals) {
  if (decimals < 0) {
    const double unit = std::pow(10.0, -decimals);
    value = std::round(value / unit) * unit;
  }
  const std::string text = fmt::format("{:.{}f}", value, std::max(decimals, 0));
  const bool negative_zero =
      text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos;
  return negative_zero ? text.substr(1) : text;
}

/// Decimals that show `digits` significant digits of `value` after rounding.
int decimals_for_digits(double value, int digits) {
  if (value == 0.0) {
    return 0;
  }
  const int decimals = digits - 1 - leading_position(value);
  const double rounded = std::round(value * std::pow(10.0, decimals)) / std::pow(10.0, decimals);
  return rounded == 0.0 ? decimals : digits - 1 - leading_position(rounded);
}

std::string percent_without_interval(double value) {
  if (value != 0.0 && std::abs(value) < 0.05) {
    return value > 0.0 ? "<0.1" : ">-0.1";
  }
  return fixed(value, 1);
}

std::string without_interval(double value, Unit unit, int digits) {
  if (unit == Unit::count) {
    return fixed(value, 0);
  }
  if (unit == Unit::percent) {
    return percent_without_interval(value);
  }
  const bool may_be_exact = unit == Unit::bytes || unit == Unit::plain;
  const bool whole = may_be_exact && value == std::round(value) && std::abs(value) < 1e4;
  return fixed(value, whole ? 0 : decimals_for_digits(value, digits));
}

std::string with_interval(double value, Interval<double> interval) {
  const double half = 0.5 * (interval.high - interval.low);
  const int finest = value == 0.0 ? most_digits - 1 : most_digits - 1 - leading_position(value);
  const double smallest = std::pow(10.0, -finest);
  if (!(half >= 0.5 * smallest)) {
    return fmt::format("{} ± <{}", fixed(value, finest), fixed(smallest, finest));
  }
  const int leading = leading_position(half);
  const bool leading_one = half < 1.95 * std::pow(10.0, leading);
  const int finer = std::min(finest, leading_one ? 1 - leading : -leading);
  const double upper = interval.high - value;
  const double lower = value - interval.low;
  const double longer = std::max(upper, lower);
  if (std::min(upper, lower) >= alike * longer || fixed(upper, finer) == fixed(lower, finer)) {
    return fmt::format("{} ± {}", fixed(value, finer), fixed(longer, finer));
  }
  // The nearer end must differ from the value where one more digit shows it.
  const double nearer = std::min(upper, lower);
  const bool coarse = half >= 1.5 * std::pow(10.0, leading) && nearer >= std::pow(10.0, leading);
  const int decimals = std::min(finest, coarse ? -leading : 1 - leading);
  return fmt::format("{} [{}, {}]",
                     fixed(value, decimals),
                     fixed(interval.low, decimals),
                     fixed(interval.high, decimals));
}
}  // namespace

Number in_proportion(double value, const Estimate<Seconds>& step) {
  return transform(step, [&](Seconds time) { return value * (time / step.value); });
}

Number in_inverse_proportion(double value, const Estimate<Seconds>& step) {
  return transform_decreasing(step, [&](Seconds time) { return value * (step.value / time); });
}

std::string base_symbol(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "s";
    case Unit::hours:
      return "h";
    case Unit::bytes:
      return "B";
    case Unit::bytes_per_second:
      return "B/s";
    case Unit::flop:
      return "FLOP";
    case Unit::flop_per_second:
      return "FLOP/s";
    case Unit::flop_per_byte:
      return "FLOP/B";
    case Unit::tokens_per_second:
      return "tokens/s";
    case Unit::hertz:
      return "Hz";
    case Unit::watts:
      return "W";
    case Unit::celsius:
      return "C";
    case Unit::flop_per_joule:
      return "FLOP/J";
    case Unit::dollars:
      return "USD";
    case Unit::plain:
    case Unit::count:
    case Unit::percent:
      break;
  }
  return "1";
}

Scale scale_for(Unit unit, double magnitude) {
  const auto choices = steps(unit);
  // Zero says nothing about the scale; the unit with factor 1 or the largest reads best.
  if (magnitude == 0.0 || !std::isfinite(magnitude)) {
    const auto& plain = unit == Unit::bytes ? choices.back() : choices.front();
    return Scale{plain.factor, plain.symbol};
  }
  for (const Step& step : choices) {
    if (std::abs(magnitude) >= step.from) {
      return Scale{step.factor, step.symbol};
    }
  }
  return Scale{choices.back().factor, choices.back().symbol};
}

std::string format_number(const Number& number, Unit unit, const Scale& scale, int digits) {
  const double value = number.value * scale.factor;
  if (!std::isfinite(value)) {
    return "n/a";
  }
  const auto& interval = number.interval;
  if (!interval || !std::isfinite(interval->low) || !std::isfinite(interval->high)) {
    return without_interval(value, unit, digits);
  }
  if (unit == Unit::count) {
    return fmt::format(
        "{} [{}, {}]", fixed(value, 0), fixed(interval->low, 0), fixed(interval->high, 0));
  }
  return with_interval(value, {interval->low * scale.factor, interval->high * scale.factor});
}

std::string format_decimals(double value, int decimals) {
  return fixed(value, decimals);
}

std::string format_quantity(const Number& number, Unit unit, int digits) {
  const Scale scale = scale_for(unit, number.value);
  const std::string text = format_number(number, unit, scale, digits);
  return scale.symbol.empty() || text == "n/a" ? text : text + " " + scale.symbol;
}
}  // namespace scaleworth::report
