// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/roofline.h"

#include "src/core/error.h"
#include "src/core/run/fields.h"
#include "tests/catch.h"

#include <cmath>
#include <limits>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

using Samples = std::vector<double>;

Point compute_point(double wall, double cpu, int workers = 1) {
  Point point;
  point.parameters = {{fields::isa, std::string("avx2")},
                      {fields::precision, std::string("fp64")},
                      {fields::workers, std::int64_t{workers}}};
  point.amounts = {{fields::flops, 100.0}};
  point.samples = {{fields::wall_s, Samples(7, wall)}, {fields::cpu_s, Samples(7, cpu)}};
  return point;
}

Point memory_point(std::int64_t working_set, double rate, double real_rate) {
  Point point;
  point.parameters = {{fields::kernel, std::string("triad")},
                      {fields::nontemporal, false},
                      {fields::workers, std::int64_t{1}},
                      {fields::working_set_bytes, working_set}};
  point.amounts = {{fields::bytes, rate}, {fields::bytes_real, real_rate}};
  point.samples = {{fields::wall_s, Samples(7, 1.0)}, {fields::cpu_s, Samples(7, 1.0)}};
  return point;
}

Point gemm_point(double flops, double bytes, double wall) {
  Point point;
  point.parameters = {{fields::family, std::string("square")},
                      {fields::precision, std::string("fp64")},
                      {fields::library, std::string("blas")},
                      {fields::m, std::int64_t{8}},
                      {fields::n, std::int64_t{8}},
                      {fields::k, std::int64_t{8}},
                      {fields::batch, std::int64_t{1}},
                      {fields::workers, std::int64_t{1}}};
  point.amounts = {{fields::flops, flops}, {fields::bytes, bytes}};
  point.samples = {{fields::wall_s, Samples(7, wall)}, {fields::cpu_s, Samples(7, wall)}};
  return point;
}

void add(Run& run, const char* probe, std::vector<Point> points) {
  ProbeRecord& record = run.probes.emplace_back();
  record.name = probe;
  record.points = std::move(points);
}

/// Ceiling 100 FLOP/s; 40 B/s (real) while 10 B fit, 5 B/s beyond.
Run small_machine() {
  Run run;
  add(run, fields::roofline_compute, {compute_point(1.0, 1.0)});
  add(run, fields::roofline_memory, {memory_point(10, 30, 40), memory_point(1000, 4, 5)});
  return run;
}

}  // namespace

TEST_CASE("a run without roofline probes has no roofline", "[roofline]") {
  CHECK_FALSE(analyse_roofline(Run{}, {}).has_value());
}

TEST_CASE("caches come from the run's own facts, without the instruction cache", "[roofline]") {
  Run run;
  const auto bytes = [](std::int64_t value) { return std::optional<Value>(Value{value}); };
  run.environment = {{"cpu",
                      {{"l3_cache_bytes", bytes(32'000'000), "sysfs"},
                       {"l3_cache_line_bytes", bytes(64), "sysfs"},
                       {"l3_cache_count", bytes(2), "sysfs"},
                       {"l1_data_cache_bytes", bytes(48'000), "sysfs"},
                       {"l1_instruction_cache_bytes", bytes(32'000), "sysfs"},
                       {"l2_cache_bytes", std::nullopt, "not readable"}}}};
  const auto caches = cache_capacities(run);
  REQUIRE(caches.size() == 2);
  CHECK(caches[0].label == "L1");
  CHECK_FALSE(caches[0].instances.has_value());
  CHECK(caches[1].label == "L3");
  CHECK(caches[1].instances == 2);
}

TEST_CASE("a contended ceiling keeps both rates and is named", "[roofline]") {
  Run run;
  // Two workers, 100 FLOP in 2 s of wall with 3 CPU seconds: 3 / (2 x 2) = 75 % of the time.
  add(run, fields::roofline_compute, {compute_point(2.0, 3.0, 2)});
  const auto result = analyse_roofline(run, {});
  const ComputeCeiling& ceiling = result->ceilings.at(0);
  CHECK_THAT(ceiling.wall_rate.value.value(), WithinRel(50.0, 1e-12));
  CHECK_THAT(ceiling.cpu_rate->value.value(), WithinRel(100.0 / 1.5, 1e-12));
  CHECK_THAT(*ceiling.cpu_share, WithinRel(0.75, 1e-12));
  CHECK(ceiling.contended);
  CHECK(result->warnings.size() == 1);
}

TEST_CASE("disturbed repetitions are set aside when enough undisturbed ones remain", "[roofline]") {
  Point point = memory_point(1000, 4, 5);
  point.samples[fields::wall_s] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2};
  point.samples[fields::cpu_s] = Samples(13, 1.0);
  Run run;
  add(run, fields::roofline_memory, {point});
  const auto result = analyse_roofline(run, {});
  CHECK_THAT(result->memory.at(0).rate.value.value(), WithinRel(4.0, 1e-12));
  CHECK(result->memory.at(0).rate.samples == 6);
  CHECK(result->warnings.empty());
}

TEST_CASE("a contended point is measured by thread-CPU time and counted", "[roofline]") {
  Point point = memory_point(1000, 4, 5);
  point.samples[fields::wall_s] = Samples(7, 2.0);
  point.samples[fields::cpu_s] = Samples(7, 0.5);
  Run run;
  add(run, fields::roofline_memory, {point});
  const auto result = analyse_roofline(run, {});
  CHECK_THAT(result->memory.at(0).rate.value.value(), WithinRel(8.0, 1e-12));  // 4 B / 0.5 s
  CHECK(result->warnings.size() == 1);
}

TEST_CASE("a soft roof whose peak no rung came near says that it is extrapolated", "[roofline]") {
  // p = 1 with P = B = 1: rate = I / (1 + I); 0.69 of the peak at I = 2.25.
  Run run;
  std::vector<Point> ladder;
  for (const double intensity : {0.0625, 0.125, 0.25, 0.5, 1.0, 2.25}) {
    Point point = compute_point(1.0, 1.0);
    const double rate = intensity / (1.0 + intensity);
    point.amounts = {{fields::flops, rate}, {fields::bytes, rate / intensity}};
    ladder.push_back(point);
  }
  add(run, fields::roofline_intensity, ladder);
  const auto result = analyse_roofline(run, {});
  REQUIRE(result->soft_roofs.size() == 1);
  CHECK(result->warnings.size() == 1);
}

TEST_CASE("a GEMM beyond the caches is held against memory bandwidth", "[roofline]") {
  Run run = small_machine();
  // 1000 B of operands, I = 2 FLOP/B, roof = min(100, 5 x 2) = 10; 2000 FLOP in 212.5 s: 94 %.
  add(run, fields::roofline_gemm, {gemm_point(2000, 1000, 212.5)});
  const PlacedGemm gemm = analyse_roofline(run, {})->gemms.at(0);
  CHECK_THAT(gemm.intensity.value(), WithinRel(2.0, 1e-12));
  CHECK_THAT(gemm.roof.value(), WithinRel(10.0, 1e-12));
  CHECK_THAT(gemm.fraction, WithinRel(2000.0 / 212.5 / 10.0, 1e-12));
  CHECK(gemm.bound == Bound::memory);
}

TEST_CASE("a GEMM whose operands fit a cache is held against that cache", "[roofline]") {
  Run run = small_machine();
  // 8 B of operands, I = 2: roof = min(100, 40 x 2) = 80; 16 FLOP in 0.4 s = 40 FLOP/s: half of it.
  add(run, fields::roofline_gemm, {gemm_point(16, 8, 0.4)});
  const auto result = analyse_roofline(run, {});
  CHECK_THAT(result->gemms.at(0).roof.value(), WithinRel(80.0, 1e-12));
  CHECK(result->gemms.at(0).bound == Bound::neither);
  CHECK(result->warnings.empty());
}

TEST_CASE("operands larger than every measured working set meet the largest one", "[roofline]") {
  Run run = small_machine();
  // I = 100, ridge = 100 / 5 = 20: compute side; 1e6 FLOP in 1e4 s = 100 FLOP/s.
  add(run, fields::roofline_gemm, {gemm_point(1e6, 1e4, 1e4)});
  const PlacedGemm gemm = analyse_roofline(run, {})->gemms.at(0);
  CHECK_THAT(gemm.bandwidth->value(), WithinRel(5.0, 1e-12));
  CHECK_THAT(gemm.fraction, WithinRel(1.0, 1e-12));
  CHECK(gemm.bound == Bound::compute);
}

TEST_CASE("between two working sets the roof is interpolated, suspicion starts at the upper one",
          "[roofline]") {
  Run run = small_machine();
  // 100 B: half way between 10 and 1000 in logarithms, sqrt(40 x 5) = 14.14 B/s; I = 1.
  // 17 FLOP/s are 120 % of that, but below the 40 x 1 of the smaller working set.
  add(run, fields::roofline_gemm, {gemm_point(100, 100, 100.0 / 17.0)});
  const auto result = analyse_roofline(run, {});
  CHECK_THAT(result->gemms.at(0).roof.value(), WithinRel(std::sqrt(200.0), 1e-9));
  CHECK(result->warnings.empty());
}

TEST_CASE("a GEMM above its roof is suspect", "[roofline]") {
  Run run = small_machine();
  add(run, fields::roofline_gemm, {gemm_point(1e6, 1e4, 0.9e4)});
  CHECK(analyse_roofline(run, {})->warnings.size() == 1);
}

TEST_CASE("a GEMM without a ceiling is left out and named", "[roofline]") {
  Run run;
  add(run, fields::roofline_gemm, {gemm_point(1600, 800, 170)});
  const auto result = analyse_roofline(run, {});
  CHECK(result->gemms.empty());
  CHECK(result->warnings.size() == 1);
}

TEST_CASE("points without usable times are left out, a missing amount is refused", "[roofline]") {
  Run run;
  Point empty = memory_point(10, 1, 1);
  empty.samples[fields::wall_s] = {std::numeric_limits<double>::quiet_NaN(), 0.0};
  add(run, fields::roofline_memory, {empty});
  CHECK(analyse_roofline(run, {})->memory.empty());
  Run broken;
  Point without = memory_point(10, 1, 1);
  without.amounts.erase(fields::bytes);
  add(broken, fields::roofline_memory, {without});
  CHECK_THROWS_AS(analyse_roofline(broken, {}), UserError);
}
