// SPDX-License-Identifier: Apache-2.0
/// The law on published throughput tables, against the parameters of the R package usl 3.0.3, which
/// minimises absolute throughput errors instead.
#include "src/model/laws/contention_law.h"
#include "tests/catch.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

const std::filesystem::path tables =
    std::filesystem::path(SCALEWORTH_SOURCE_DIR) / ".." / "shared" / "data" / "models";

/// Count and time per unit of work of the first `rows` rows; empty, with the reason on the output
/// (ctest then shows the case as skipped), without the table.
std::vector<LawPoint> published(const std::string& name, std::size_t rows) {
  std::ifstream file(tables / name);
  if (!file) std::cout << "skipped: no published table at " << tables / name << "\n";
  std::string line;
  std::getline(file, line);
  std::vector<LawPoint> result;
  while (result.size() < rows && std::getline(file, line)) {
    std::istringstream cells(line);
    double count = 0.0;
    double throughput = 0.0;
    char comma = ',';
    cells >> count >> comma >> throughput;
    result.push_back({static_cast<int>(count), 1.0 / throughput, std::nullopt});
  }
  return result;
}

double relative_squares(const std::vector<LawPoint>& data, const ContentionFit& fit) {
  double sum = 0.0;
  for (const LawPoint& at : data) {
    const double time = fit.single * relative_time(fit.serial, fit.coherency, at.ranks);
    sum += std::pow((time - at.time) / at.time, 2);
  }
  return sum;
}

bool holds(const Interval<double>& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

}  // namespace

TEST_CASE("the ray tracer table holds the published contention and coherency in its intervals",
          "[scaling]") {
  const auto data = published("usl_raytracer.csv", 6);
  if (data.empty()) return;
  const ContentionFit r_package{1 / 20.856, 0.02444, 0.00163, 0.0};
  const auto estimate = estimate_contention(data);
  REQUIRE(estimate);
  CHECK(holds(estimate->serial, r_package.serial));
  CHECK(holds(estimate->coherency, r_package.coherency));
  CHECK(relative_squares(data, estimate->best) < relative_squares(data, r_package));
  CHECK_THAT(1.0 / estimate->best.single, WithinRel(20.0, 0.02));
}

TEST_CASE("the relative fit keeps the measured single-user throughput of SPEC SDM91", "[scaling]") {
  // Measured 64.9; the absolute fit extrapolates to gamma = 89.995, 39 % above.
  const auto data = published("usl_specsdm91.csv", 7);
  if (data.empty()) return;
  const ContentionFit r_package{1 / 89.995, 0.027728, 1.0437e-4, 0.0};
  const auto estimate = estimate_contention(data);
  REQUIRE(estimate);
  CHECK(relative_squares(data, estimate->best) < relative_squares(data, r_package));
  CHECK_THAT(1.0 / estimate->best.single, WithinRel(64.9, 0.06));
  CHECK(holds(estimate->coherency, r_package.coherency));
}
