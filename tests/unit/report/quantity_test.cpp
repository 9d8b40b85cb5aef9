// SPDX-License-Identifier: Apache-2.0
#include "report/quantity.h"

#include "tests/catch.h"

#include <cmath>
#include <limits>

using namespace scaleworth;
using namespace scaleworth::report;

namespace {

Number between(double value, double low, double high) {
  return Number{value, Interval<double>{low, high}, 15};
}

}  // namespace

TEST_CASE("a symmetric interval prints as one half-width with its first digit", "[quantity]") {
  REQUIRE(format_quantity(between(0.0613, 0.0609, 0.0617), Unit::seconds) == "61.3 ± 0.4 ms");
}

TEST_CASE("a half-width that begins with 1 keeps a second digit", "[quantity]") {
  REQUIRE(format_quantity(between(1.83, 1.814, 1.846), Unit::plain) == "1.830 ± 0.016");
}

TEST_CASE("an interval with unequal arms prints both ends", "[quantity]") {
  REQUIRE(format_quantity(between(23.1e9, 22.8e9, 23.9e9), Unit::bytes_per_second) ==
          "23.1 [22.8, 23.9] GB/s");
}

TEST_CASE("arms that differ by less than 30 % print as the longer one", "[quantity]") {
  // arms 0.8 and 1.0: 80 %; 0.6 and 1.0: 60 %
  REQUIRE(format_quantity(between(23.1, 22.3, 24.1), Unit::plain) == "23.1 ± 1.0");
  REQUIRE(format_quantity(between(23.1, 22.5, 24.1), Unit::plain) == "23.1 [22.5, 24.1]");
}

TEST_CASE("a near end shows beside a far one", "[quantity]") {
  // mean half-width 25, but the lower arm is 2: tens would print 20 [20, 70]
  REQUIRE(format_quantity(between(22.0, 20.0, 70.0), Unit::plain) == "22 [20, 70]");
}

TEST_CASE("a spread of tens rounds the value to tens", "[quantity]") {
  // half-width 56: first digit is of tens
  REQUIRE(format_quantity(between(1234.0, 1178.0, 1290.0), Unit::plain) == "1230 ± 60");
}

TEST_CASE("a spread wider than the value still prints", "[quantity]") {
  REQUIRE(format_quantity(between(0.4, -0.2, 1.6), Unit::plain) == "0.4 [-0.2, 1.6]");
}

TEST_CASE("an interval of zero width or below the fifth digit is bounded, not printed as zero",
          "[quantity]") {
  REQUIRE(format_quantity(between(61.3, 61.3, 61.3), Unit::plain) == "61.300 ± <0.001");
  REQUIRE(format_quantity(between(61.3, 61.29999, 61.30001), Unit::plain) == "61.300 ± <0.001");
}

TEST_CASE("a negative value rounds without a negative zero", "[quantity]") {
  REQUIRE(format_quantity(between(-0.01, -0.4, 0.38), Unit::plain) == "0.0 ± 0.4");
}

TEST_CASE("a number without interval has three significant digits", "[quantity]") {
  REQUIRE(format_quantity(number(1.0 / 3.0), Unit::plain) == "0.333");
  REQUIRE(format_quantity(number(123456.7), Unit::plain) == "123000");
  REQUIRE(format_quantity(number(9.996e-3), Unit::seconds) == "10.0 ms");
}

TEST_CASE("digits of a number without interval can be asked for", "[quantity]") {
  REQUIRE(format_quantity(number(5.91274), Unit::plain, 5) == "5.9127");
}

TEST_CASE("a whole number without interval prints in full", "[quantity]") {
  REQUIRE(format_quantity(number(1.0), Unit::plain) == "1");
  REQUIRE(format_quantity(number(0.0), Unit::plain) == "0");
  REQUIRE(format_quantity(number(20480.0), Unit::count) == "20480");
}

TEST_CASE("a count with an interval stays whole", "[quantity]") {
  REQUIRE(format_quantity(between(4.0, 2.0, 8.0), Unit::count) == "4 [2, 8]");
}

TEST_CASE("a fraction prints as per cent, a tiny one as a bound", "[quantity]") {
  REQUIRE(format_quantity(number(0.9164), Unit::percent) == "91.6 %");
  REQUIRE(format_quantity(number(0.0002), Unit::percent) == "<0.1 %");
  REQUIRE(format_quantity(number(0.0), Unit::percent) == "0.0 %");
}

TEST_CASE("times scale from nanoseconds to seconds", "[quantity]") {
  REQUIRE(format_quantity(number(1.31e-9), Unit::seconds) == "1.31 ns");
  REQUIRE(format_quantity(number(2.1e-6), Unit::seconds) == "2.10 us");
  REQUIRE(format_quantity(number(0.0613), Unit::seconds) == "61.3 ms");
  REQUIRE(format_quantity(number(0.0), Unit::seconds) == "0 s");
  REQUIRE(format_quantity(number(599.0), Unit::seconds) == "599 s");
  REQUIRE(format_quantity(number(600.0), Unit::seconds) == "10.0 min");
  REQUIRE(format_quantity(number(7200.0), Unit::seconds) == "2.00 h");
  REQUIRE(format_quantity(number(4.68e6), Unit::seconds) == "54.2 days");
  REQUIRE(format_quantity(number(1e9), Unit::seconds) == "11600 days");
}

TEST_CASE("amounts of money read as people write them", "[quantity]") {
  const auto money = [](double amount) { return format_money(number(amount), "USD"); };
  REQUIRE(money(133333.4) == "$133,333");
  REQUIRE(money(1234567890.0) == "$1,234,567,890");
  REQUIRE(money(-59392.0) == "-$59,392");
  REQUIRE(money(999.6) == "$1,000");
  REQUIRE(money(46.719) == "$46.72");
  REQUIRE(money(0.0987) == "$0.0987");
  REQUIRE(format_money(number(46.719), "EUR") == "46.72 EUR");
  REQUIRE(money(std::nan("")) == "n/a");
}

TEST_CASE("a time that rounds up to the next unit takes that unit", "[quantity]") {
  REQUIRE(format_quantity(number(0.9996e-3), Unit::seconds) == "1.00 ms");
}

TEST_CASE("rates are decimal and sizes are binary", "[quantity]") {
  REQUIRE(format_quantity(number(25e9), Unit::bytes_per_second) == "25.0 GB/s");
  REQUIRE(format_quantity(number(3e6), Unit::bytes_per_second) == "3.00 MB/s");
  REQUIRE(format_quantity(number(1.5e14), Unit::flop_per_second) == "150 TFLOP/s");
  REQUIRE(format_quantity(number(8.0), Unit::bytes) == "8 B");
  REQUIRE(format_quantity(number(262144.0), Unit::bytes) == "256 KiB");
  REQUIRE(format_quantity(number(25276514304.0), Unit::bytes) == "23.5 GiB");
}

TEST_CASE("a value that is not finite prints as not available", "[quantity]") {
  REQUIRE(format_quantity(number(std::nan("")), Unit::seconds) == "n/a");
  REQUIRE(format_quantity(number(std::numeric_limits<double>::infinity()), Unit::plain) == "n/a");
}

TEST_CASE("an interval with an infinite end is no interval", "[quantity]") {
  REQUIRE(format_quantity(between(2.5, 1.0, std::numeric_limits<double>::infinity()),
                          Unit::plain) == "2.50");
}

TEST_CASE("a rate carries the relative interval of the step, ends swapped", "[quantity]") {
  // 100/s at 2 s; 1 s would be 200/s, 4 s would be 50/s
  const Estimate<Seconds> step{Seconds(2.0), Interval<Seconds>{Seconds(1.0), Seconds(4.0)}, 9};
  const Number rate = in_inverse_proportion(100.0, step);
  REQUIRE(rate.value == 100.0);
  REQUIRE(rate.interval->low == 50.0);
  REQUIRE(rate.interval->high == 200.0);
  REQUIRE(in_proportion(100.0, step).interval->low == 50.0);
}
