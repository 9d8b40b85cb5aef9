// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/soft_roof.h"
#include "tests/catch.h"

#include <variant>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

/// Exact rates of a roof at intensities first, 2 first, 4 first, ...
std::vector<RoofSample> exact_ladder(double sharpness, double first, int rungs) {
  std::vector<RoofSample> ladder;
  for (int i = 0; i < rungs; ++i) {
    const FlopPerByte intensity(first * (1 << i));
    const double rate =
        soft_roof_rate(FlopPerSecond(50e9), BytesPerSecond(10e9), sharpness, intensity).value();
    ladder.push_back({intensity, std::vector<double>(7, rate)});
  }
  return ladder;
}

std::string skip_reason(const Outcome<SoftRoof>& outcome) {
  const auto* skipped = std::get_if<Skipped>(&outcome);
  return skipped == nullptr ? "" : skipped->reason;
}

}  // namespace

TEST_CASE("without overlap the two times add", "[soft roof]") {
  // p = 1 at I = 5: 1/50 + 1/(10 x 5) = 1/25.
  CHECK_THAT(soft_roof_rate(FlopPerSecond(50), BytesPerSecond(10), 1.0, FlopPerByte(5)).value(),
             WithinRel(25.0, 1e-12));
  // p = 2 at the ridge: 50 / sqrt(2).
  CHECK_THAT(soft_roof_rate(FlopPerSecond(50), BytesPerSecond(10), 2.0, FlopPerByte(5)).value(),
             WithinRel(50.0 / 1.41421356237, 1e-9));
}

TEST_CASE("far from the ridge the roof is its nearer limit", "[soft roof]") {
  const FlopPerSecond peak(50);
  const BytesPerSecond bandwidth(10);
  CHECK_THAT(soft_roof_rate(peak, bandwidth, 4.0, FlopPerByte(1e6)).value(), WithinRel(50.0, 1e-9));
  CHECK_THAT(soft_roof_rate(peak, bandwidth, 4.0, FlopPerByte(1e-6)).value(),
             WithinRel(1e-5, 1e-9));
}

TEST_CASE("an exact ladder gives its parameters back with intervals of no width", "[soft roof]") {
  const auto outcome = fit_soft_roof(exact_ladder(2.5, 0.25, 9));
  const auto& roof = std::get<SoftRoof>(outcome);
  CHECK_THAT(roof.peak.value.value(), WithinRel(50e9, 1e-6));
  CHECK_THAT(roof.bandwidth.value.value(), WithinRel(10e9, 1e-6));
  CHECK_THAT(roof.sharpness.value, WithinRel(2.5, 1e-5));
  CHECK_THAT(roof.ridge.value.value(), WithinRel(5.0, 1e-6));
  CHECK_THAT(roof.sharpness.interval->high, WithinRel(2.5, 1e-4));
  CHECK(roof.median_residual < 1e-6);
  CHECK(roof.points.size() == 9);
}

TEST_CASE("a perfect corner is reported as a lower limit of the sharpness", "[soft roof]") {
  const auto outcome = fit_soft_roof(exact_ladder(1000.0, 0.25, 9));
  const auto& roof = std::get<SoftRoof>(outcome);
  CHECK_THAT(roof.peak.value.value(), WithinRel(50e9, 1e-3));
  CHECK_FALSE(roof.sharpness_note.empty());
}

TEST_CASE("one stray rung does not move the roof", "[soft roof]") {
  auto ladder = exact_ladder(3.0, 0.25, 9);
  for (double& rate : ladder[7].rates) rate *= 0.6;
  const auto outcome = fit_soft_roof(ladder);
  const auto& roof = std::get<SoftRoof>(outcome);
  CHECK_THAT(roof.peak.value.value(), WithinRel(50e9, 0.01));
  CHECK_THAT(roof.bandwidth.value.value(), WithinRel(10e9, 0.01));
}

TEST_CASE("a ladder on one side of the ridge is not fitted and says which side is missing",
          "[soft roof]") {
  // The ridge is at 5 FLOP/B.
  CHECK(skip_reason(fit_soft_roof(exact_ladder(3.0, 80, 6))) == "no rung is limited by memory");
  CHECK(skip_reason(fit_soft_roof(exact_ladder(3.0, 0.001, 6))) == "no rung is limited by compute");
  CHECK(skip_reason(fit_soft_roof(exact_ladder(3.0, 1, 4))) == "4 rungs, needs 5");
}
