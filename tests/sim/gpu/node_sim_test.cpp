// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/analysis.h"
#include "tests/catch.h"
#include "tests/sim/gpu/rehearsal.h"
#include "tests/sim/gpu/sim_node.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

// What the probes of GPUs make of GPUs that break, are slow, or cannot reach each other.

using namespace scaleworth;
using namespace scaleworth::sim;
using probes::Suite;

namespace {
std::size_t points_of(const ProbeRecord& probe, int gpu) {
  return std::ranges::count_if(probe.points, [&](const Point& point) {
    return integer_parameter(point, Parameter::gpu) == gpu;
  });
}

bool warns(const ProbeRecord& probe, FindingId id) {
  return std::ranges::count(probe.warnings, id, &Finding::id) > 0;
}

const std::vector<Finding> gpu_0{{FindingId::number, 0}};
const Finding other_three(FindingId::the_others, 3);

constexpr std::array roofline_probes{probe_name::gpu_compute,
                                     probe_name::gpu_memory,
                                     probe_name::gpu_latency,
                                     probe_name::gpu_transfer,
                                     probe_name::gpu_launch};
}  // namespace

TEST_CASE("a GPU that is lost does not end the measuring of the others", "[gpu]") {
  auto truths = h100_truths(3);
  truths[0].fault.lost_after = 2;
  SimNode node(truths);
  const ProbeRecord probe = node.measure(probe_name::gpu_compute, Suite::standard);
  REQUIRE(points_of(probe, 0) == 2);
  REQUIRE(points_of(probe, 1) == 0);
  REQUIRE(points_of(probe, 2) == 0);
  REQUIRE(warns(probe, FindingId::setting_not_measured));
  REQUIRE(std::ranges::count(probe.warnings, Finding(FindingId::gpu_left_out_of_rest, 0, 2)) == 1);
  REQUIRE(probe.warnings.size() == 4);  // a short look at two, two failures, left out
  // From then on the next of its kind is the one that is measured in full.
  const ProbeRecord& next = node.measure(probe_name::gpu_launch, Suite::standard);
  REQUIRE(points_of(next, 1) == 3);
  REQUIRE(points_of(next, 2) == 0);
}

TEST_CASE("wrong results are failed points, however many in a row, and the walk goes on", "[gpu]") {
  for (const char* name : roofline_probes) {
    CAPTURE(name);
    SimNode sound(h100_truths(1));
    const std::size_t settings = sound.measure(name, Suite::quick).points.size();
    auto truths = h100_truths(1);
    truths[0].fault.wrong_results = {1, 2};
    SimNode node(truths);
    const ProbeRecord& probe = node.measure(name, Suite::quick);
    CHECK(probe.points.size() == settings);
    CHECK_FALSE(warns(probe, FindingId::gpu_left_out_of_rest));
    std::vector<std::size_t> failed;
    for (std::size_t i = 0; i < probe.points.size(); ++i) {
      if (!series(probe.points[i], Metric::wall_s).empty()) continue;
      failed.push_back(i);
      CHECK(probe.points[i].stop_reason.front().id == FindingId::setting_failed);
      CHECK(probe.points[i].setting == sound.run().probes.front().points[i].setting);
    }
    CHECK(failed == std::vector<std::size_t>{0, 1});
    CHECK_NOTHROW(model::analyse_gpus(node.run(), {}));
  }
}

TEST_CASE("a probe fails when every result is wrong", "[gpu]") {
  auto truths = h100_truths(1);
  for (int question = 1; question < 100; ++question) {
    truths[0].fault.wrong_results.insert(question);
  }
  SimNode node(truths);
  REQUIRE_THROWS_AS(node.measure(probe_name::gpu_compute, Suite::quick), ProbeFailure);
  REQUIRE(find_probe(node.run(), probe_name::gpu_compute)->points.size() == 4);
}

TEST_CASE("a probe fails when every GPU does", "[gpu]") {
  for (const char* probe : roofline_probes) {
    auto truths = h100_truths(2);
    for (GpuTruth& truth : truths) truth.fault.lost_after = 0;
    SimNode node(truths);
    CAPTURE(probe);
    REQUIRE_THROWS_AS(node.measure(probe, Suite::standard), ProbeFailure);
  }
}

TEST_CASE("the read of the whole memory shrinks until it fits, and says so", "[gpu]") {
  auto truths = h100_truths(1);
  truths[0].fault.out_of_memory_above = Bytes(45e9);  // of 86e9
  SimNode node(truths);
  const ProbeRecord& probe = node.measure(probe_name::gpu_memory, Suite::standard);
  REQUIRE(warns(probe, FindingId::tried_with_less));
  std::int64_t largest = 0;
  for (const Point& point : probe.points) {
    largest = std::max(largest, integer_parameter(point, Parameter::working_set_bytes));
  }
  REQUIRE(largest > 30'000'000'000);
  REQUIRE(largest <= 45'000'000'000);
}

TEST_CASE("the GPUs after the first of a kind get a short look, which is said", "[gpu]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    SimNode node(h100_truths(4));
    const ProbeRecord memory = node.measure(probe_name::gpu_memory, suite);
    REQUIRE(points_of(memory, 0) > 20);
    // The whole memory is read of each, because slow regions of it show nowhere else.
    REQUIRE(points_of(memory, 3) == (suite == Suite::quick ? 1 : 2));
    REQUIRE(
        std::ranges::count(
            memory.warnings,
            Finding(FindingId::others_measured_shortly, gpu_0, other_three, "one large read")) ==
        1);
    const ProbeRecord& compute = node.measure(probe_name::gpu_compute, suite);
    REQUIRE(points_of(compute, 0) == 4);
    REQUIRE(points_of(compute, 3) == 0);
    REQUIRE(std::ranges::count(compute.warnings,
                               Finding(FindingId::others_not_measured, gpu_0, other_three)) == 1);
  }
}

TEST_CASE("a slow link to the host shows in a short look", "[gpu]") {
  auto truths = h100_truths(4);
  truths[3].link.pinned *= 0.5;
  SimNode node(truths);
  const ProbeRecord& probe = node.measure(probe_name::gpu_transfer, Suite::quick);
  const auto time = [&](const char* target) {
    for (const Point& point : probe.points) {
      const bool found = word_of(point.setting.place(Parameter::source)) == "host (pinned)" &&
                         word_of(point.setting.place(Parameter::target)) == target &&
                         text_parameter(point, Parameter::engine) == "copy engine" &&
                         integer_parameter(point, Parameter::transfer_bytes) == 64 << 20 &&
                         !flag_parameter(point, Parameter::both_directions);
      if (found) return *median(series(point, Metric::wall_s));
    }
    return 0.0;
  };
  REQUIRE_THAT(time("gpu 3") / time("gpu 2"), WithinRel(2.0, 0.02));
}

TEST_CASE("without peer access copies are measured, kernels are not, and one warning says so",
          "[gpu]") {
  auto truths = h100_truths(2);
  for (GpuTruth& truth : truths) truth.link.peer_access = false;
  SimNode node(truths);
  const ProbeRecord& probe = node.measure(probe_name::gpu_transfer, Suite::standard);
  REQUIRE(probe.warnings.size() == 2);  // and the short look at GPU 1
  const std::vector<Finding> pairs{{FindingId::one_to_other, 0, 1},
                                   {FindingId::one_to_other, 1, 0}};
  REQUIRE(std::ranges::count(probe.warnings, Finding(FindingId::no_peer_access, pairs)) == 1);
  for (const Point& point : probe.points) {
    const bool peers =
        text_parameter(point, Parameter::source) == "gpu" &&
        text_parameter(point, Parameter::target) == "gpu" &&
        point.setting.place(Parameter::source) != point.setting.place(Parameter::target);
    if (peers) REQUIRE(text_parameter(point, Parameter::engine) == "copy engine");
  }
}

TEST_CASE("a GPU that is lost among its products is replaced by an equal one", "[gpu]") {
  SimNode whole(h100_truths(1));
  const std::size_t wanted = points_of(whole.measure(probe_name::gpu_gemm, Suite::quick), 0);
  auto truths = h100_truths(3);
  truths[0].fault.lost_after = 150;  // in the second format
  SimNode node(truths);
  const ProbeRecord& probe = node.measure(probe_name::gpu_gemm, Suite::quick);
  const auto lost = std::ranges::find(probe.warnings, FindingId::equal_gpu_goes_on, &Finding::id);
  REQUIRE(lost != probe.warnings.end());
  REQUIRE(lost->arguments.at(1) == 1);
  REQUIRE(lost->arguments.at(2) == "fp8_e4m3");
  REQUIRE(points_of(probe, 0) > 0);
  REQUIRE(points_of(probe, 0) + points_of(probe, 1) >= wanted);
  REQUIRE(points_of(probe, 2) == 0);
  std::map<std::string, int> steady_on;
  for (const Point& point : probe.points) {
    if (text_parameter(point, Parameter::pass) != "steady") continue;
    if (text_parameter(point, Parameter::family) != "cube") continue;  // the searches follow
    steady_on[text_parameter(point, Parameter::precision)] =
        static_cast<int>(integer_parameter(point, Parameter::gpu));
  }
  REQUIRE(steady_on ==
          std::map<std::string, int>{{"bf16", 0}, {"fp8_e4m3", 1}, {"tf32", 1}, {"fp32", 1}});
}

TEST_CASE("a GPU of another kind does not stand in for a lost one, and is measured", "[gpu]") {
  auto truths = h100_truths(2);
  truths[0].fault.lost_after = 150;
  truths[1].description.name = "another";
  SimNode node(truths);
  REQUIRE_THROWS_AS(node.measure(probe_name::gpu_gemm, Suite::quick), ProbeFailure);
  const ProbeRecord& probe = *find_probe(node.run(), probe_name::gpu_gemm);
  const auto lost = std::ranges::find(probe.warnings, FindingId::no_equal_gpu_left, &Finding::id);
  REQUIRE(lost != probe.warnings.end());
  REQUIRE(lost->arguments.at(1) == "fp8_e4m3");
  REQUIRE(points_of(probe, 0) > 0);
  REQUIRE(points_of(probe, 1) > points_of(probe, 0));
}

TEST_CASE("every probe asks GPUs of little memory for no more than they have", "[gpu]") {
  auto truths = h100_truths(1);
  truths[0].description.memory = Bytes(256.0 * 1024 * 1024);  // a small slice
  SimNode node(truths);
  for (const char* probe : roofline_probes) {
    CAPTURE(probe);
    const ProbeRecord& record = node.measure(probe, Suite::standard);
    REQUIRE_FALSE(warns(record, FindingId::setting_not_measured));
    REQUIRE_FALSE(warns(record, FindingId::tried_with_less));
  }
}

TEST_CASE("the rehearsal has one H100 by default, and as many of a kind as asked for", "[gpu]") {
  REQUIRE(rehearsal_truths({}).size() == 1);
  REQUIRE(rehearsal_truths({}).front().description.multiprocessors == 132);
  const auto truths = rehearsal_truths({"3", "t4", ""});
  REQUIRE(truths.size() == 3);
  REQUIRE(truths[2].description.ordinal == 2);
  REQUIRE(truths[2].description.compute_capability == 75);
}

TEST_CASE("faults of the rehearsal hit the GPU that they name", "[gpu]") {
  const auto truths = rehearsal_truths({"4", "", "slow:3,lost:1,memory:0,no-peers"});
  REQUIRE(truths[3].fault.slow_factor < 1.0);
  REQUIRE(truths[2].fault.slow_factor == 1.0);
  REQUIRE(truths[1].fault.lost_after);
  REQUIRE(truths[0].fault.out_of_memory_above < truths[0].description.memory);
  REQUIRE_FALSE(truths[2].link.peer_access);
}

TEST_CASE("wishes that the rehearsal cannot meet are the user's error", "[gpu]") {
  REQUIRE_THROWS_AS(rehearsal_truths({"0", "", ""}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"two", "", ""}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"1", "abacus", ""}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"2", "", "slow:2"}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"2", "", "slow"}), UserError);
  REQUIRE_THROWS_AS(rehearsal_truths({"2", "", "tired:1"}), UserError);
}

TEST_CASE("every GPU of the catalogue can be rehearsed", "[gpu]") {
  for (const GpuDatasheet& datasheet : gpu_catalogue()) {
    if (datasheet.compute_capability == 0) continue;  // not NVIDIA's: never measured
    CAPTURE(datasheet.id);
    const GpuTruth truth = rehearsal_truths({"1", datasheet.id, ""}).front();
    REQUIRE(truth.clock_hz > 5e8);
    REQUIRE(truth.memory_bytes_per_s > 1e11);
    REQUIRE(truth.cuda_cores.at(NumberFormat::fp32) >= 64.0);
  }
}
