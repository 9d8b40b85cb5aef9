// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/contention/throughput.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

/// SPEC SDM91 on a 16-processor SPARCcenter 2000, from the R package usl: users, scripts per hour.
const std::vector<ThroughputPoint> sdm91{{1, 64.9},
                                         {18, 995.9},
                                         {36, 1652.4},
                                         {72, 1853.2},
                                         {108, 1828.9},
                                         {144, 1775.0},
                                         {216, 1702.2}};

}  // namespace

TEST_CASE("the throughput fit gives the published figures of SPEC SDM91 with t intervals",
          "[scaling]") {
  const auto fit = fit_throughput(sdm91);
  REQUIRE(fit);
  CHECK_THAT(fit->contention.value, WithinAbs(0.027728, 5e-7));
  CHECK_THAT(*fit->contention.standard_error, WithinAbs(0.009122, 5e-7));
  CHECK_THAT(fit->coherency.value, WithinAbs(1.0437e-4, 5e-9));
  CHECK_THAT(*fit->coherency.standard_error, WithinAbs(1.988e-5, 5e-9));
  CHECK_THAT(fit->single.value, WithinAbs(89.995, 5e-3));
  CHECK_THAT(*fit->single.standard_error, WithinAbs(14.21, 5e-3));
  CHECK(fit->degrees == 4);
  CHECK_THAT(fit->residual_sd, WithinAbs(82.85, 5e-3));
  CHECK_THAT(*fit->peak_load, WithinAbs(96.5196, 5e-4));
  CHECK_THAT(*fit->limit, WithinAbs(3245.589, 5e-2));
  // t = 2.7764 on four degrees of freedom: .0277 +- .0253.
  CHECK_THAT(fit->contention.interval->high - fit->contention.value, WithinAbs(0.0253, 5e-5));
  CHECK_THAT(fit->contention.value - fit->contention.interval->low, WithinAbs(0.0253, 5e-5));
}

TEST_CASE("the throughput fit predicts what others print for SPEC SDM91", "[scaling]") {
  const auto fit = fit_throughput(sdm91);
  const std::vector<double> printed{90, 1078, 1541, 1850, 1879, 1822, 1646};
  for (std::size_t i = 0; i < sdm91.size(); ++i) {
    CHECK_THAT(throughput_at(*fit, sdm91[i].load), WithinAbs(printed[i], 0.5));
    CHECK_THAT(fit->residuals[i],
               WithinAbs(sdm91[i].throughput - throughput_at(*fit, sdm91[i].load), 1e-9));
  }
}

TEST_CASE("the throughput fit gives the published parameters of the ray tracer", "[scaling]") {
  const auto fit = fit_throughput({{1, 20}, {4, 78}, {8, 130}, {12, 170}, {16, 190}, {20, 200}});
  REQUIRE(fit);
  CHECK_THAT(fit->contention.value, WithinAbs(0.02444, 5e-6));
  CHECK_THAT(fit->coherency.value, WithinAbs(0.00163, 5e-6));
  CHECK_THAT(fit->single.value, WithinAbs(20.856, 5e-4));
}

TEST_CASE("the throughput fit recovers the synthetic table", "[scaling]") {
  const auto fit =
      fit_throughput({{1, 1.0}, {2, 1.8868}, {4, 3.0769}, {6, 3.5294}, {8, 3.5398}, {10, 3.3557}});
  REQUIRE(fit);
  CHECK_THAT(fit->contention.value, WithinAbs(0.02, 5e-5));
  CHECK_THAT(fit->coherency.value, WithinAbs(0.02, 5e-5));
  CHECK_THAT(fit->single.value, WithinAbs(1.0, 5e-5));
}

TEST_CASE("a parameter at its bound has no interval, and three loads give none to any",
          "[scaling]") {
  const auto linear = fit_throughput({{1, 1.0}, {2, 2.1}, {4, 4.3}, {8, 9.0}});
  REQUIRE(linear);
  CHECK(linear->contention.value == 0.0);
  CHECK_FALSE(linear->contention.interval);
  CHECK_FALSE(linear->peak_load);
  CHECK(linear->single.interval);
  const auto exact = fit_throughput({{1, 1.0}, {2, 1.8}, {4, 3.0}});
  REQUIRE(exact);
  CHECK_FALSE(exact->single.interval);
  CHECK_FALSE(fit_throughput({{1, 1.0}, {2, 1.8}}));
  CHECK_THROWS_AS(fit_throughput({{1, 1.0}, {2, 0.0}, {4, 2.0}}), UserError);
}
