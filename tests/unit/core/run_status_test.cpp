// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "tests/catch.h"
#include "tests/unit/core/run_builder.h"

using namespace scaleworth;

TEST_CASE("a whole run lacks nothing, a skipped probe included", "[run]") {
  Run run;
  run.complete = true;
  run.probes.resize(2);
  run.probes[0].status = ProbeStatus::measured;
  run.probes[1].status = ProbeStatus::skipped;
  REQUIRE(missing(run).empty());
}

TEST_CASE("a killed run says what was not reached, cut short and failed", "[run]") {
  Run run = full_run();
  run.complete = false;
  run.interruption.clear();
  run.probes.push_back({"step.training", ProbeStatus::pending, "", 0.0, {full_point()}, {}, {}});
  run.probes.push_back({"roofline.gemm", ProbeStatus::pending, "", 0.0, {}, {}, {}});
  REQUIRE(missing(run) ==
          std::vector<std::string>{"the run did not finish: it was killed, or it is still going on",
                                   "comm.collectives failed, 0 points kept: rank 1 was lost",
                                   "step.training was cut short, 1 point kept",
                                   "roofline.gemm was asked for and not reached"});
}

TEST_CASE("an interrupted run gives its reason", "[run]") {
  Run run;
  run.interruption = "interrupted by signal 2";
  REQUIRE(missing(run) == std::vector<std::string>{"the run ended early: interrupted by signal 2"});
}

TEST_CASE("each status has a word that is read back", "[run]") {
  for (const ProbeStatus status : every<ProbeStatus>) {
    REQUIRE(from_key<ProbeStatus>(key_of(status)) == status);
  }
  REQUIRE_FALSE(from_key<ProbeStatus>("unknown"));
}

TEST_CASE("points of one setting from several runs are one, which knows the run of each sample",
          "[run]") {
  Run run;
  ProbeRecord& probe = run.probes.emplace_back();
  const auto add = [&](std::int64_t of_run, std::int64_t workers, std::vector<double> times) {
    Point& point = probe.points.emplace_back();
    point.setting = {{Parameter::workers, workers}};
    if (of_run > 0) point.setting.set(Parameter::run, of_run);
    point.samples[Metric::wall_s] = Series(std::move(times));
    point.warnings = {"run " + std::to_string(of_run)};
  };
  add(1, 1, {1.0, 2.0});
  add(1, 2, {5.0});
  add(2, 1, {3.0});
  add(0, 1, {9.0});
  const Run joined = join_runs(run);
  const std::vector<Point>& points = joined.probes.front().points;
  REQUIRE(points.size() == 3);
  const Series& both = series(points[0], Metric::wall_s);
  CHECK(both == std::vector<double>{1.0, 2.0, 3.0});
  CHECK(both.runs == std::vector<int>{1, 1, 2});
  CHECK(points[0].warnings == std::vector<std::string>{"run 1", "run 2"});
  CHECK_FALSE(points[0].setting.contains(Parameter::run));
  CHECK(series(points[1], Metric::wall_s).runs == std::vector<int>{1});
  CHECK(series(points[2], Metric::wall_s).runs.empty());
  CHECK(join_runs(joined).probes.front().points.size() == 3);
}
