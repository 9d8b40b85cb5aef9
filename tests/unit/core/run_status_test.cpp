// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "tests/catch.h"

using namespace scaleworth;

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
    point.warnings = {{FindingId::stated, of_run}};
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
  CHECK(points[0].warnings == std::vector<Finding>{{FindingId::stated, 1}, {FindingId::stated, 2}});
  CHECK_FALSE(points[0].setting.contains(Parameter::run));
  CHECK(series(points[1], Metric::wall_s).runs == std::vector<int>{1});
  CHECK(series(points[2], Metric::wall_s).runs.empty());
  CHECK(join_runs(joined).probes.front().points.size() == 3);
}
