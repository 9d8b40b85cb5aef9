// SPDX-License-Identifier: Apache-2.0
#include "report/quantity.h"

#include <array>
#include <cmath>
#include <span>

namespace scaleworth::report {
namespace {
constexpr int most_digits = 5;
/// Arms whose shorter one is at least this part of the longer print as one.
constexpr double alike = 0.7;

struct Step {
  double from = 0.0;  // magnitudes from here on
  double factor = 1.0;
  const char* symbol = nullptr;  // null: no further step
};

struct UnitSteps {
  Unit unit;
  const char* base;             // symbol of the base unit; "1" for a pure number
  std::array<Step, 7> printed;  // largest first
};

constexpr std::array unit_steps{
    UnitSteps{Unit::plain, "1", {{{0.0, 1.0, ""}}}},
    UnitSteps{Unit::count, "1", {{{0.0, 1.0, ""}}}},
    UnitSteps{Unit::percent, "1", {{{0.0, 100.0, "%"}}}},
    UnitSteps{Unit::seconds,
              "s",
              {{{172.8e3, 1.0 / 86.4e3, "days"},
                {7200.0, 1.0 / 3600.0, "h"},
                {600.0, 1.0 / 60.0, "min"},
                {0.9995, 1.0, "s"},
                {0.9995e-3, 1e3, "ms"},
                {0.9995e-6, 1e6, "us"},
                {0.0, 1e9, "ns"}}}},
    UnitSteps{Unit::hours, "h", {{{0.0, 1.0, "h"}}}},
    UnitSteps{Unit::bytes,
              "B",
              {{{0x1p40, 0x1p-40, "TiB"},
                {0x1p30, 0x1p-30, "GiB"},
                {0x1p20, 0x1p-20, "MiB"},
                {0x1p10, 0x1p-10, "KiB"},
                {0.0, 1.0, "B"}}}},
    UnitSteps{Unit::bytes_per_second,
              "B/s",
              {{{0.9995e12, 1e-12, "TB/s"}, {0.9995e8, 1e-9, "GB/s"}, {0.0, 1e-6, "MB/s"}}}},
    UnitSteps{Unit::flop,
              "FLOP",
              {{{0.9995e12, 1e-12, "TFLOP"}, {0.9995e8, 1e-9, "GFLOP"}, {0.0, 1e-6, "MFLOP"}}}},
    UnitSteps{
        Unit::flop_per_second,
        "FLOP/s",
        {{{0.9995e12, 1e-12, "TFLOP/s"}, {0.9995e8, 1e-9, "GFLOP/s"}, {0.0, 1e-6, "MFLOP/s"}}}},
    UnitSteps{Unit::flop_per_byte, "FLOP/B", {{{0.0, 1.0, "FLOP/B"}}}},
    UnitSteps{Unit::tokens_per_second, "tokens/s", {{{0.0, 1.0, "tokens/s"}}}},
    UnitSteps{Unit::hertz, "Hz", {{{0.9995e9, 1e-9, "GHz"}, {0.0, 1e-6, "MHz"}}}},
    UnitSteps{Unit::watts, "W", {{{0.0, 1.0, "W"}}}},
    UnitSteps{Unit::celsius, "C", {{{0.0, 1.0, "C"}}}},
    UnitSteps{Unit::flop_per_joule, "FLOP/J", {{{0.0, 1e-9, "GFLOP/J"}}}},
    UnitSteps{Unit::dollars, "USD", {{{0.0, 1.0, ""}}}}};

const UnitSteps& steps_of(Unit unit) {
  return *std::ranges::find(unit_steps, unit, &UnitSteps::unit);
}

std::span<const Step> steps(Unit unit) {
  const auto& all = steps_of(unit).printed;
  return {all.begin(), std::ranges::find(all, nullptr, &Step::symbol)};
}

/// Position of the leading digit: 0 for 1..9, 1 for 10..99, -1 for 0.1..0.99.
int leading_position(double value) {
  return saturated<int>(std::floor(std::log10(std::abs(value))));
}

/// Decimals that show `digits` significant digits of `value` after rounding.
int decimals_for_digits(double value, int digits) {
  if (value == 0.0) return 0;
  const int decimals = digits - 1 - leading_position(value);
  const double rounded = std::round(value * std::pow(10.0, decimals)) / std::pow(10.0, decimals);
  return rounded == 0.0 ? decimals : digits - 1 - leading_position(rounded);
}

std::string without_interval(double value, Unit unit, int digits) {
  if (unit == Unit::count) return fixed(value, 0);
  if (unit == Unit::percent) {
    if (value == 0.0 || std::abs(value) >= 0.05) return fixed(value, 1);
    return value > 0.0 ? "<0.1" : ">-0.1";
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
  return steps_of(unit).base;
}

Scale scale_for(Unit unit, double magnitude) {
  const auto choices = steps(unit);
  // Zero says nothing about the scale; the unit with factor 1 or the largest reads best.
  const bool unknown = magnitude == 0.0 || !std::isfinite(magnitude);
  const auto found = std::ranges::find_if(choices, [&](const Step& step) {
    return unknown ? step.factor == 1.0 : std::abs(magnitude) >= step.from;
  });
  const Step& step = found != choices.end() ? *found : unknown ? choices.front() : choices.back();
  return Scale{step.factor, step.symbol};
}

std::string format_number(const Number& number, Unit unit, const Scale& scale, int digits) {
  const double value = number.value * scale.factor;
  if (!std::isfinite(value)) return "n/a";
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

std::string grouped(std::string number) {
  const std::size_t begin = number.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(number.find_first_not_of("0123456789", begin), number.size());
  for (std::size_t at = end; at > begin + 3; at -= 3) number.insert(at - 3, ",");
  return number;
}

std::string format_money(const Number& amount, const std::string& currency) {
  const double size = std::abs(amount.value);
  std::string text = format_number(amount, Unit::dollars, {});
  if (text == "n/a") return text;
  if (!amount.interval && size >= 1.0) text = grouped(fixed(amount.value, size < 99.995 ? 2 : 0));
  if (currency != "USD") return text + " " + currency;
  return text.starts_with('-') ? "-$" + text.substr(1) : "$" + text;
}

std::string format_quantity(const Number& number, Unit unit, int digits) {
  const Scale scale = scale_for(unit, number.value);
  const std::string text = format_number(number, unit, scale, digits);
  return scale.symbol.empty() || text == "n/a" ? text : text + " " + scale.symbol;
}
}  // namespace scaleworth::report
