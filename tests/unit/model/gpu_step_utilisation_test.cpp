// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/model/analysis.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

Run run_of(const std::string& precision) {
  Run run;
  ProbeRecord probe;
  probe.name = probe_name::step_training;
  probe.status = ProbeStatus::measured;
  Point point;
  point.setting = {{Parameter::scaling, std::string("strong")},
                   {Parameter::ranks, std::int64_t{2}},
                   {Parameter::global_batch_sequences, std::int64_t{8}},
                   {Parameter::precision, precision}};
  point.amounts = {{Metric::tokens, 8192.0}, {Metric::model_flops, 40e12}};
  point.samples[Metric::step_s] = {0.05, 0.05};
  probe.points.push_back(point);
  run.probes.push_back(probe);
  return run;
}

GpuResult gpu(int ordinal, double rate) {
  GpuResult result;
  result.identity.ordinal = ordinal;
  GpuFormat format;
  format.format.precision = NumberFormat::bf16;
  GpuGemm steady;
  steady.format.precision = NumberFormat::bf16;
  steady.rate.value = FlopPerSecond(rate);
  format.steady = steady;
  result.formats.push_back(format);
  return result;
}

}  // namespace

TEST_CASE("a GPU step's MFU stands under the slowest GPU's products", "[gpu]") {
  const auto scaling =
      analyse_scaling(run_of("bf16"), {}, {}, {gpu(0, 800e12), gpu(1, 500e12)}, {});
  // 40 TFLOP in 50 ms are 800 TFLOP/s; two GPUs of 500
  REQUIRE_THAT(*scaling[0].rows[0].trained.mfu_measured, WithinRel(0.8, 1e-9));
  REQUIRE(scaling[0].rows[0].trained.mfu_basis == Finding(FindingId::steady_products, "bf16", 1));
}

TEST_CASE("steps in fp32 are not compared with GPUs", "[gpu]") {
  const auto scaling = analyse_scaling(run_of("fp32"), {}, {}, {gpu(0, 800e12)}, {});
  REQUIRE_FALSE(scaling[0].rows[0].trained.mfu_measured);
}

TEST_CASE("without measured products a GPU step has no measured MFU", "[gpu]") {
  const auto scaling = analyse_scaling(run_of("bf16"), {}, {}, {GpuResult{}}, {});
  REQUIRE_FALSE(scaling[0].rows[0].trained.mfu_measured);
}
