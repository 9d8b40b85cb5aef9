// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/stopping_rule.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <limits>

using namespace scaleworth;
using Reason = StoppingRule::Reason;

TEST_CASE("equal samples converge at the minimum count", "[stopping]") {
  StoppingRule rule(
      {.relative_half_width = 0.01, .minimum_samples = 7, .time_budget = Seconds(100.0)});
  int fed = 0;
  while (!rule.finished()) {
    rule.add(Seconds(2.0));
    ++fed;
  }
  REQUIRE(fed == 7);
  REQUIRE(rule.reason() == Reason::converged);
  REQUIRE(rule.explanation() == "converged: median within 0 % after 7 samples");
}

TEST_CASE("samples that never agree stop at the maximum and say how far they got", "[stopping]") {
  StoppingRule rule({.relative_half_width = 0.001,
                     .minimum_samples = 2,
                     .maximum_samples = 20,
                     .time_budget = Seconds(1000.0)});
  for (int i = 0; !rule.finished(); ++i) rule.add(Seconds(i % 2 == 0 ? 1.0 : 2.0));
  REQUIRE(rule.reason() == Reason::maximum_samples);
  REQUIRE(rule.samples().size() == 20);
}

TEST_CASE("the time budget counts what a sample cost, not its value", "[stopping]") {
  StoppingRule rule(
      {.relative_half_width = 0.0, .minimum_samples = 1, .time_budget = Seconds(1.0)});
  rule.add(Seconds(1e-6), Seconds(0.6));
  REQUIRE_FALSE(rule.finished());
  rule.add(Seconds(1.1e-6), Seconds(0.6));
  REQUIRE(rule.reason() == Reason::time_budget);
}

TEST_CASE("a sample far beyond the budget ends the sampling before the minimum count",
          "[stopping]") {
  StoppingRule rule({.minimum_samples = 7, .time_budget = Seconds(1.0)});
  rule.add(Seconds(5.0));
  REQUIRE(rule.reason() == Reason::time_budget);
  REQUIRE(rule.explanation() ==
          "time budget of 1 s spent after 1 samples: too few samples for an interval");
}

TEST_CASE("a duration that is not positive and finite is refused", "[stopping]") {
  StoppingRule rule({});
  REQUIRE_THROWS_AS(rule.add(Seconds(0.0)), ProbeFailure);
  REQUIRE_THROWS_AS(rule.add(Seconds(std::numeric_limits<double>::quiet_NaN())), ProbeFailure);
}
