// SPDX-License-Identifier: Apache-2.0
/// The law on published throughput tables, against the parameters of the R package usl 3.0.3, which
/// minimises absolute throughput errors instead.
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/contention_law.h"
#include "tests/catch.h"
#include "tests/unit/model/public_tables.h"

#include <cmath>
#include <string>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

/// Count and time per unit of work of the first `most` rows.
std::vector<TimePoint> unit_times(const std::string& name,
                                  const std::string& count,
                                  const std::string& throughput,
                                  std::size_t most) {
  std::vector<TimePoint> result;
  for (const auto& row : tests::public_rows(name)) {
    if (result.size() == most) break;
    result.push_back({std::stod(row.at(count)), 1.0 / std::stod(row.at(throughput)), std::nullopt});
  }
  return result;
}

double relative_squares(const std::vector<TimePoint>& data, const ContentionFit& fit) {
  double sum = 0.0;
  for (const TimePoint& at : data) {
    const double time = fit.single * relative_time(fit.serial, fit.coherency, at.count);
    sum += std::pow((time - at.time) / at.time, 2);
  }
  return sum;
}

/// Whether the central 95 % of the draws hold it.
bool holds(const ContentionEstimate& estimate, double ContentionFit::*parameter, double value) {
  std::vector<double> draws;
  for (const ContentionFit& draw : estimate.draws) draws.push_back(draw.*parameter);
  return *quantile(draws, 0.025) <= value && value <= *quantile(draws, 0.975);
}

}  // namespace

TEST_CASE("the ray tracer table holds the published contention and coherency in its intervals",
          "[scaling]") {
  const auto data = unit_times("usl_raytracer.csv", "processors", "throughput", 6);
  if (data.empty()) return;
  const ContentionFit r_package{1 / 20.856, 0.02444, 0.00163, 0.0};
  const auto estimate = estimate_contention(data);
  REQUIRE(estimate);
  CHECK(holds(*estimate, &ContentionFit::serial, r_package.serial));
  CHECK(holds(*estimate, &ContentionFit::coherency, r_package.coherency));
  CHECK(relative_squares(data, estimate->best) < relative_squares(data, r_package));
  CHECK_THAT(1.0 / estimate->best.single, WithinRel(20.0, 0.02));
}

TEST_CASE("the relative fit keeps the measured single-user throughput of SPEC SDM91", "[scaling]") {
  // Measured 64.9; the absolute fit extrapolates to gamma = 89.995, 39 % above.
  const auto data = unit_times("usl_specsdm91.csv", "load", "throughput", 7);
  if (data.empty()) return;
  const ContentionFit r_package{1 / 89.995, 0.027728, 1.0437e-4, 0.0};
  const auto estimate = estimate_contention(data);
  REQUIRE(estimate);
  CHECK(relative_squares(data, estimate->best) < relative_squares(data, r_package));
  CHECK_THAT(1.0 / estimate->best.single, WithinRel(64.9, 0.06));
  CHECK(holds(*estimate, &ContentionFit::coherency, r_package.coherency));
}
