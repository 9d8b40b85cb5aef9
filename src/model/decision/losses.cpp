// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/causes.h"

#include <span>

namespace scaleworth::model {
namespace {
constexpr std::size_t fewest_for_growth = 3;

/// The speed-up with `part` of the time gone.
std::optional<double> without(const DecisionRow& row, std::size_t part) {
  if (!row.parts_s[part]) return std::nullopt;
  const double rest = row.time.value.value() - *row.parts_s[part];
  if (!(rest > 0.0)) return std::nullopt;
  return row.speedup.value * row.time.value.value() / rest;
}

/// The baseline's, growth of work and count taken into account.
double ideal_part(const DecisionRow& row, const DecisionRow& baseline, std::size_t part) {
  return baseline.parts_s[part].value_or(0.0) * row.work_growth() / row.count_ratio;
}

RowLoss loss_of(const DecisionRow& row, const DecisionRow& baseline) {
  RowLoss loss;
  loss.count = row.count;
  loss.missing = row.count_ratio - row.speedup.value;
  for (std::size_t i = 0; i < part_groups.size(); ++i)
    if (row.parts_s[i]) loss.lost_s[i] = *row.parts_s[i] - ideal_part(row, baseline, i);
  loss.without_communication = without(row, index_of(PartGroup::communication));
  loss.without_idle = without(row, index_of(PartGroup::idle));
  return loss;
}

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

/// Within this efficiency a row measured once may be noise.
constexpr double superlinear_noise = 1.03;
/// Exact curves are efficient to the last digit but one.
constexpr double ratio_rounding = 1e-9;

/// The part that gained most seconds of the same work against its share of the baseline's.
std::optional<PartGroup> gaining_part(const DecisionRow& row, const DecisionRow& baseline) {
  std::optional<PartGroup> gaining;
  double most = 0.0;
  for (const GroupInfo& group : part_groups) {
    const std::size_t i = index_of(group.id);
    if (!row.parts_s[i] || !baseline.parts_s[i]) continue;
    const double gain = ideal_part(row, baseline, i) - *row.parts_s[i];
    if (!(gain > most)) continue;
    most = gain;
    gaining = group.id;
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
        "the baseline's {} is more than its share: the baseline is slow, so measure it again",
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
  Interval<double> efficiency;
  std::string reason;
};

std::string remark(const Alike& group) {
  constexpr std::size_t most_named = 8;
  const std::size_t named = std::min(group.counts.size(), most_named);
  std::string who = fmt::format("{}", fmt::join(std::span(group.counts).first(named), ", "));
  if (named < group.counts.size()) who += fmt::format(" and {} more", group.counts.size() - named);
  const bool one = group.counts.size() == 1;
  return fmt::format("{} {} superlinear (efficiency {:.3f}{}), kept as {}: {}",
                     who,
                     one ? "is" : "are",
                     group.efficiency.low,
                     one ? "" : fmt::format(" to {:.3f}", group.efficiency.high),
                     one ? "it is" : "they are",
                     group.reason);
}
}  // namespace

std::optional<Crossing> communication_overtakes(const std::vector<DecisionRow>& rows) {
  const auto ratio = [](const DecisionRow& row) {
    const auto of = [&](PartGroup group) {
      return row.parts_s[static_cast<std::size_t>(group)].value_or(0.0);
    };
    const double compute = of(PartGroup::compute);
    return compute > 0.0 ? of(PartGroup::communication) / compute : 0.0;
  };
  for (std::size_t i = rows.size(); i-- > 1;) {
    const double before = ratio(rows[i - 1]);
    const double after = ratio(rows[i]);
    if (!(after > 1.0)) return std::nullopt;
    if (before > 1.0) continue;
    const double share = before > 0.0 ? std::log(1.0 / before) / std::log(after / before) : 0.5;
    const int low = rows[i - 1].count;
    const int high = rows[i].count;
    return Crossing{low, high, low * std::pow(static_cast<double>(high) / low, share)};
  }
  return std::nullopt;
}

std::vector<RowLoss> row_losses(const std::vector<DecisionRow>& rows) {
  const DecisionRow* baseline = baseline_row(rows);
  std::vector<RowLoss> losses;
  if (!baseline || !baseline->has_parts()) return losses;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio > 1.0 && row.has_parts()) losses.push_back(loss_of(row, *baseline));
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
    const PlainLine line = plain_line(counts, times);
    const double exponent = plain_line(logarithms(counts), logarithms(times)).slope;
    growths.push_back({group.id, exponent, line.slope, line.mean_y - line.slope * line.mean_x});
  }
  return growths;
}

std::vector<std::string> superlinear_remarks(const std::vector<DecisionRow>& rows) {
  std::vector<std::string> remarks;
  const DecisionRow* baseline = baseline_row(rows);
  if (!baseline) return remarks;
  std::vector<Alike> groups;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio <= 1.0 || row.efficiency.low() <= 1.0 + ratio_rounding) continue;
    const Interval<double> own{row.efficiency.value, row.efficiency.value};
    const std::string why = reason(row, *baseline);
    Alike* group = find_in(groups, why, &Alike::reason);
    if (!group) group = &groups.emplace_back(Alike{{}, own, why});
    group->counts.push_back(row.count);
    group->efficiency = *hull(group->efficiency, own);
  }
  for (const Alike& group : groups) remarks.push_back(remark(group));
  return remarks;
}
}  // namespace scaleworth::model
