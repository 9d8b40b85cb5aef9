// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/student_t.h"

#include "tests/catch.h"

#include <stdexcept>

using namespace scaleworth;

TEST_CASE("Student's t matches the printed table", "[statistics]") {
  // Two-sided 95 %: Abramowitz & Stegun table 26.10, three decimals.
  REQUIRE_THAT(student_t_two_sided(0.95, 1), WithinAbs(12.706, 5e-4));
  REQUIRE_THAT(student_t_two_sided(0.95, 4), WithinAbs(2.776, 5e-4));
  REQUIRE_THAT(student_t_two_sided(0.95, 30), WithinAbs(2.042, 5e-4));
  REQUIRE_THAT(student_t_two_sided(0.99, 10), WithinAbs(3.169, 5e-4));
}

TEST_CASE("Student's t approaches the normal for many degrees of freedom", "[statistics]") {
  REQUIRE_THAT(student_t_two_sided(0.95, 1e6), WithinAbs(1.95996, 1e-5));
}

TEST_CASE("a confidence of one or no degrees of freedom is refused", "[statistics]") {
  REQUIRE_THROWS_AS(student_t_two_sided(1.0, 3), std::invalid_argument);
  REQUIRE_THROWS_AS(student_t_two_sided(0.95, 0), std::invalid_argument);
}

TEST_CASE("the distribution below a t is one half at zero and symmetric about it", "[statistics]") {
  CHECK_THAT(student_t_below(0.0, 3.0), WithinAbs(0.5, 1e-12));
  // One degree of freedom is Cauchy: 1/2 + atan(t)/pi, 3/4 at 1.
  CHECK_THAT(student_t_below(1.0, 1.0), WithinAbs(0.75, 1e-9));
  CHECK_THAT(student_t_below(-1.0, 1.0), WithinAbs(0.25, 1e-9));
  CHECK_THAT(student_t_below(student_t_two_sided(0.95, 7.0), 7.0), WithinAbs(0.975, 1e-9));
  CHECK_THROWS_AS(student_t_below(1.0, 0.0), std::invalid_argument);
}
