// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline.h"

#include "src/core/error.h"
#include "src/core/run.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {
void measure(std::string_view probe,
             Machine& machine,
             const PlanInputs& setting,
             Recorder& recorder) {
  std::ranges::find(node_probes(), probe, &NodeProbe::name)->measure(machine, setting, recorder);
}

PlanInputs small_machine(Suite suite) {
  return {.suite = suite,
          .workers = 2,
          .available_memory = Bytes(8192.0 * mebibyte),
          .last_cache = Bytes(32.0 * mebibyte),
          .isa_count = 3};
}
}  // namespace

TEST_CASE("working sets rise from 4 KiB to four times the last cache", "[roofline]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    const std::vector<Bytes> sets = working_sets(small_machine(suite), 1);
    REQUIRE(sets.front().value() == 4096.0);
    REQUIRE(sets.back().value() == 128.0 * mebibyte);
    REQUIRE(std::ranges::is_sorted(sets));
    REQUIRE(std::ranges::adjacent_find(sets) == sets.end());
  }
}

TEST_CASE("working sets of all workers share the last cache", "[roofline]") {
  REQUIRE(working_sets(small_machine(Suite::quick), 2).back().value() == 64.0 * mebibyte);
  REQUIRE_FALSE(memory_shortage(small_machine(Suite::quick), 2));
}

TEST_CASE("short memory ends the working sets early, and says so", "[roofline]") {
  PlanInputs setting = small_machine(Suite::standard);
  setting.available_memory = Bytes(64.0 * mebibyte);
  // An eighth of 64 MiB, for two workers.
  REQUIRE(working_sets(setting, 2).back().value() == 4.0 * mebibyte);
  REQUIRE(memory_shortage(setting, 2) ==
          Finding(FindingId::working_sets_left_out, 2, 4.0, 64.0, 4.0, 64.0));
}

TEST_CASE("hardly any memory still leaves one working set of a page", "[roofline]") {
  PlanInputs setting = small_machine(Suite::quick);
  setting.available_memory = Bytes(0.0);
  REQUIRE(working_sets(setting, 2) == std::vector<Bytes>{Bytes(4096.0)});
}

TEST_CASE("one worker is not measured twice", "[roofline]") {
  PlanInputs setting = small_machine(Suite::quick);
  setting.workers = 1;
  REQUIRE(worker_counts(setting) == std::vector<int>{1});
}

TEST_CASE("the memory plan holds every kernel at every size, non-temporal stores beyond 4 MiB",
          "[roofline]") {
  const PlanInputs setting = small_machine(Suite::standard);
  std::size_t expected = 0;
  for (const int workers : {1, 2}) {
    for (const Bytes set : working_sets(setting, workers)) {
      expected += set >= Bytes(4.0 * mebibyte) ? 7 : 4;
    }
  }
  const std::vector<MemoryWork> plan = memory_plan(setting);
  REQUIRE(plan.size() == expected);
  for (const MemoryWork& work : plan) {
    REQUIRE_FALSE((work.nontemporal && work.kernel == MemoryKernel::read));
    REQUIRE_FALSE((work.nontemporal && work.working_set < Bytes(4.0 * mebibyte)));
  }
}

TEST_CASE("the memory plan begins with the largest set and is the same every time", "[roofline]") {
  const PlanInputs setting = small_machine(Suite::quick);
  const std::vector<MemoryWork> plan = memory_plan(setting);
  REQUIRE(plan.front().working_set * plan.front().workers == Bytes(128.0 * mebibyte));
  const std::vector<MemoryWork> again = memory_plan(setting);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    REQUIRE(plan[i].working_set == again[i].working_set);
    REQUIRE(plan[i].kernel == again[i].kernel);
  }
}

TEST_CASE("the minimum samples of every pace fit its budget", "[roofline]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    for (const Pace& pace : {compute_pace(suite), memory_pace(suite), latency_pace(suite)}) {
      REQUIRE(target_of(pace).minimum_samples == pace.minimum_samples);
      REQUIRE(pace.minimum_samples >= 20);
      REQUIRE(fitting_sample(target_of(pace)) >= Seconds(1e-3));  // the shortest on a host
      REQUIRE(time_per_setting(pace) > 0.7 * pace.budget);
      REQUIRE(time_per_setting(pace) < 1.2 * pace.budget);
    }
  }
}

namespace {
/// Answers every question at once with the same made-up samples and remembers the largest demand.
class NotingMachine : public Machine {
 public:
  std::string name() const override { return "noting"; }
  std::vector<FactSection> facts() const override { return {}; }
  int workers() const override { return 2; }
  Bytes available_memory() const override { return Bytes(1024.0 * mebibyte); }
  Bytes last_cache() const override { return Bytes(8.0 * mebibyte); }
  std::vector<std::string> isas() const override { return {"sse2", "avx2"}; }
  Measured time_fma(const FmaWork&, const Target&) override { return answer(Bytes(0.0)); }
  Measured time_memory(const MemoryWork& work, const Target&) override {
    if (++memory_questions_ == breaks_at) throw ProbeFailure("wrong result");
    return answer(work.working_set * work.workers);
  }
  Measured time_latency(const LatencyWork& work, const Target&) override {
    return answer(work.working_set);
  }
  Outcome<std::string> gemm_library() override { return Skipped{"none"}; }
  Measured time_gemm(const GemmWork&, const Target&) override { return {}; }
  void release_memory() override { ++releases; }

  Bytes largest_demand;
  int releases = 0;
  int breaks_at = -1;

 private:
  Measured answer(Bytes demand) {
    largest_demand = std::max(largest_demand, demand);
    return {.samples = {.wall_s = {2.0, 2.0},
                        .cpu_s = {4.0, 4.0},
                        .stop_reason = {{FindingId::stated, "enough"}},
                        .warnings = {}},
            .flops = Flops(10.0),
            .bytes = Bytes(20.0),
            .bytes_real = Bytes(30.0)};
  }
  int memory_questions_ = 0;
};

class KeepingRecorder : public Recorder {
 public:
  void add(Point point) override { points.push_back(std::move(point)); }
  void add_timeline(const Point&, Timeline) override {}
  void add_rows(const std::string&,
                const std::vector<std::string>&,
                const std::vector<std::vector<std::string>>&) override {}
  void warn(const Finding& warning) override { warnings.push_back(warning); }
  void lose(const std::string&, double) override {}
  void progress(double fraction, const std::string&) override { fractions.push_back(fraction); }

  std::vector<Point> points;
  std::vector<Finding> warnings;
  std::vector<double> fractions;
};

PlanInputs setting_of(const Machine& machine, Suite suite) {
  return {.suite = suite,
          .workers = machine.workers(),
          .available_memory = machine.available_memory(),
          .last_cache = machine.last_cache(),
          .isa_count = machine.isas().size()};
}
}  // namespace

TEST_CASE("the compute probe records every isa, precision and worker count", "[roofline]") {
  NotingMachine machine;
  KeepingRecorder recorder;
  measure(probe_name::roofline_compute, machine, setting_of(machine, Suite::quick), recorder);
  std::set<std::string> seen;
  for (const Point& point : recorder.points) {
    seen.insert(text_parameter(point, Parameter::isa) +
                text_parameter(point, Parameter::precision) +
                std::to_string(integer_parameter(point, Parameter::workers)));
    REQUIRE(amount(point, Metric::flops) == 10.0);
    REQUIRE(series(point, Metric::wall_s) == std::vector<double>{2.0, 2.0});
    REQUIRE(series(point, Metric::cpu_s) == std::vector<double>{4.0, 4.0});
    REQUIRE(point.stop_reason == std::vector<Finding>{{FindingId::stated, "enough"}});
  }
  REQUIRE(seen.size() == 8);  // 2 x 2 x 2
  REQUIRE(recorder.points.size() == 8);
}

TEST_CASE("memory points carry kernel, stores, workers and size, and both byte counts",
          "[roofline]") {
  NotingMachine machine;
  KeepingRecorder recorder;
  measure(probe_name::roofline_memory, machine, setting_of(machine, Suite::quick), recorder);
  REQUIRE(recorder.points.size() == memory_plan(setting_of(machine, Suite::quick)).size());
  for (const Point& point : recorder.points) {
    REQUIRE_FALSE(text_parameter(point, Parameter::kernel).empty());
    REQUIRE_NOTHROW(flag_parameter(point, Parameter::nontemporal));
    REQUIRE(integer_parameter(point, Parameter::workers) >= 1);
    REQUIRE(integer_parameter(point, Parameter::working_set_bytes) >= 4096);
    REQUIRE(amount(point, Metric::bytes) == 20.0);
    REQUIRE(amount(point, Metric::bytes_real) == 30.0);
  }
  REQUIRE(machine.releases == 1);
  REQUIRE(recorder.warnings.empty());
  REQUIRE(std::ranges::is_sorted(recorder.fractions));
  REQUIRE(recorder.fractions.back() < 1.0);
}

TEST_CASE("latency points carry the size and count one access", "[roofline]") {
  NotingMachine machine;
  KeepingRecorder recorder;
  measure(probe_name::roofline_latency, machine, setting_of(machine, Suite::standard), recorder);
  REQUIRE(recorder.points.size() == working_sets(setting_of(machine, Suite::standard), 1).size());
  REQUIRE(amount(recorder.points.front(), Metric::accesses) == 1.0);
}

TEST_CASE("no question asks for more than an eighth of the memory, and what is left out is said",
          "[roofline]") {
  NotingMachine machine;
  PlanInputs setting = setting_of(machine, Suite::standard);
  setting.available_memory = Bytes(64.0 * mebibyte);
  for (const char* probe : {probe_name::roofline_memory, probe_name::roofline_latency}) {
    KeepingRecorder recorder;
    measure(probe, machine, setting, recorder);
    REQUIRE_FALSE(recorder.warnings.empty());
  }
  REQUIRE(machine.largest_demand <= Bytes(8.0 * mebibyte));
}

TEST_CASE("what was measured before a failure is kept", "[roofline]") {
  NotingMachine machine;
  machine.breaks_at = 6;
  KeepingRecorder recorder;
  REQUIRE_THROWS_AS(
      measure(probe_name::roofline_memory, machine, setting_of(machine, Suite::quick), recorder),
      ProbeFailure);
  REQUIRE(recorder.points.size() == 5);
}

TEST_CASE("estimates grow with the suite and are never zero", "[roofline]") {
  const NotingMachine machine;
  for (const NodeProbe& probe : node_probes()) {
    INFO(std::string(probe.name));
    const Seconds quick = probe.estimate(setting_of(machine, Suite::quick));
    REQUIRE(quick > Seconds(0.0));
    REQUIRE(probe.estimate(setting_of(machine, Suite::standard)) > quick);
  }
}

TEST_CASE("names of node probes are unique", "[roofline]") {
  std::set<std::string_view> names;
  for (const NodeProbe& probe : node_probes()) names.insert(probe.name);
  REQUIRE(names.size() == node_probes().size());
}
