// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/levels.h"
#include "src/model/roofline/plateaus.h"
#include "tests/catch.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

std::vector<double> logs_of(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

/// Two samples per working set: too few for noise, so that only the curve's shape matters.
std::vector<CurveSample> curve_of(const std::vector<double>& kilobytes,
                                  const std::vector<double>& values) {
  std::vector<CurveSample> curve;
  for (std::size_t i = 0; i < values.size(); ++i) {
    curve.push_back({Bytes(1e3 * kilobytes[i]), {values[i], values[i]}});
  }
  return curve;
}

}  // namespace

TEST_CASE("two plateaus with a point between them are found and the point belongs to neither",
          "[levels]") {
  const auto found = find_plateaus(logs_of({100, 101, 99, 60, 30, 30.3, 29.9}));
  REQUIRE(found.size() == 2);
  CHECK(found[0].first == 0);
  CHECK(found[0].last == 2);
  CHECK(found[1].first == 4);
  CHECK(found[1].last == 6);
  CHECK_THAT(std::exp(found[1].height), WithinRel(30.0, 1e-9));
}

TEST_CASE("a stray point does not split a plateau", "[levels]") {
  const auto found = find_plateaus(logs_of({100, 100, 101, 55, 99, 100, 101}));
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == 0);
  CHECK(found[0].last == 6);
}

TEST_CASE("a slow drift of ten percent is one level", "[levels]") {
  const auto found = find_plateaus(logs_of({100, 99, 98, 97, 96, 95, 94, 93, 92, 91}));
  REQUIRE(found.size() == 1);
}

TEST_CASE("a curve without a flat stretch has no plateau", "[levels]") {
  CHECK(find_plateaus(logs_of({100, 70, 49, 34, 24, 17})).empty());
  CHECK(find_plateaus(logs_of({100})).empty());
  CHECK(find_plateaus({}).empty());
}

TEST_CASE("levels are named after the cache that holds the middle of the plateau", "[levels]") {
  const std::vector<CacheCapacity> caches{{"L1", Bytes(48e3), {}}, {"L2", Bytes(1e6), {}}};
  // Middles: sqrt(8 x 32) = 16 kB in L1; sqrt(128 x 512) = 256 kB in L2; sqrt(4 x 16) = 8 MB in
  // none.
  const auto levels = find_levels(curve_of({8, 16, 32, 128, 256, 512, 4000, 8000, 16000},
                                           {300, 300, 300, 100, 100, 100, 20, 20, 20}),
                                  caches,
                                  1);
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].label == "L1");
  CHECK(levels[1].label == "L2");
  CHECK(levels[2].label == "memory");
  CHECK_THAT(levels[2].smallest.value(), WithinRel(4e6, 1e-12));
  CHECK_THAT(levels[2].value.value, WithinRel(20.0, 1e-12));
  CHECK(levels[2].value.samples == 6);
}

TEST_CASE("a single point beyond twice the last cache is the memory level", "[levels]") {
  const std::vector<CacheCapacity> caches{{"L2", Bytes(1e6), {}}};
  const auto levels =
      find_levels(curve_of({64, 128, 256, 512, 2100}, {90, 90, 90, 90, 15}), caches, 1);
  REQUIRE(levels.size() == 2);
  CHECK(levels[1].label == "memory");
  CHECK_THAT(levels[1].value.value, WithinRel(15.0, 1e-12));
  // 1.9 MB is less than twice 1 MB: part of it may still hit.
  CHECK(find_levels(curve_of({64, 128, 256, 512, 1900}, {90, 90, 90, 90, 15}), caches, 1).size() ==
        1);
}

TEST_CASE("a cache that workers share holds only their part of it", "[levels]") {
  const std::vector<CacheCapacity> caches{{"L3", Bytes(8e6), 1}};
  const auto curve = curve_of({3000, 4000, 5000}, {50, 50, 50});
  CHECK(find_levels(curve, caches, 1)[0].label == "L3");      // 8 MB for one worker
  CHECK(find_levels(curve, caches, 2)[0].label == "L3");      // 4 MB each, the middle is 3.87 MB
  CHECK(find_levels(curve, caches, 4)[0].label == "memory");  // 2 MB each
}

TEST_CASE("without known caches, and for a second plateau inside one cache, levels are numbered",
          "[levels]") {
  const auto curve = curve_of({8, 16, 32, 128, 256}, {300, 300, 300, 100, 100});
  const auto unnamed = find_levels(curve, {}, 1);
  REQUIRE(unnamed.size() == 2);
  CHECK(unnamed[0].label == "level 1");
  CHECK(unnamed[1].label == "level 2");
  const std::vector<CacheCapacity> caches{{"L2", Bytes(1e6), {}}};
  const auto shared = find_levels(curve, caches, 1);
  CHECK(shared[0].label == "L2");  // the wider of the two
  CHECK(shared[1].label == "level 2");
}
