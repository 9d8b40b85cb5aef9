// SPDX-License-Identifier: Apache-2.0
/// The analysis of what the real probes record on simulated GPUs: it must tell their truth.
#include "src/core/run.h"
#include "src/model/analysis.h"
#include "tests/catch.h"
#include "tests/sim/gpu/sim_facts.h"
#include "tests/sim/gpu/sim_node.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::sim;

namespace {

/// Two H100, the second at 80 % of its clock.
model::Analysis analysis_of_a_node() {
  auto truths = h100_truths(2);
  truths[1].fault.slow_factor = 0.8;
  SimNode node(truths);
  for (const char* probe : {probe_name::gpu_compute,
                            probe_name::gpu_memory,
                            probe_name::gpu_latency,
                            probe_name::gpu_transfer,
                            probe_name::gpu_launch,
                            probe_name::gpu_gemm,
                            probe_name::gpu_together}) {
    node.measure(probe, probes::Suite::quick);
  }
  Run run = node.run();
  MachineFacts environment = facts_of(truths);
  run.environment = std::move(environment.sections);
  run.gpu_links = std::move(environment.gpu_links);
  return model::analyse(run, {});
}

const model::MemoryLevel& level(const model::GpuResult& gpu, std::string_view label) {
  return *std::find_if(gpu.roofline.memory_levels.begin(),
                       gpu.roofline.memory_levels.end(),
                       [&](const model::MemoryLevel& found) {
                         return word_of(found.name) == label &&
                                found.stream.kernel == MemoryKernel::read;
                       });
}

}  // namespace

TEST_CASE("the analysis of simulated GPUs tells their truth", "[gpu]") {
  const GpuTruth truth = h100_truth();
  const model::Analysis analysis = analysis_of_a_node();
  REQUIRE(analysis.gpus.size() == 2);
  const model::GpuResult& gpu = analysis.gpus.front();

  REQUIRE(gpu.identity.datasheet.has_value());
  CHECK(gpu.identity.datasheet->id == "h100-sxm-80gb");
  // Noise has a standard deviation of 0.3 %, and 0.5 % of the samples are outliers.
  CHECK_THAT(level(gpu, "memory").value.value.value(), WithinRel(truth.memory_bytes_per_s, 0.01));
  CHECK_THAT(level(gpu, "L2").value.value.value(),
             WithinRel(truth.l2_bytes_per_clock * truth.clock_hz, 0.01));
  const auto& memory_latency = gpu.roofline.latency_levels.back();
  CHECK(memory_latency.name.known == MemoryLevelName::memory);
  CHECK_THAT(memory_latency.value.value.value(), WithinRel(truth.memory_latency_s, 0.02));
  CHECK_THAT(memory_latency.cycles->value,
             WithinRel(truth.memory_latency_s * truth.clock_hz, 0.02));

  const auto bf16 =
      std::find_if(gpu.formats.begin(), gpu.formats.end(), [](const model::GpuFormat& format) {
        return format.format.precision == NumberFormat::bf16;
      });
  REQUIRE(bf16 != gpu.formats.end());
  REQUIRE(bf16->waterfall.has_value());
  CHECK(bf16->best_shape->rate.value > bf16->steady->rate.value);
  double reached = bf16->waterfall->spec.value();
  for (const model::WaterfallStep& step : bf16->waterfall->steps) reached += step.change->value();
  CHECK_THAT(reached, WithinRel(bf16->steady->rate.value.value(), 1e-9));
}

TEST_CASE("the slow one of two simulated GPUs is found, with its clock as the cause", "[gpu]") {
  const model::Analysis analysis = analysis_of_a_node();
  REQUIRE(analysis.gpus_together.has_value());
  const auto& paces = analysis.gpus_together->paces;
  REQUIRE(paces.size() == 2);
  CHECK_FALSE(paces[0].slow);
  CHECK(paces[1].slow);
  CHECK_THAT(paces[1].of_others->value, WithinRel(0.8, 0.01));
  CHECK(paces[1].cause.at(0).id == FindingId::slower_clock);
  CHECK(std::ranges::any_of(paces[1].cause, [](const Finding& one) {
    return one.id == FindingId::reason_more_often && one.arguments.at(0) == "power cap";
  }));
}
