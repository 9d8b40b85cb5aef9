// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/plan.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {

probes::Setting two_cores() {
  probes::Setting setting;
  setting.workers = 2;
  setting.max_ranks = 2;
  setting.available_memory = Bytes(8e9);
  setting.last_cache = Bytes(32e6);
  setting.isa_count = 3;
  return setting;
}

}  // namespace

TEST_CASE("every probe has a name of its own, a question and an estimate", "[plan]") {
  std::set<std::string> names;
  for (const PlannedProbe& probe : make_plan(two_cores(), {}).probes) {
    INFO(probe.name);
    REQUIRE(names.insert(probe.name).second);
    REQUIRE_FALSE(probe.question.empty());
    REQUIRE(probe.estimate > Seconds(0.0));
  }
  REQUIRE(names.size() == probes::node_probes().size() + probes::rank_probes().size());
}

TEST_CASE("a first word chooses a group of probes and a full name one", "[plan]") {
  for (const PlannedProbe& probe : make_plan(two_cores(), {"roofline"}).probes) {
    REQUIRE(probe.name.starts_with("roofline."));
    REQUIRE_FALSE(probe.on_ranks);
  }
  const Plan one = make_plan(two_cores(), {"step.training"});
  REQUIRE(one.probes.size() == 1);
  REQUIRE(one.probes.front().on_ranks);
}

TEST_CASE("part of a word chooses nothing and is refused with the known names", "[plan]") {
  REQUIRE_THROWS_AS(make_plan(two_cores(), {"roof"}), UserError);
  REQUIRE_THROWS_AS(make_plan(two_cores(), {"roofline."}), UserError);
}

TEST_CASE("the total is the sum of probes and overhead, and fits the promise of each suite",
          "[plan]") {
  probes::Setting setting = two_cores();
  const Plan quick = make_plan(setting, {});
  Seconds sum = quick.overhead;
  for (const PlannedProbe& probe : quick.probes) sum += probe.estimate;
  REQUIRE(quick.total().value() == sum.value());
  REQUIRE(quick.total() < Seconds(60.0));
  setting.suite = probes::Suite::standard;
  REQUIRE(make_plan(setting, {}).total() < Seconds(240.0));
}

TEST_CASE("every probe is described in probes/README.md", "[plan]") {
  std::ifstream file(SOURCE_DIRECTORY "/probes/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const PlannedProbe& probe : make_plan(two_cores(), {}).probes) {
    INFO(probe.name);
    REQUIRE(page.find("`" + probe.name + "`") != std::string::npos);
  }
}
