// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/core/whole_number.h"
#include "src/model/comparison.h"
#include "src/model/decision/causes.h"

#include <cmath>
#include <numbers>
#include <span>

namespace scaleworth::model {
namespace {
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

Finding reason(const DecisionRow& row, const DecisionRow& baseline) {
  const Layout layout = layout_of_replica(row.facts.layout);
  if (!layout.empty() && !(layout == layout_of_replica(baseline.facts.layout)))
    return FindingId::layout_of_another;
  if (const auto part = gaining_part(row, baseline)) {
    if (*part == PartGroup::compute) return FindingId::compute_shrank;
    return {FindingId::baseline_slow, group_name(*part)};
  }
  if (row.time.samples < 2 && row.efficiency.value <= superlinear_noise)
    return FindingId::one_run_each;
  return FindingId::gain_unexplained;
}

/// ln(communication / compute) at ln(count); -infinity without communication.
struct PartRatio {
  int count = 1;
  double ratio = 0.0;
  double at() const { return std::log(count); }
};

/// Of the rows that have compute.
std::vector<PartRatio> part_ratios(const std::vector<DecisionRow>& rows) {
  std::vector<PartRatio> ratios;
  for (const DecisionRow& row : rows) {
    const auto& compute = row.parts_s[index_of(PartGroup::compute)];
    const auto& communication = row.parts_s[index_of(PartGroup::communication)];
    if (compute && *compute > 0.0)
      ratios.push_back({row.count, std::log(communication.value_or(0.0) / *compute)});
  }
  return ratios;
}

double slope(const PartRatio& a, const PartRatio& b) {
  return (b.ratio - a.ratio) / (b.at() - a.at());
}

/// Of the line through three.
double curvature_of(const PartRatio* three) {
  return 2.0 * std::abs(slope(three[1], three[2]) - slope(three[0], three[1])) /
         (three[2].at() - three[0].at());
}

/// `noise`: standard deviation of a ratio.
Crossing crossing_between(const std::vector<PartRatio>& ratios, std::size_t before, double noise) {
  const PartRatio& a = ratios[before];
  const PartRatio& b = ratios[before + 1];
  const double low = a.count;
  const double high = b.count;
  if (!std::isfinite(a.ratio)) return {a.count, b.count, std::sqrt(low * high), low, high};
  const double h = b.at() - a.at();
  const double rise = slope(a, b);
  const double t = -a.ratio / (b.ratio - a.ratio);
  Crossing crossing{a.count, b.count, std::exp(a.at() + t * h), low, high};
  double curvature = -1.0;
  for (const std::size_t first : {before - 1, before})  // with both neighbours; wraps around at 0
    if (first <= before && first + 2 < ratios.size() && std::isfinite(ratios[first].ratio))
      curvature = std::max(curvature, curvature_of(&ratios[first]));
  if (curvature < 0.0) return crossing;
  const double reach =
      (normal_reach * noise * std::hypot(t, 1.0 - t) + curvature * t * (1.0 - t) * h * h / 2.0) /
      rise;
  crossing.low = crossing.at * std::exp(-reach);
  crossing.high = crossing.at * std::exp(reach);
  return crossing;
}

std::optional<Crossing> crossing_beyond(const std::vector<PartRatio>& ratios, double noise) {
  constexpr double farthest = 4.0;
  const std::size_t n = ratios.size();
  const auto exists = [](const PartRatio& at) { return std::isfinite(at.ratio); };
  if (n < 3 || !std::all_of(ratios.end() - 3, ratios.end(), exists)) return std::nullopt;
  const PartRatio& second = ratios[n - 2];
  const PartRatio& last = ratios[n - 1];
  const double rise = slope(second, last);
  const double distance = -last.ratio / rise;
  if (!(rise > 0.0) || distance > std::log(farthest)) return std::nullopt;
  const double h = last.at() - second.at();
  const double beyond = distance * (distance + h);
  const double error = curvature_of(&ratios[n - 3]) * beyond +
                       normal_reach * noise * std::sqrt(1.0 + 2.0 * beyond / (h * h));
  const double least = rise - error / distance;
  Crossing crossing{last.count, {}, last.count * std::exp(distance), {}, {}};
  crossing.low = last.count * std::exp(-last.ratio / (rise + error / distance));
  if (least > 0.0) crossing.high = last.count * std::exp(-last.ratio / least);
  return crossing;
}

/// Counts that one reason explains.
struct Alike {
  std::vector<int> counts;
  Interval<double> efficiency;
  Finding reason;
};

Finding remark(const Alike& group) {
  constexpr std::size_t most_named = 8;
  const std::size_t named = std::min(group.counts.size(), most_named);
  std::string who = fmt::format("{}", fmt::join(std::span(group.counts).first(named), ", "));
  if (named < group.counts.size()) who += fmt::format(" and {} more", group.counts.size() - named);
  return {group.counts.size() == 1 ? FindingId::superlinear_one : FindingId::superlinear,
          who,
          group.efficiency.low,
          group.reason,
          group.efficiency.high};
}
}  // namespace

std::optional<Crossing> communication_overtakes(const std::vector<DecisionRow>& rows) {
  const std::vector<PartRatio> ratios = part_ratios(rows);
  std::size_t first = ratios.size();  // from which on all lie above 1
  while (first > 0 && ratios[first - 1].ratio > 0.0) --first;
  if (first == 0) return std::nullopt;
  const SampleVariance& repeated = rows.front().noise;
  const double noise = std::numbers::sqrt2 *
                       (repeated.degrees > 0.0 ? std::sqrt(repeated.variance) : presumed_run_noise);
  return first < ratios.size() ? crossing_between(ratios, first - 1, noise)
                               : crossing_beyond(ratios, noise);
}

std::optional<Crossing> communication_overtakes(const Coefficients& coefficients) {
  const double c = coefficients.communication;
  if (!(c > 0.0)) return std::nullopt;
  const double b = c + coefficients.serial;
  Crossing crossing;
  crossing.at = (b + std::sqrt(b * b + 4.0 * c * (1.0 - coefficients.serial))) / (2.0 * c);
  crossing.before = saturated<int>(std::floor(crossing.at));
  return crossing;
}

std::vector<KeptWork> isoefficiency(const std::vector<DecisionRow>& rows, double efficiency) {
  std::vector<KeptWork> kept;
  const DecisionRow* baseline = baseline_row(rows);
  constexpr std::size_t compute = index_of(PartGroup::compute);
  if (!baseline || baseline->parts_s[compute].value_or(0.0) <= 0.0) return kept;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio <= 1.0 || !row.parts_s[compute]) continue;
    const double overhead = row.time.value.value() - *row.parts_s[compute];
    if (!(overhead > 0.0)) continue;
    kept.push_back({row.count,
                    row.count_ratio * efficiency / (1.0 - efficiency) * overhead /
                        *baseline->parts_s[compute]});
  }
  return kept;
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

std::vector<Finding> superlinear_remarks(const std::vector<DecisionRow>& rows) {
  std::vector<Finding> remarks;
  const DecisionRow* baseline = baseline_row(rows);
  if (!baseline) return remarks;
  std::vector<Alike> groups;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio <= 1.0 || row.efficiency.low() <= 1.0 + ratio_rounding) continue;
    const Interval<double> own{row.efficiency.value, row.efficiency.value};
    const Finding why = reason(row, *baseline);
    Alike* group = find_in(groups, why, &Alike::reason);
    if (!group) group = &groups.emplace_back(Alike{{}, own, why});
    group->counts.push_back(row.count);
    group->efficiency = *hull(group->efficiency, own);
  }
  for (const Alike& group : groups) remarks.push_back(remark(group));
  return remarks;
}
}  // namespace scaleworth::model
