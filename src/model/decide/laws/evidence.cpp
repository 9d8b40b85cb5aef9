// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/laws/evidence.h"

#include "src/model/scaling/forecast/bake_off.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr double median_over_mean = 1.2533;  // standard errors of normal samples, sqrt(pi / 2)

double fitted_time(const model::ContentionFit& fit, int count) {
  return fit.single * model::relative_time(fit.serial, fit.coherency, count);
}

std::optional<double> left_out_error(const std::vector<model::LawPoint>& points, std::size_t at) {
  if (points.size() < model::minimum_counts || points.size() > most_left_out) return std::nullopt;
  std::vector<model::LawPoint> others = points;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
  const auto fit = model::fit_contention(others);
  if (!fit) return std::nullopt;
  return fitted_time(*fit, points[at].ranks) / points[at].time - 1.0;
}

std::optional<model::ThroughputFit> throughput_fit(const std::vector<DecisionRow>& rows) {
  std::vector<model::ThroughputPoint> points;
  for (const DecisionRow& row : rows) {
    if (!row.throughput) return std::nullopt;
    points.push_back({static_cast<double>(row.count), *row.throughput});
  }
  if (points.size() < model::minimum_counts) return std::nullopt;
  return model::fit_throughput(points);
}

void add_if_far(std::vector<std::string>& remarks,
                const char* name,
                const std::optional<int>& count,
                int largest) {
  if (!count || *count <= model::farthest_extrapolation * largest) return;
  remarks.push_back(fmt::format(
      "by the law {} would be the {} count, {:.1f} times the largest measured: beyond {:g} times "
      "laws of this kind have missed by a multiple, so measure before it is believed",
      *count,
      name,
      static_cast<double>(*count) / largest,
      model::farthest_extrapolation));
}

}  // namespace

std::vector<model::LawPoint> points_of_laws(const std::vector<DecisionRow>& rows) {
  std::vector<model::LawPoint> points;
  points.reserve(rows.size());
  for (const DecisionRow& row : rows) {
    model::LawPoint point{row.count, row.same_work.value.value(), row.relative_sd};
    const std::size_t repeats = row.time.samples;
    if (point.relative_sd && repeats > 1) {
      const double factor = repeats > 2 ? median_over_mean : 1.0;
      *point.relative_sd *= factor / std::sqrt(static_cast<double>(repeats));
      point.repeats = repeats;
    }
    points.push_back(point);
  }
  return points;
}

LawEvidence law_evidence(const std::vector<DecisionRow>& rows,
                         const std::optional<model::ContentionFit>& fit,
                         const std::optional<model::Prices>& prices) {
  LawEvidence evidence;
  evidence.throughput = throughput_fit(rows);
  if (!fit) return evidence;
  const std::vector<model::LawPoint> points = points_of_laws(rows);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double fitted = fitted_time(*fit, points[i].ranks);
    evidence.rows.push_back({points[i].ranks,
                             Seconds(points[i].time),
                             Seconds(fitted),
                             fitted / points[i].time - 1.0,
                             left_out_error(points, i)});
  }
  evidence.least_time = model::count_of_least_time(points, *fit);
  if (prices) evidence.least_cost = model::count_of_least_cost(points, *fit, *prices);
  if (points.size() >= model::minimum_counts) {
    evidence.next = model::next_measurement(points, *fit, prices);
  }
  return evidence;
}

std::vector<std::string> extrapolation_remarks(const model::ScalingLaw& law, int largest_measured) {
  std::vector<std::string> remarks;
  add_if_far(remarks, "fastest", law.fastest, largest_measured);
  add_if_far(remarks, "cheapest", law.cost_optimal, largest_measured);
  return remarks;
}

}  // namespace scaleworth::decide
