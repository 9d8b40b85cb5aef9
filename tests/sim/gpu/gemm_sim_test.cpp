// SPDX-License-Identifier: Apache-2.0
/// The GEMM probes against simulated GPUs whose best algorithm and clocks are known.
#include "probes/gpu/gemm.h"
#include "src/core/error.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "tests/catch.h"
#include "tests/sim/gpu/gemm_device.h"
#include "tests/sim/sim_run.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::sim;

namespace {

DeviceDescription hopper(int ordinal = 0) {
  DeviceDescription device;
  device.ordinal = ordinal;
  device.name = "sim H200";
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.maximum_clock_hz = 1980e6;
  device.l2_cache = Bytes(50.0 * 1024 * 1024);
  device.memory = Bytes(141e9);
  return device;
}

GemmSubject cube_of(std::int64_t side) {
  GemmSubject subject{hopper(), "sim library 1.0", ProductFamily::cube, {}, {}};
  subject.problem.m = subject.problem.n = subject.problem.k = side;
  return subject;
}

Devices devices_of(int count, const GemmTruth& truth) {
  Devices devices;
  for (int i = 0; i < count; ++i) {
    devices.push_back(std::make_unique<GemmDevice>(hopper(i), truth));
  }
  return devices;
}

DeviceSetting setting_of(const Devices& devices, Suite suite = Suite::quick) {
  DeviceSetting setting;
  setting.suite = suite;
  for (const auto& device : devices) setting.devices.push_back(device->description());
  return setting;
}

const GpuUse& use_of(const Devices& devices) {
  return dynamic_cast<GemmDevice&>(*devices.front()).use();
}

std::vector<Point> passes(const ProbeRecord& record, const std::string& pass) {
  std::vector<Point> found;
  std::copy_if(record.points.begin(),
               record.points.end(),
               std::back_inserter(found),
               [&](const Point& point) { return text_parameter(point, Parameter::pass) == pass; });
  return found;
}

double median_time(const Point& point) {
  return *median(series(point, Metric::wall_s));
}

/// Which finding is nested, the last argument of the one warning with such an id and argument.
std::vector<FindingId> reasons_of(const std::vector<Finding>& warnings,
                                  FindingId id,
                                  std::size_t place,
                                  const Argument& argument) {
  std::vector<FindingId> reasons;
  for (const Finding& one : warnings)
    if (one.id == id && one.arguments.at(place) == argument)
      reasons.push_back(std::get<std::vector<Finding>>(one.arguments.back().value).front().id);
  return reasons;
}

}  // namespace

TEST_CASE("the algorithm search finds the best correct algorithm and the headroom over the default",
          "[gpu gemm]") {
  GemmTruth truth;
  truth.clock.settled_hz = truth.clock.burst_hz;
  const GemmSubject subject = cube_of(8192);
  SimGemmSession session(subject.device, subject.problem, truth, std::make_shared<GpuUse>());
  Run run;
  RunRecorder recorder(run, probe_name::gpu_gemm);
  const AlgorithmChoice chosen = search_algorithm(session, subject, SearchEffort{}, recorder);
  CHECK(chosen.best.heuristic_rank == truth.best_algorithm);
  const double best = true_gemm_time(subject.device, subject.problem, truth, 5, 1980e6);
  CHECK_THAT(chosen.best_s, WithinRel(best, 0.002));
  const ProbeRecord& record = *find_probe(run, probe_name::gpu_gemm);
  // 40 proposals, one of which breaks; four finalists and the library's own choice.
  CHECK(passes(record, "coarse").size() == 39);
  CHECK(passes(record, "fine").size() == 5);
  CHECK(series(passes(record, "fine").front(), Metric::wall_s).size() == 7);
}

TEST_CASE("wrong, too fast and broken algorithms are dropped, and said", "[gpu gemm]") {
  const GemmSubject subject = cube_of(8192);
  SimGemmSession session(subject.device, subject.problem, {}, std::make_shared<GpuUse>());
  Run run;
  RunRecorder recorder(run, probe_name::gpu_gemm);
  search_algorithm(session, subject, SearchEffort{}, recorder);
  const std::vector<Finding>& warnings = find_probe(run, probe_name::gpu_gemm)->warnings;
  const auto why_dropped = [&](int heuristic) {
    return reasons_of(warnings, FindingId::heuristic_dropped, 1, heuristic);
  };
  CHECK(why_dropped(3) == std::vector{FindingId::stated});  // "row 17, column 5 ..."
  CHECK(why_dropped(7) == std::vector{FindingId::rate_impossible});
  CHECK(why_dropped(9) == std::vector{FindingId::stated});  // "cublasLtMatmul ..."
}

TEST_CASE("a library without an algorithm is nothing to measure", "[gpu gemm]") {
  GemmTruth truth;
  truth.algorithms = 0;
  const GemmSubject subject = cube_of(4096);
  SimGemmSession session(subject.device, subject.problem, truth, std::make_shared<GpuUse>());
  Run run;
  RunRecorder recorder(run, probe_name::gpu_gemm);
  CHECK_THROWS_AS(search_algorithm(session, subject, SearchEffort{}, recorder), NothingToMeasure);
}

TEST_CASE("the sustained rate is that of the fallen clock, however hot or cold the start",
          "[gpu gemm]") {
  const GemmTruth truth;
  for (const double heat_s : {0.0, 0.3, 60.0}) {
    GemmDevice device(hopper(), truth);
    Run run;
    RunRecorder recorder(run, probe_name::gpu_gemm);
    ChosenGemm gemm(device, cube_of(8192), {.wanted = 8, .recorded = false}, recorder);
    device.use().heat_s = heat_s;
    const Point point = gemm.steady(Pass::steady, SustainedRule{});
    CAPTURE(heat_s);
    CHECK_THAT(median_time(point),
               WithinRel(true_gemm_time(hopper(), cube_of(8192).problem, truth, 5, 1500e6), 0.003));
    CHECK(point.warnings.empty());
    CHECK(point.stop_reason.back().id == FindingId::rate_sustained);
    CHECK(point.stop_reason.back().arguments.at(0) == (heat_s > 1.0 ? 2.0 : 4.0));
  }
}

TEST_CASE("a clock that never settles is kept with a warning", "[gpu gemm]") {
  GemmTruth truth;
  truth.clock.time_constant_s = 20.0;
  GemmDevice device(hopper(), truth);
  Run run;
  RunRecorder recorder(run, probe_name::gpu_gemm);
  ChosenGemm gemm(device, cube_of(8192), {.wanted = 8, .recorded = false}, recorder);
  const Point point = gemm.steady(Pass::steady, {.maximum = Seconds(6.0), .drop = 0.01});
  REQUIRE(point.warnings.size() == 1);
  CHECK(point.warnings.front().id == FindingId::rate_not_sustained);
  CHECK(point.warnings.front().arguments.at(0) == 6.0);
}

TEST_CASE("the probe recovers burst and sustained rates by data and the best shape", "[gpu gemm]") {
  const GemmTruth truth;
  Devices devices = devices_of(1, truth);
  Run run;
  RunRecorder recorder(run, probe_name::gpu_gemm);
  measure_gpu_gemm(devices, setting_of(devices, Suite::standard), recorder);
  const ProbeRecord& record = *find_probe(run, probe_name::gpu_gemm);
  GemmProblem cube;
  cube.m = cube.n = cube.k = 8192;
  const auto truth_at = [&](const GemmProblem& problem, double clock) {
    return true_gemm_time(hopper(), problem, truth, truth.best_algorithm, clock);
  };
  const auto reference = [&](const std::string& pass, const std::string& data) {
    for (const Point& point : passes(record, pass)) {
      if (text_parameter(point, Parameter::precision) == "bf16" &&
          integer_parameter(point, Parameter::k) == 8192 &&
          text_parameter(point, Parameter::data) == data &&
          text_parameter(point, Parameter::family) == "cube") {
        return median_time(point);
      }
    }
    return 0.0;
  };
  CHECK_THAT(reference("steady", "uniform"), WithinRel(truth_at(cube, 1500e6), 0.003));
  CHECK_THAT(reference("steady", "normal"), WithinRel(truth_at(cube, 1425e6), 0.003));
  CHECK_THAT(reference("steady", "zero"), WithinRel(truth_at(cube, 1980e6), 0.003));
  // Samples between 1980 and 1960 MHz, whatever the clock falls to afterwards.
  for (const char* data : {"uniform", "normal", "zero"}) {
    CHECK_THAT(reference("burst", data), WithinRel(truth_at(cube, 1970e6), 0.006));
  }

  // The truth: the best k at whole waves is sqrt(400 x 30000) = 3464, so 4096 on this grid.
  GemmProblem best = cube;
  best.m = 1536;
  best.n = 2816;
  best.k = 4096;
  for (const auto& [pass, clock] : {std::pair("steady", 1500e6), std::pair("burst", 1970e6)}) {
    double found = 1e9;
    for (const Point& point : passes(record, pass)) {
      if (text_parameter(point, Parameter::family) != "search") continue;
      if (text_parameter(point, Parameter::precision) != "bf16") continue;
      found = median_time(point) / amount(point, Metric::flops);
    }
    CHECK_THAT(found, WithinRel(truth_at(best, clock) / (2.0 * 1536.0 * 2816.0 * 4096.0), 0.01));
  }
}

TEST_CASE("estimated times of the GEMM probes hold on a simulated GPU", "[gpu gemm]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    Devices devices = devices_of(1, {});
    Run run;
    RunRecorder recorder(run, probe_name::gpu_gemm);
    measure_gpu_gemm(devices, setting_of(devices, suite), recorder);
    CAPTURE(suite_name(suite));
    CHECK_THAT(estimate_gpu_gemm(setting_of(devices, suite)).value(),
               WithinRel(use_of(devices).elapsed_s, 0.3));
  }
}

TEST_CASE("a format that the library lacks is a warning, not a failure", "[gpu gemm]") {
  GemmTruth truth;
  truth.unsupported = {NumberFormat::tf32};
  Devices devices = devices_of(1, truth);
  Run run;
  RunRecorder recorder(run, probe_name::gpu_gemm);
  measure_gpu_gemm(devices, setting_of(devices), recorder);
  const ProbeRecord& record = *find_probe(run, probe_name::gpu_gemm);
  CHECK(std::ranges::count(record.warnings, FindingId::product_not_available, &Finding::id) > 0);
  CHECK_FALSE(passes(record, "steady").empty());
}

TEST_CASE("a library that has no format at all fails the probe with its reason", "[gpu gemm]") {
  GemmTruth truth;
  truth.algorithms = 0;
  Devices devices = devices_of(1, truth);
  Run run;
  RunRecorder recorder(run, probe_name::gpu_gemm);
  CHECK_THROWS_AS(measure_gpu_gemm(devices, setting_of(devices), recorder), ProbeFailure);
}

TEST_CASE("the user's own products replace the search and keep their names", "[gpu gemm]") {
  Devices devices = devices_of(1, {});
  DeviceSetting setting = setting_of(devices);
  GemmProblem problem;
  problem.m = 4096;
  problem.n = 28672;
  problem.k = 8192;
  setting.own_problems.push_back({"up projection", problem});
  problem.input = NumberFormat::fp8_e4m3;
  problem.n = 1001;
  setting.own_problems.push_back({"odd", problem});
  Run run;
  RunRecorder recorder(run, probe_name::gpu_gemm);
  measure_gpu_gemm(devices, setting, recorder);
  const ProbeRecord& record = *find_probe(run, probe_name::gpu_gemm);
  const std::vector<Point> steady = passes(record, "steady");
  REQUIRE(steady.size() == 1);
  CHECK(text_parameter(steady.front(), Parameter::name) == "up projection");
  CHECK(text_parameter(steady.front(), Parameter::family) == "own");
  const std::vector<Point> burst = passes(record, "burst");
  REQUIRE(burst.size() == 1);
  CHECK(text_parameter(burst.front(), Parameter::name) == "up projection");
  const Finding padded(FindingId::sides_not_multiples, "fp8_e4m3", 16, 16, 4096, 1008, 8192);
  const auto odd =
      std::ranges::find(record.warnings, FindingId::product_not_available, &Finding::id);
  REQUIRE(odd != record.warnings.end());
  CHECK(odd->arguments.back() == padded);
}

TEST_CASE("all GPUs run alone and together, one point each", "[gpu gemm]") {
  Devices devices = devices_of(3, {});
  Run run;
  RunRecorder recorder(run, probe_name::gpu_together);
  measure_gpu_together(devices, setting_of(devices), recorder);
  const ProbeRecord& record = *find_probe(run, probe_name::gpu_together);
  CHECK(passes(record, "alone").size() == 3);
  const std::vector<Point> together = passes(record, "together");
  REQUIRE(together.size() == 3);
  CHECK(integer_parameter(together[2], Parameter::gpu) == 2);
}

TEST_CASE("one GPU has no other to run together with", "[gpu gemm]") {
  Devices devices = devices_of(1, {});
  Run run;
  RunRecorder recorder(run, probe_name::gpu_together);
  CHECK_THROWS_AS(measure_gpu_together(devices, setting_of(devices), recorder), NothingToMeasure);
}
