// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"
#include "probes/roofline.h"
#include "src/core/error.h"
#include "src/core/run.h"
#include "tests/catch.h"
#include "tests/sim/sim_machine.h"
#include "tests/sim/sim_run.h"

#include <algorithm>
#include <set>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {

void measure_gemm(Machine& machine, const PlanInputs& setting, Recorder& recorder) {
  std::ranges::find(node_probes(), probe_name::roofline_gemm, &NodeProbe::name)
      ->measure(machine, setting, recorder);
}

PlanInputs quick(double memory_bytes) {
  return {.suite = Suite::quick,
          .workers = 2,
          .available_memory = Bytes(memory_bytes),
          .last_cache = Bytes(32e6)};
}

}  // namespace

TEST_CASE("every GEMM family is planned in both precisions on one and all workers", "[gemm]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    PlanInputs setting = quick(64e9);
    setting.suite = suite;
    std::set<std::tuple<ProductFamily, NumberFormat, int>> seen;
    for (const GemmShape& shape : gemm_plan(setting)) {
      seen.insert({shape.family, shape.work.precision, shape.work.workers});
      if (shape.family == ProductFamily::batched) CHECK(shape.work.batch % shape.work.workers == 0);
    }
    CHECK(seen.size() == 4 * 2 * 2);
  }
}

TEST_CASE("shapes that do not fit a quarter of the memory are left out and counted", "[gemm]") {
  // 3 x 1024 x 1024 x 8 B = 24 MiB does not fit 64 MiB / 4; 3 x 512 x 512 x 8 B = 6 MiB does.
  const PlanInputs tight = quick(64.0 * 1024 * 1024);
  CHECK(gemm_shapes_left_out(quick(64e9)) == 0);
  CHECK(gemm_shapes_left_out(tight) > 0);
  for (const GemmShape& shape : gemm_plan(tight)) {
    const bool large_square = shape.family == ProductFamily::square && shape.work.m == 1024;
    CHECK_FALSE((large_square && shape.work.precision == NumberFormat::fp64));
  }
}

TEST_CASE("the GEMM probe records one point per planned shape, and warns of those left out",
          "[gemm]") {
  sim::SimMachine machine({});
  Run run;
  sim::RunRecorder recorder(run, probe_name::roofline_gemm);
  const PlanInputs tight = quick(64.0 * 1024 * 1024);
  measure_gemm(machine, tight, recorder);
  REQUIRE(run.probes.size() == 1);
  CHECK(run.probes[0].points.size() == gemm_plan(tight).size());
  CHECK(run.probes[0].warnings.size() == 1);
  const Point& point = run.probes[0].points.front();
  const double products = static_cast<double>(
      integer_parameter(point, Parameter::m) * integer_parameter(point, Parameter::n) *
      integer_parameter(point, Parameter::k) * integer_parameter(point, Parameter::batch));
  CHECK(amount(point, Metric::flops) == 2.0 * products);
  CHECK(text_parameter(point, Parameter::library) == "sim blas");
  CHECK(series(point, Metric::wall_s).size() == series(point, Metric::cpu_s).size());
}

TEST_CASE("the user's shapes are the free family", "[gemm]") {
  sim::SimMachine machine({});
  Run run;
  sim::RunRecorder recorder(run, probe_name::roofline_gemm);
  const GemmShape asked{
      ProductFamily::free, {.precision = NumberFormat::fp32, .m = 7, .n = 8, .k = 9}, "mine"};
  measure_gemm_shapes(machine, {asked}, Suite::quick, recorder);
  REQUIRE(run.probes.size() == 1);
  REQUIRE(run.probes[0].points.size() == 1);
  CHECK(text_parameter(run.probes[0].points[0], Parameter::family) == "free");
  CHECK(text_parameter(run.probes[0].points[0], Parameter::name) == "mine");
  CHECK(integer_parameter(run.probes[0].points[0], Parameter::k) == 9);
}

TEST_CASE("a machine without a GEMM library has nothing to measure, and says why", "[gemm]") {
  const auto machine = host::open_host_machine("/nonexistent/libopenblas.so.0");
  Run run;
  sim::RunRecorder recorder(run, probe_name::roofline_gemm);
  CHECK_THROWS_AS(measure_gemm(*machine, quick(64e9), recorder), NothingToMeasure);
  CHECK(run.probes.empty());
}

TEST_CASE("a GEMM's estimate is its budget unless single products are longer", "[gemm]") {
  const Pace pace{Seconds(0.1), 20};
  const double small = gemm_time({.m = 64, .n = 64, .k = 64}, pace).value();
  // 85 % of the budget and one and a half samples of 3.5 ms: 0.090 s.
  CHECK(small > 0.09);
  CHECK(small < 0.1);
  // 2 x 8192^3 / 120e9 = 9.2 s a product: the rule gives up its fewest samples after
  // 4 x 0.1 s, that is after one product, and one calibrates: beyond 18.3 s, far from 64 s.
  const double large = gemm_time({.m = 8192, .n = 8192, .k = 8192}, pace).value();
  CHECK(large > 18.3);
  CHECK(large < 25.0);
}
