// SPDX-License-Identifier: Apache-2.0
/// The real probes of GPUs against simulated ones, and the model's fits of what they recorded.
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/analysis.h"
#include "src/model/roofline.h"
#include "tests/catch.h"
#include "tests/sim/gpu/sim_node.h"

#include <algorithm>
#include <map>
#include <variant>

using namespace scaleworth;
using namespace scaleworth::sim;
using probes::Suite;

namespace {

double rate_of(const Point& point, Metric metric) {
  return amount(point, metric) / *median(series(point, Metric::wall_s));
}

using Wanted = Setting;

std::vector<Point> points_with(const ProbeRecord& probe, const Wanted& wanted) {
  std::vector<Point> found;
  for (const Point& point : probe.points) {
    const bool fits = std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
      const SettingValue* value = point.setting.find(entry.first);
      return value != nullptr && *value == entry.second;
    });
    if (fits) found.push_back(point);
  }
  return found;
}

Wanted places(const MemoryPlace& source, const MemoryPlace& target) {
  Wanted wanted;
  wanted.set_place(Parameter::source, source);
  wanted.set_place(Parameter::target, target);
  return wanted;
}

std::string text(const char* words) {
  return words;
}

/// Ascending by working set; values are rates in bytes/s, or times where the point has no bytes.
std::vector<model::CurveSample> curve_of(const std::vector<Point>& points) {
  std::map<std::int64_t, std::vector<double>> by_size;
  for (const Point& point : points) {
    std::vector<double> values = series(point, Metric::wall_s);
    if (point.amounts.contains(Metric::bytes)) {
      values = model::rates(amount(point, Metric::bytes), values);
    }
    by_size[integer_parameter(point, Parameter::working_set_bytes)] = values;
  }
  std::vector<model::CurveSample> curve;
  for (auto& [size, values] : by_size) {
    curve.push_back({Bytes(static_cast<double>(size)), std::move(values)});
  }
  return curve;
}

double level_value(const std::vector<model::Level>& levels, const std::string& label) {
  const auto found = std::find_if(levels.begin(), levels.end(), [&](const model::Level& level) {
    return word_of(level.name) == label;
  });
  CAPTURE(label);
  REQUIRE(found != levels.end());
  return found->value.value;
}

}  // namespace

TEST_CASE("the compute probe recovers a simulated GPU's peaks and clock", "[gpu]") {
  SimNode node(h100_truths(1));
  const ProbeRecord& probe = node.measure(probe_name::gpu_compute, Suite::quick);
  REQUIRE(probe.points.size() == 4);  // fp32, fp64, fp16, bf16
  for (const Point& point : probe.points) {
    const auto format = from_key<NumberFormat>(text_parameter(point, Parameter::precision));
    REQUIRE_THAT(rate_of(point, Metric::flops), WithinRel(node.gpu(0).peak(*format, false), 0.005));
    REQUIRE(*median(series(point, Metric::clock_hz)) == node.gpu(0).truth().clock_hz);
    REQUIRE_FALSE(series(point, Metric::telemetry_power_w).empty());
  }
}

TEST_CASE("the pilots find the variants that are fastest on a simulated GPU", "[gpu]") {
  GpuTruth truth = h100_truth();
  truth.in_cache.best = {StreamGrid::one_shot, 256, 8, false};
  truth.in_memory.best = {StreamGrid::persistent, 1024, 2, false};
  SimNode node({truth});
  const ProbeRecord& probe = node.measure(probe_name::gpu_memory, Suite::standard);
  const auto sweep = points_with(probe,
                                 {{Parameter::pass, text("sweep")},
                                  {Parameter::scope, text("device")},
                                  {Parameter::nontemporal, false}});
  REQUIRE(sweep.size() > 80);
  for (const Point& point : sweep) {
    const auto set = static_cast<double>(integer_parameter(point, Parameter::working_set_bytes));
    const bool cached = set <= truth.description.l2_cache.value();
    REQUIRE(word_of(*point.setting.stream_variant()) ==
            word_of(cached ? truth.in_cache.best : truth.in_memory.best));
  }
}

TEST_CASE("the memory probe recovers the levels of a simulated GPU", "[gpu]") {
  SimNode node(h100_truths(1));
  const ProbeRecord& probe = node.measure(probe_name::gpu_memory, Suite::quick);
  const GpuTruth& truth = node.gpu(0).truth();
  const double l2 = truth.l2_bytes_per_clock * truth.clock_hz;
  const std::vector<model::CacheCapacity> caches{
      {{MemoryLevelName::l2}, truth.description.l2_cache, 1}};
  for (const auto& [kernel, share] : truth.kernel_share) {
    CAPTURE(key_of(kernel));
    const auto levels = find_levels(curve_of(points_with(probe,
                                                         {{Parameter::pass, text("sweep")},
                                                          {Parameter::scope, text("device")},
                                                          {Parameter::kernel, text(key_of(kernel))},
                                                          {Parameter::nontemporal, false}})),
                                    caches,
                                    1);
    REQUIRE_THAT(level_value(levels, "L2"), WithinRel(share * l2, 0.03));
    REQUIRE_THAT(level_value(levels, "memory"), WithinRel(share * truth.memory_bytes_per_s, 0.03));
  }
}

TEST_CASE("the latency probe recovers the levels of a simulated GPU", "[gpu]") {
  SimNode node(h100_truths(1));
  const ProbeRecord& probe = node.measure(probe_name::gpu_latency, Suite::standard);
  const GpuTruth& truth = node.gpu(0).truth();
  const std::vector<model::CacheCapacity> caches{
      {{MemoryLevelName::l1}, truth.description.shared_per_multiprocessor, {}},
      {{MemoryLevelName::l2}, truth.description.l2_cache, {}}};
  const auto levels = find_levels(curve_of(points_with(probe, {})), caches, 1);
  REQUIRE_THAT(level_value(levels, "L1"), WithinRel(truth.l1_clocks / truth.clock_hz, 0.03));
  REQUIRE_THAT(level_value(levels, "L2"), WithinRel(truth.l2_clocks / truth.clock_hz, 0.03));
  REQUIRE_THAT(level_value(levels, "memory"), WithinRel(truth.memory_latency_s, 0.03));
}

TEST_CASE("the transfer probe recovers links between host and GPU and between GPUs", "[gpu]") {
  SimNode node(h100_truths(2));
  const ProbeRecord& probe = node.measure(probe_name::gpu_transfer, Suite::standard);
  const LinkRates& link = node.gpu(0).truth().link;
  const auto one = [&](Wanted wanted) {
    wanted.set({{Parameter::gpu, std::int64_t{0}},
                {Parameter::pass, text("alone")},
                {Parameter::engine, TransferEngine::copy_engine}});
    return points_with(probe, wanted);
  };
  const auto into = one(places({TransferEnd::host_pinned, {}}, {TransferEnd::gpu, 0}));
  for (const Point& point : into) {
    if (point.setting.contains(Parameter::source_index)) continue;  // of another NUMA node
    const auto bytes = static_cast<double>(integer_parameter(point, Parameter::transfer_bytes));
    const bool both = flag_parameter(point, Parameter::both_directions);
    const double rate = both ? link.both_directions * link.pinned / 2.0 : link.pinned;
    REQUIRE_THAT(*median(series(point, Metric::wall_s)),
                 WithinRel(link.alpha_s + bytes / rate, 0.01));
  }
  const auto to_peer = one(places({TransferEnd::gpu, 0}, {TransferEnd::gpu, 1}));
  REQUIRE(to_peer.size() == 2);  // one way and both
  const auto far = one(
      {{Parameter::source, TransferEnd::host_pinned}, {Parameter::source_index, std::int64_t{1}}});
  REQUIRE(far.size() == 1);
  REQUIRE_THAT(rate_of(far[0], Metric::bytes), WithinRel(link.far_node_share * link.pinned, 0.01));
  REQUIRE(points_with(probe, {{Parameter::pass, text("together")}}).size() == 4);
}

TEST_CASE("the launch probe recovers a simulated GPU's launches", "[gpu]") {
  SimNode node(h100_truths(1));
  const ProbeRecord& probe = node.measure(probe_name::gpu_launch, Suite::quick);
  REQUIRE(probe.points.size() == 3);
  for (const auto& [kind, seconds] : node.gpu(0).truth().launch_s) {
    const auto points = points_with(probe, {{Parameter::launch, kind}});
    REQUIRE_THAT(*median(series(points.at(0), Metric::wall_s)), WithinRel(seconds, 0.01));
  }
}

TEST_CASE("estimates of GPU probes are within 30 % of what simulated GPUs take", "[gpu]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    for (const char* probe : {probe_name::gpu_compute,
                              probe_name::gpu_memory,
                              probe_name::gpu_latency,
                              probe_name::gpu_transfer}) {  // launches last the host's time
      SimNode node(h100_truths(1));
      node.measure(probe, suite);
      const auto known = std::ranges::find(
          probes::device_probes(), std::string_view(probe), &probes::DeviceProbe::name);
      CAPTURE(probe, suite_name(suite));
      CHECK_THAT(known->estimate(node.setting(suite)).value(),
                 WithinRel(node.elapsed().value(), 0.3));
    }
  }
}

TEST_CASE("a run of all roofline probes of a simulated GPU analyses to its truth", "[gpu]") {
  SimNode node(h100_truths(1));
  for (const char* probe :
       {probe_name::gpu_compute, probe_name::gpu_memory, probe_name::gpu_latency}) {
    node.measure(probe, Suite::standard);
  }
  const auto results = model::analyse_gpus(node.run(), {});
  REQUIRE(results.size() == 1);
  const model::GpuResult& result = results.front();
  const GpuTruth& truth = node.gpu(0).truth();
  REQUIRE(result.identity.datasheet);
  REQUIRE(result.identity.datasheet->id == "h100-sxm-80gb");
  REQUIRE(result.roofline.ceilings.size() == 4);
  const auto memory = std::ranges::find_if(result.roofline.memory_levels, [](const auto& found) {
    return word_of(found.name) == "memory" && found.stream.kernel == MemoryKernel::read;
  });
  REQUIRE(memory != result.roofline.memory_levels.end());
  REQUIRE_THAT(memory->value.value.value(), WithinRel(truth.memory_bytes_per_s, 0.02));
  REQUIRE_THAT(memory->of_datasheet->value, WithinRel(0.9, 0.02));
  const auto l2 = std::ranges::find_if(result.roofline.latency_levels, [](const auto& found) {
    return word_of(found.name) == "L2";
  });
  REQUIRE(l2 != result.roofline.latency_levels.end());
  REQUIRE_THAT(l2->cycles->value, WithinRel(truth.l2_clocks, 0.03));
}
