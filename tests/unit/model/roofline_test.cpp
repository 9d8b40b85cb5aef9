// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline.h"

#include "src/core/error.h"
#include "src/core/run.h"
#include "tests/catch.h"

#include <cmath>
#include <limits>
#include <variant>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
using Samples = std::vector<double>;

Point compute_point(double wall, double cpu, int workers = 1) {
  Point point;
  point.setting = {{Parameter::isa, std::string("avx2")},
                   {Parameter::precision, std::string("fp64")},
                   {Parameter::workers, std::int64_t{workers}}};
  point.amounts = {{Metric::flops, 100.0}};
  point.samples = {{Metric::wall_s, Samples(7, wall)}, {Metric::cpu_s, Samples(7, cpu)}};
  return point;
}

Point memory_point(std::int64_t working_set, double rate, double real_rate) {
  Point point;
  point.setting = {{Parameter::kernel, std::string("triad")},
                   {Parameter::nontemporal, false},
                   {Parameter::workers, std::int64_t{1}},
                   {Parameter::working_set_bytes, working_set}};
  point.amounts = {{Metric::bytes, rate}, {Metric::bytes_real, real_rate}};
  point.samples = {{Metric::wall_s, Samples(7, 1.0)}, {Metric::cpu_s, Samples(7, 1.0)}};
  return point;
}

Point gemm_point(double flops, double bytes, double wall) {
  Point point;
  point.setting = {{Parameter::family, std::string("square")},
                   {Parameter::precision, std::string("fp64")},
                   {Parameter::library, std::string("blas")},
                   {Parameter::m, std::int64_t{8}},
                   {Parameter::n, std::int64_t{8}},
                   {Parameter::k, std::int64_t{8}},
                   {Parameter::batch, std::int64_t{1}},
                   {Parameter::workers, std::int64_t{1}}};
  point.amounts = {{Metric::flops, flops}, {Metric::bytes, bytes}};
  point.samples = {{Metric::wall_s, Samples(7, wall)}, {Metric::cpu_s, Samples(7, wall)}};
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
  add(run, probe_name::roofline_compute, {compute_point(1.0, 1.0)});
  add(run, probe_name::roofline_memory, {memory_point(10, 30, 40), memory_point(1000, 4, 5)});
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
  CHECK(word_of(caches[0].name) == "L1");
  CHECK_FALSE(caches[0].instances.has_value());
  CHECK(word_of(caches[1].name) == "L3");
  CHECK(caches[1].instances == 2);
}

TEST_CASE("a contended ceiling keeps both rates and is named", "[roofline]") {
  Run run;
  // Two workers, 100 FLOP in 2 s of wall with 3 CPU seconds: 3 / (2 x 2) = 75 % of the time.
  add(run, probe_name::roofline_compute, {compute_point(2.0, 3.0, 2)});
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
  point.samples[Metric::wall_s] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2};
  point.samples[Metric::cpu_s] = Samples(13, 1.0);
  Run run;
  add(run, probe_name::roofline_memory, {point});
  const auto result = analyse_roofline(run, {});
  CHECK_THAT(result->memory.at(0).rate.value.value(), WithinRel(4.0, 1e-12));
  CHECK(result->memory.at(0).rate.samples == 6);
  CHECK(result->warnings.empty());
}

TEST_CASE("a contended point is measured by thread-CPU time and counted", "[roofline]") {
  Point point = memory_point(1000, 4, 5);
  point.samples[Metric::wall_s] = Samples(7, 2.0);
  point.samples[Metric::cpu_s] = Samples(7, 0.5);
  Run run;
  add(run, probe_name::roofline_memory, {point});
  const auto result = analyse_roofline(run, {});
  CHECK_THAT(result->memory.at(0).rate.value.value(), WithinRel(8.0, 1e-12));  // 4 B / 0.5 s
  CHECK(result->warnings.size() == 1);
}

TEST_CASE("a GEMM beyond the caches is held against memory bandwidth", "[roofline]") {
  Run run = small_machine();
  // 1000 B of operands, I = 2 FLOP/B, roof = min(100, 5 x 2) = 10; 2000 FLOP in 212.5 s: 94 %.
  add(run, probe_name::roofline_gemm, {gemm_point(2000, 1000, 212.5)});
  const PlacedGemm gemm = analyse_roofline(run, {})->gemms.at(0);
  CHECK_THAT(gemm.intensity.value(), WithinRel(2.0, 1e-12));
  CHECK_THAT(gemm.roof.value(), WithinRel(10.0, 1e-12));
  CHECK_THAT(gemm.fraction, WithinRel(2000.0 / 212.5 / 10.0, 1e-12));
  CHECK(gemm.bound == Bound::memory);
}

TEST_CASE("a GEMM whose operands fit a cache is held against that cache", "[roofline]") {
  Run run = small_machine();
  // 8 B of operands, I = 2: roof = min(100, 40 x 2) = 80; 16 FLOP in 0.4 s = 40 FLOP/s: half of it.
  add(run, probe_name::roofline_gemm, {gemm_point(16, 8, 0.4)});
  const auto result = analyse_roofline(run, {});
  CHECK_THAT(result->gemms.at(0).roof.value(), WithinRel(80.0, 1e-12));
  CHECK(result->gemms.at(0).bound == Bound::memory);  // 80 < 100
  CHECK(result->warnings.empty());
}

TEST_CASE("operands larger than every measured working set meet the largest one", "[roofline]") {
  Run run = small_machine();
  // I = 100, ridge = 100 / 5 = 20: compute side; 1e6 FLOP in 1e4 s = 100 FLOP/s.
  add(run, probe_name::roofline_gemm, {gemm_point(1e6, 1e4, 1e4)});
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
  add(run, probe_name::roofline_gemm, {gemm_point(100, 100, 100.0 / 17.0)});
  const auto result = analyse_roofline(run, {});
  CHECK_THAT(result->gemms.at(0).roof.value(), WithinRel(std::sqrt(200.0), 1e-9));
  CHECK(result->warnings.empty());
}

TEST_CASE("a GEMM above its roof is suspect", "[roofline]") {
  Run run = small_machine();
  add(run, probe_name::roofline_gemm, {gemm_point(1e6, 1e4, 0.9e4)});
  CHECK(analyse_roofline(run, {})->warnings.size() == 1);
}

TEST_CASE("a GEMM without a ceiling is left out and named", "[roofline]") {
  Run run;
  add(run, probe_name::roofline_gemm, {gemm_point(1600, 800, 170)});
  const auto result = analyse_roofline(run, {});
  CHECK(result->gemms.empty());
  CHECK(result->warnings.size() == 1);
}

TEST_CASE("points without usable times are left out, a missing amount is refused", "[roofline]") {
  Run run;
  Point empty = memory_point(10, 1, 1);
  empty.samples[Metric::wall_s] = {std::numeric_limits<double>::quiet_NaN(), 0.0};
  add(run, probe_name::roofline_memory, {empty});
  CHECK(analyse_roofline(run, {})->memory.empty());
  Run broken;
  Point without = memory_point(10, 1, 1);
  without.amounts.erase(Metric::bytes);
  add(broken, probe_name::roofline_memory, {without});
  CHECK_THROWS_AS(analyse_roofline(broken, {}), UserError);
}

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

TEST_CASE("levels are named after the smallest cache that holds them", "[levels]") {
  const std::vector<CacheCapacity> caches{{{MemoryLevelName::l1}, Bytes(48e3), {}},
                                          {{MemoryLevelName::l2}, Bytes(1e6), {}}};
  // Up to 48 kB in L1, to 1 MB in L2, from 4 MB on in memory.
  const auto levels = find_levels(curve_of({8, 16, 32, 128, 256, 512, 4000, 8000, 16000},
                                           {300, 300, 300, 100, 100, 100, 20, 20, 20}),
                                  caches,
                                  1);
  REQUIRE(levels.size() == 3);
  CHECK(word_of(levels[0].name) == "L1");
  CHECK(word_of(levels[1].name) == "L2");
  CHECK(word_of(levels[2].name) == "memory");
  CHECK_THAT(levels[2].smallest.value(), WithinRel(4e6, 1e-12));
  CHECK_THAT(levels[2].value.value, WithinRel(20.0, 1e-12));
  CHECK(levels[2].value.samples == 6);
}

TEST_CASE("a single point from four times the last cache on is the memory level", "[levels]") {
  const std::vector<CacheCapacity> caches{{{MemoryLevelName::l2}, Bytes(1e6), {}}};
  const auto levels =
      find_levels(curve_of({64, 128, 256, 512, 4000}, {90, 90, 90, 90, 15}), caches, 1);
  REQUIRE(levels.size() == 2);
  CHECK(word_of(levels[1].name) == "memory");
  CHECK_THAT(levels[1].value.value, WithinRel(15.0, 1e-12));
  // Less than four times 1 MB: caches that do not replace the least recently used keep part of it.
  CHECK(find_levels(curve_of({64, 128, 256, 512, 3900}, {90, 90, 90, 90, 15}), caches, 1).size() ==
        1);
}

TEST_CASE("a cache that workers share holds only their part of it", "[levels]") {
  const std::vector<CacheCapacity> caches{{{MemoryLevelName::l3}, Bytes(8e6), 1}};
  const auto curve = curve_of({3000, 3500, 4000, 5000}, {50, 50, 50, 50});
  CHECK(word_of(find_levels(curve, caches, 1)[0].name) == "L3");  // 8 MB for one worker
  const auto two = find_levels(curve, caches, 2);                 // 4 MB each
  REQUIRE(two.size() == 1);
  CHECK_THAT(two[0].largest.value(), WithinRel(4e6, 1e-12));
  CHECK(find_levels(curve, caches, 4).empty());  // beyond 2 MB each, below four times that
  CHECK(word_of(find_levels(curve, caches, 8)[0].name) == "memory");  // 1 MB each, from 4 MB on
}

TEST_CASE("all instances of the last cache that the workers use count for memory", "[levels]") {
  // Eight workers, two to each of four caches of 32 MB: 128 MB together, so memory begins at 64 MB
  // each, not at the 16 MB each that are four times one cache.
  const std::vector<CacheCapacity> caches{{{MemoryLevelName::l3}, Bytes(32e6), 4}};
  const auto curve = curve_of({4000, 8000, 16000, 32000, 64000, 128000}, {90, 90, 90, 45, 30, 30});
  const auto levels = find_levels(curve, caches, 8);
  REQUIRE(levels.size() == 2);
  CHECK(word_of(levels[0].name) == "L3");
  CHECK(word_of(levels[1].name) == "memory");
  CHECK_THAT(levels[1].smallest.value(), WithinRel(64e6, 1e-12));
}

TEST_CASE("memory begins beyond the level that keeps most, which need not be the last",
          "[levels]") {
  // 64 second-level caches of 2 MB keep more than 100 MB of L3: from 8 MB each on, not from 6.25.
  const std::vector<CacheCapacity> caches{{{MemoryLevelName::l2}, Bytes(2e6), 64},
                                          {{MemoryLevelName::l3}, Bytes(100e6), 1}};
  const auto levels =
      find_levels(curve_of({500, 1000, 2000, 7000, 9000}, {9, 9, 9, 4, 3}), caches, 64);
  REQUIRE(levels.size() == 2);
  CHECK_THAT(levels[1].smallest.value(), WithinRel(9e6, 1e-12));
}

TEST_CASE("known caches separate levels that the rates alone do not", "[levels]") {
  // 8 % between L2 and L3, less than the 15 % that make a step; a smeared edge of L3.
  const std::vector<CacheCapacity> caches{{{MemoryLevelName::l2}, Bytes(1e6), {}},
                                          {{MemoryLevelName::l3}, Bytes(32e6), 1}};
  const auto curve = curve_of({64, 128, 256, 512, 1500, 4000, 8000, 16000, 30000, 60000, 128000},
                              {100, 100, 100, 100, 92, 92, 92, 91, 80, 55, 30});
  CHECK(find_levels(curve, {}, 1)[0].largest.value() > 1e6);
  const auto levels = find_levels(curve, caches, 1);
  REQUIRE(levels.size() == 3);
  CHECK_THAT(levels[0].largest.value(), WithinRel(512e3, 1e-12));
  CHECK_THAT(levels[1].value.value, WithinRel(92.0, 0.02));
  CHECK(word_of(levels[1].name) == "L3");
  CHECK_THAT(levels[2].value.value, WithinRel(30.0, 1e-12));
}

namespace {
/// Streams of two workers on a machine with 32 MiB of L3 for both: 90 GB/s while a set is in it,
/// `memory` GB/s beyond, in proportion to what is left of the set in between (times add).
Point stream_point(const char* kernel, bool nontemporal, double mebibytes, double memory) {
  const double in_cache = nontemporal ? 0.0 : std::min(1.0, std::pow(12.0 / mebibytes, 1.5));
  const double seconds = in_cache / 90e9 + (1.0 - in_cache) / memory / 1e9;
  Point point;
  point.setting = {
      {Parameter::kernel, std::string(kernel)},
      {Parameter::nontemporal, nontemporal},
      {Parameter::workers, std::int64_t{2}},
      {Parameter::working_set_bytes, static_cast<std::int64_t>(mebibytes * (1 << 20))}};
  point.amounts = {{Metric::bytes, 1.0}, {Metric::bytes_real, 1.0}};
  point.samples[Metric::wall_s] = Samples(9, seconds);
  point.samples[Metric::cpu_s] = Samples(9, 2.0 * seconds);
  for (std::size_t i = 0; i < 9; ++i) {
    const double noise = 1.0 + 0.01 * (static_cast<double>(i) - 4.0) / 4.0;
    point.samples[Metric::wall_s][i] *= noise;
    point.samples[Metric::cpu_s][i] *= noise;
  }
  return point;
}

/// The sizes of the quick suite up to `largest` MiB per worker, by factors of sqrt(8).
Run streaming_run(double largest) {
  std::vector<Point> points;
  for (double mebibytes = largest; mebibytes > 0.004; mebibytes /= std::sqrt(8.0)) {
    points.push_back(stream_point("read", false, mebibytes, 55.0));
    points.push_back(stream_point("copy", false, mebibytes, 34.0));
    points.push_back(stream_point("triad", false, mebibytes, 36.6));
    if (mebibytes < 4.0) continue;
    points.push_back(stream_point("copy", true, mebibytes, 50.1));
    points.push_back(stream_point("triad", true, mebibytes, 48.0));
  }
  Run run;
  add(run, probe_name::roofline_memory, points);
  return run;
}

const std::vector<CacheCapacity> two_core_caches{{{MemoryLevelName::l1}, Bytes(32.0 * 1024), 2},
                                                 {{MemoryLevelName::l2}, Bytes(512.0 * 1024), 2},
                                                 {{MemoryLevelName::l3}, Bytes(32 << 20), 1}};
}  // namespace

TEST_CASE("memory bandwidth is that of the best STREAM kernel at four times the caches",
          "[levels]") {
  const auto result = analyse_roofline(streaming_run(64.0), two_core_caches);
  const MemoryLevel* memory = memory_rate(result->memory_levels, 2);
  REQUIRE(memory != nullptr);
  CHECK(word_of(memory->stream) == "non-temporal copy");
  CHECK_THAT(memory->value.value.value(), WithinRel(50.1e9, 0.01));
  CHECK(memory_rate(result->memory_levels, 1) == nullptr);
  for (const MemoryLevel& level : result->memory_levels) {
    if (word_of(level.stream) != "triad" || word_of(level.name) != "memory") continue;
    // The 64 MiB hold 8 % of L3's rate; the set of 22.6 MiB each is a third L3.
    CHECK_THAT(level.value.value.value(), WithinRel(36.6e9, 0.06));
    CHECK_THAT(level.smallest.value(), WithinRel(64.0 * (1 << 20), 1e-9));
  }
  CHECK(result->warnings.empty());
}

TEST_CASE("sets that end below four times the caches give no memory bandwidth, and say so",
          "[levels]") {
  const auto result = analyse_roofline(streaming_run(40.0), two_core_caches);
  CHECK(memory_rate(result->memory_levels, 2) == nullptr);
  REQUIRE(result->warnings.size() == 1);
  CHECK(result->warnings.front() ==
        Finding(FindingId::memory_not_reached, 2, 80.0, 4.0, 32.0, "L3"));
}

TEST_CASE("without known caches, and for a second plateau inside one cache, levels are numbered",
          "[levels]") {
  const auto curve = curve_of({8, 16, 32, 128, 256}, {300, 300, 300, 100, 100});
  const auto unnamed = find_levels(curve, {}, 1);
  REQUIRE(unnamed.size() == 2);
  CHECK(word_of(unnamed[0].name) == "level 1");
  CHECK(word_of(unnamed[1].name) == "level 2");
  const std::vector<CacheCapacity> caches{{{MemoryLevelName::l2}, Bytes(1e6), {}}};
  const auto shared = find_levels(curve, caches, 1);
  CHECK(word_of(shared[0].name) == "L2");  // the wider of the two
  CHECK(word_of(shared[1].name) == "level 2");
}
