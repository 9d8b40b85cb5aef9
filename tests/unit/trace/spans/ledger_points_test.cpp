// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/ledger_points.h"

#include "src/core/run/fields.h"
#include "tests/catch.h"
#include "tests/unit/trace/timelines.h"

using namespace scaleworth;
using namespace scaleworth::testing;

TEST_CASE("each rank becomes a point whose series have one value per step", "[ledger]") {
  Point setting;
  setting.parameters[fields::mode] = std::string("strong");
  setting.parameters[fields::ranks] = std::int64_t{2};
  const Timeline timeline = straggling_steps({0, 300}, 4);
  const auto points = trace::ledger_points(setting, trace::build_ledger(timeline));
  REQUIRE(points.size() == 2);
  REQUIRE(text_parameter(points[1], fields::mode) == "strong");
  REQUIRE(integer_parameter(points[1], fields::rank) == 1);
  // step = 1000 + 300 compute + 10 post + 200 transfer + 50 optimizer
  REQUIRE(series(points[0], fields::step_ns) == std::vector<double>(4, 1560.0));
  REQUIRE(series(points[0], fields::compute_ns) == std::vector<double>(4, 1000.0));
  REQUIRE(series(points[0], fields::exposed_wait_ns) == std::vector<double>(4, 300.0));
  REQUIRE(series(points[0], "waited_for_ns.1") == std::vector<double>(4, 300.0));
  REQUIRE(series(points[1], "waited_for_ns.0") == std::vector<double>(4, 0.0));
  REQUIRE(points[0].warnings.empty());
}

TEST_CASE("what the ledger could not read becomes a warning of every point", "[ledger]") {
  Timeline timeline = straggling_steps({0, 300}, 1);
  timeline.spans.push_back(span(0, Activity::compute, 50, 10));
  const auto points = trace::ledger_points({}, trace::build_ledger(timeline));
  REQUIRE(points.at(1).warnings == std::vector<std::string>{"ledger: invalid_spans = 1"});
}
