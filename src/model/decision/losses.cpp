// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/causes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::decide {
namespace {
constexpr std::size_t fewest_for_growth = 3;
constexpr std::size_t communication = index_of(PartGroup::communication);
constexpr std::size_t idle = index_of(PartGroup::idle);

bool has_parts(const DecisionRow& row) {
  return row.parts_s[index_of(PartGroup::compute)].has_value();
}

/// The speed-up with `part` of the time gone.
std::optional<double> without(const DecisionRow& row, std::size_t part) {
  if (!row.parts_s[part]) return std::nullopt;
  const double rest = row.time.value.value() - *row.parts_s[part];
  if (!(rest > 0.0)) return std::nullopt;
  return row.speedup.value * row.time.value.value() / rest;
}

RowLoss loss_of(const DecisionRow& row, const DecisionRow& baseline) {
  const double growth = row.work_growth();
  RowLoss loss;
  loss.count = row.count;
  loss.missing = row.count_ratio - row.speedup.value;
  double gross = 0.0;
  for (std::size_t i = 0; i < part_groups.size(); ++i) {
    if (!row.parts_s[i]) continue;
    const double ideal = baseline.parts_s[i].value_or(0.0) * growth / row.count_ratio;
    loss.lost_s[i] = *row.parts_s[i] - ideal;
    gross += std::max(0.0, *loss.lost_s[i]);
  }
  for (std::size_t i = 0; i < part_groups.size(); ++i) {
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
  const DecisionRow* baseline = baseline_row(rows);
  std::vector<RowLoss> losses;
  if (!baseline || !has_parts(*baseline)) return losses;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio > 1.0 && has_parts(row)) losses.push_back(loss_of(row, *baseline));
  }
  return losses;
}

std::vector<PartGrowth> part_growth(const std::vector<DecisionRow>& rows) {
  std::vector<PartGrowth> growths;
  for (const GroupInfo& group : part_groups) {
    if (group.id == PartGroup::compute) continue;
    std::vector<double> counts;
    std::vector<double> times;
    for (const DecisionRow& row : rows) {
      const auto& time = row.parts_s[index_of(group.id)];
      if (row.count_ratio <= 1.0 || !time || !(*time > 0.0)) continue;
      counts.push_back(row.count);
      times.push_back(*time);
    }
    if (counts.size() < fewest_for_growth) continue;
    const Line line = plain_line(counts, times);
    const double exponent = plain_line(logarithms(counts), logarithms(times)).slope;
    growths.push_back({group.id, exponent, line.slope, line.intercept});
  }
  return growths;
}

namespace {
/// Within this efficiency a row measured once may be noise.
constexpr double superlinear_noise = 1.03;
/// Exact curves are efficient to the last digit but one.
constexpr double rounding = 1e-9;

bool is_superlinear(const DecisionRow& row) {
  const auto& interval = row.efficiency.interval;
  const double least = interval ? interval->low : row.efficiency.value;
  return row.count_ratio > 1.0 && least > 1.0 + rounding;
}

/// The part that gained most seconds of the same work against its share of the baseline's.
std::optional<PartGroup> gaining_part(const DecisionRow& row, const DecisionRow& baseline) {
  const double growth = row.work_growth();
  std::optional<PartGroup> gaining;
  double most = 0.0;
  for (const GroupInfo& group : part_groups) {
    const std::size_t i = index_of(group.id);
    if (!row.parts_s[i] || !baseline.parts_s[i]) continue;
    const double gain = *baseline.parts_s[i] * growth / row.count_ratio - *row.parts_s[i];
    if (gain > most) {
      most = gain;
      gaining = group.id;
    }
  }
  return gaining;
}

std::string reason(const DecisionRow& row, const DecisionRow& baseline) {
  const Layout layout = layout_of_replica(row.facts.layout);
  if (!layout.empty() && !(layout == layout_of_replica(baseline.facts.layout))) {
    return "its layout is another than the baseline's, so it is another program";
  }
  if (const auto part = gaining_part(row, baseline)) {
    if (*part == PartGroup::compute) {
      return "its compute alone shrank by more than the counts: more cache or memory per unit of "
             "work, or other kernels";
    }
    return fmt::format(
        "the baseline's {} is more than its share: the baseline is slow, so measure "
        "it again",
        group_name(*part));
  }
  if (row.time.samples < 2 && row.efficiency.value <= superlinear_noise) {
    return "one run each, so it may be noise: repeat both";
  }
  return "more cache or memory per unit of work, other kernels, or a baseline that ran out of "
         "memory; parts of the time would show which";
}

/// Counts that one reason explains.
struct Alike {
  std::vector<int> counts;
  double least = 0.0;  // efficiency
  double most = 0.0;
  std::string reason;
};

std::string remark(const Alike& group) {
  constexpr std::size_t most_named = 8;
  const std::size_t named = std::min(group.counts.size(), most_named);
  std::string who = fmt::format(
      "{}", fmt::join(group.counts.begin(), group.counts.begin() + static_cast<long>(named), ", "));
  if (named < group.counts.size()) who += fmt::format(" and {} more", group.counts.size() - named);
  if (group.counts.size() == 1) {
    return fmt::format(
        "{} is superlinear (efficiency {:.3f}), kept as it is: {}", who, group.least, group.reason);
  }
  return fmt::format("{} are superlinear (efficiency {:.3f} to {:.3f}), kept as they are: {}",
                     who,
                     group.least,
                     group.most,
                     group.reason);
}
}  // namespace

std::vector<std::string> superlinear_remarks(const std::vector<DecisionRow>& rows) {
  std::vector<std::string> remarks;
  const DecisionRow* baseline = baseline_row(rows);
  if (!baseline) return remarks;
  std::vector<Alike> groups;
  for (const DecisionRow& row : rows) {
    if (!is_superlinear(row)) continue;
    const double efficiency = row.efficiency.value;
    const std::string why = reason(row, *baseline);
    auto group = std::find_if(
        groups.begin(), groups.end(), [&](const Alike& one) { return one.reason == why; });
    if (group == groups.end()) group = groups.insert(group, {{}, efficiency, efficiency, why});
    group->counts.push_back(row.count);
    group->least = std::min(group->least, efficiency);
    group->most = std::max(group->most, efficiency);
  }
  remarks.reserve(groups.size());
  for (const Alike& group : groups) remarks.push_back(remark(group));
  return remarks;
}
}  // namespace scaleworth::decide
