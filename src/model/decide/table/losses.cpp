// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/losses.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::decide {
namespace {

constexpr std::size_t fewest_for_growth = 3;
constexpr auto communication = static_cast<std::size_t>(TimePart::communication);
constexpr auto idle = static_cast<std::size_t>(TimePart::idle);

const DecisionRow* baseline_of(const std::vector<DecisionRow>& rows) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [](const DecisionRow& row) { return row.count_ratio == 1.0; });
  return found == rows.end() ? nullptr : &*found;
}

bool has_parts(const DecisionRow& row) {
  return row.parts_s[static_cast<std::size_t>(TimePart::compute)].has_value();
}

/// The speed-up with `part` of the time gone.
std::optional<double> without(const DecisionRow& row, std::size_t part) {
  if (!row.parts_s[part]) return std::nullopt;
  const double rest = row.time.value.value() - *row.parts_s[part];
  if (!(rest > 0.0)) return std::nullopt;
  return row.speedup.value * row.time.value.value() / rest;
}

RowLoss loss_of(const DecisionRow& row, const DecisionRow& baseline) {
  const double growth = row.time.value / row.same_work.value;
  RowLoss loss;
  loss.count = row.count;
  loss.missing = row.count_ratio - row.speedup.value;
  double gross = 0.0;
  for (std::size_t i = 0; i < time_parts; ++i) {
    if (!row.parts_s[i]) continue;
    const double ideal = baseline.parts_s[i].value_or(0.0) * growth / row.count_ratio;
    loss.lost_s[i] = *row.parts_s[i] - ideal;
    gross += std::max(0.0, *loss.lost_s[i]);
  }
  for (std::size_t i = 0; i < time_parts; ++i) {
    if (loss.lost_s[i] && gross > 0.0) loss.share[i] = std::max(0.0, *loss.lost_s[i]) / gross;
  }
  loss.without_communication = without(row, communication);
  loss.without_idle = without(row, idle);
  return loss;
}

struct Line {
  double slope;
  double intercept;
};

Line plain_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (x[i] - mean_x) * (y[i] - mean_y);
    squares += (x[i] - mean_x) * (x[i] - mean_x);
  }
  const double slope = products / squares;
  return {slope, mean_y - slope * mean_x};
}

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

}  // namespace

std::vector<RowLoss> row_losses(const std::vector<DecisionRow>& rows) {
  const DecisionRow* baseline = baseline_of(rows);
  std::vector<RowLoss> losses;
  if (!baseline || !has_parts(*baseline)) return losses;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio > 1.0 && has_parts(row)) losses.push_back(loss_of(row, *baseline));
  }
  return losses;
}

std::vector<PartGrowth> part_growth(const std::vector<DecisionRow>& rows) {
  std::vector<PartGrowth> growths;
  for (const TimePart part :
       {TimePart::communication, TimePart::idle, TimePart::host, TimePart::io}) {
    std::vector<double> counts;
    std::vector<double> times;
    for (const DecisionRow& row : rows) {
      const auto& time = row.parts_s[static_cast<std::size_t>(part)];
      if (row.count_ratio <= 1.0 || !time || !(*time > 0.0)) continue;
      counts.push_back(row.count);
      times.push_back(*time);
    }
    if (counts.size() < fewest_for_growth) continue;
    const Line line = plain_line(counts, times);
    const double exponent = plain_line(logarithms(counts), logarithms(times)).slope;
    growths.push_back({part, exponent, line.slope, line.intercept});
  }
  return growths;
}

}  // namespace scaleworth::decide
