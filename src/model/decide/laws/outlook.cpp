// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/laws/outlook.h"

#include "src/model/decide/laws/evidence.h"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr int multiples[] = {2, 4, 8};

void add_points(Outlook& outlook,
                const std::vector<DecisionRow>& rows,
                const model::TimeAt& time_at) {
  const DecisionRow& last = rows.back();
  const double baseline_s = last.speedup.value * last.same_work.value.value();
  for (const int multiple : multiples) {
    const std::int64_t count = std::int64_t{last.count} * multiple;
    if (count > std::numeric_limits<int>::max()) return;
    const double time = time_at(static_cast<double>(count));
    OutlookPoint point;
    point.count = static_cast<int>(count);
    point.time = Seconds(time);
    point.speedup = baseline_s / time;
    point.efficiency = point.speedup / (last.count_ratio * multiple);
    point.far = multiple > model::farthest_extrapolation;
    outlook.points.push_back(point);
  }
}

std::string usual_law(Scaling scaling) {
  return fmt::format("the usual law of {}",
                     scaling == Scaling::weak ? "weak scaling" : "strong scaling");
}

std::string basis_of(const model::BakeOff& bake_off, Scaling scaling) {
  const std::string counts =
      fmt::format("{} count{}", bake_off.forecasts, bake_off.forecasts == 1 ? "" : "s");
  return bake_off.by_forecast
             ? fmt::format("the law that predicted {} best from the smaller ones", counts)
             : fmt::format("{}: none predicted {} clearly better from the smaller ones",
                           usual_law(scaling),
                           counts);
}

Outlook of_bake_off(const std::vector<DecisionRow>& rows,
                    Scaling scaling,
                    const model::BakeOff& bake_off) {
  const model::CandidateLaw& best = bake_off.laws.front();
  Outlook outlook{best.name, best.formula, "", best.held_out, {}};
  if (best.worst > model::cliff_error) {
    outlook.basis = fmt::format(
        "no law: even the best, {}, misses a count by {:.0f} %", best.name, 100.0 * best.worst);
    return outlook;
  }
  outlook.basis = basis_of(bake_off, scaling);
  add_points(outlook, rows, best.fitted.time);
  return outlook;
}

}  // namespace

std::optional<Outlook> outlook(const std::vector<DecisionRow>& rows,
                               Scaling scaling,
                               const std::optional<model::BakeOff>& bake_off) {
  if (rows.size() < 2) return std::nullopt;
  if (bake_off) return of_bake_off(rows, scaling, *bake_off);
  const std::vector<model::LawPoint> points = points_of_laws(rows);
  const model::LawChoice choice = model::choose_law({points}, scaling == Scaling::weak);
  Outlook outlook{choice.family.name, choice.family.formula, "", choice.held_out, {}};
  outlook.basis =
      choice.by_forecast
          ? "the law that predicted the largest count best"
          : fmt::format("{}, for {} counts cannot choose one", usual_law(scaling), points.size());
  add_points(outlook, rows, choice.family.fit(points).time);
  return outlook;
}

}  // namespace scaleworth::decide
