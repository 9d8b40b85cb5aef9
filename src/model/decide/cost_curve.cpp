// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cost_curve.h"

#include "src/core/error.h"
#include "src/model/scaling/contention/law.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr double farthest_optimum = 1e9;
constexpr int bisections = 200;  // beyond the precision of a double

void check(const Coefficients& law) {
  if (!(law.serial >= 0.0 && law.serial <= 1.0)) {
    throw UserError("the serial fraction must lie in 0 to 1, as --serial 0.03");
  }
  if (!(law.communication >= 0.0) || !std::isfinite(law.communication)) {
    throw UserError("the communication coefficient must be 0 or more, as --comm 0.0015");
  }
  if (!(law.single.value() > 0.0) || !std::isfinite(law.single.value())) {
    throw UserError("the time at one rank must be above 0, as --t1-hours 1");
  }
}

}  // namespace

ScalingTable curve_table(const Coefficients& law, int max_count) {
  check(law);
  if (max_count < 1 || max_count > most_curve_counts) {
    throw UserError(
        fmt::format("a curve has 1 to {} counts; give --max-count in there", most_curve_counts));
  }
  ScalingTable table;
  table.rows.reserve(static_cast<std::size_t>(max_count));
  for (int count = 1; count <= max_count; ++count) {
    TableRow row;
    row.count = count;
    const double relative = model::relative_time(law.serial, law.communication, count);
    row.time = Estimate<Seconds>{law.single * relative, std::nullopt, 0};
    table.rows.push_back(row);
  }
  return table;
}

std::optional<double> continuous_optimum(const Coefficients& law, const model::Prices& prices) {
  check(law);
  const double s = law.serial;
  const double c = law.communication;
  const double p = prices.per_rank.value();
  const double f = prices.fixed.value();
  if (!(p > 0.0 || f > 0.0)) return std::nullopt;
  const auto slope = [&](double k) {
    return p * (s - c) + 2.0 * p * c * k + f * c - f * (1.0 - s) / (k * k);
  };
  double low = 1.0;
  double high = c > 0.0 ? std::max(1.0, std::sqrt((1.0 - s) / c)) : farthest_optimum;
  if (slope(low) >= 0.0) return low;
  if (slope(high) < 0.0 && c <= 0.0) return std::nullopt;
  for (int i = 0; i < bisections; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(middle) < 0.0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace scaleworth::decide
