// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/plan.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {
probes::PlanInputs two_cores() {
  probes::PlanInputs setting;
  setting.workers = 2;
  setting.max_ranks = 2;
  setting.available_memory = Bytes(8e9);
  setting.last_cache = Bytes(32e6);
  setting.isa_count = 3;
  return setting;
}

MeasureOptions only(const std::string& probe) {
  MeasureOptions options;
  options.only = {probe};
  return options;
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
  for (const PlannedProbe& probe : make_plan(two_cores(), only("roofline")).probes) {
    REQUIRE(probe.name.starts_with("roofline."));
    REQUIRE_FALSE(probe.on_ranks);
  }
  const Plan one = make_plan(two_cores(), only("step.training"));
  REQUIRE(one.probes.size() == 1);
  REQUIRE(one.probes.front().on_ranks);
}

TEST_CASE("part of a word chooses nothing and is refused with the known names", "[plan]") {
  REQUIRE_THROWS_AS(make_plan(two_cores(), only("roof")), UserError);
  REQUIRE_THROWS_AS(make_plan(two_cores(), only("roofline.")), UserError);
}

TEST_CASE("the total is the sum of probes and overhead, and fits the promise of each suite",
          "[plan]") {
  probes::PlanInputs setting = two_cores();
  const Plan quick = make_plan(setting, {});
  Seconds sum = quick.overhead;
  for (const PlannedProbe& probe : quick.probes) sum += probe.estimate;
  REQUIRE(quick.total().value() == sum.value());
  REQUIRE(quick.total() < Seconds(60.0));
  setting.suite = probes::Suite::standard;
  REQUIRE(make_plan(setting, {}).total() < Seconds(240.0));
}

TEST_CASE("message sizes are bytes or multiples of 1024", "[plan]") {
  CHECK(parse_message_size("8") == Bytes(8.0));
  CHECK(parse_message_size("64K") == Bytes(65536.0));
  CHECK(parse_message_size("1MiB") == Bytes(1048576.0));
  CHECK(parse_message_size("2GB") == Bytes(2147483648.0));
  for (const char* wrong : {"", "0", "-8", "M", "1.5M", "8T", "9000G"})
    CHECK_THROWS_AS(parse_message_size(wrong), UserError);
}

TEST_CASE("over a network the collectives take what --time leaves", "[plan]") {
  probes::PlanInputs setting = two_cores();
  setting.nodes = 2;
  MeasureOptions options = only("comm");
  REQUIRE(fitting_plan(setting, options).probes[0].estimate == Seconds(20.0));
  options.time = "60";
  const Plan plan = fitting_plan(setting, options);
  REQUIRE_FALSE(plan.probes[0].left_out);
  REQUIRE_THAT(plan.total().value(), WithinRel(60.0, 0.02));
  REQUIRE(setting.collectives_budget == plan.probes[0].estimate);
}

TEST_CASE("every probe is described in probes/README.md", "[plan]") {
  std::ifstream file(SOURCE_DIRECTORY "/probes/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const PlannedProbe& probe : make_plan(two_cores(), {}).probes) {
    INFO(probe.name);
    REQUIRE(page.find("`" + probe.name + "`") != std::string::npos);
  }
}

namespace {
/// The step takes 10 s, all GPUs together 20 s, their latency 5 s, the start 3 s.
Plan three_probes() {
  Plan plan{"", Seconds(3.0), {}};
  plan.probes = {{"roofline.gpu.latency", "", Seconds(5.0)},
                 {"roofline.gpu.together", "", Seconds(20.0)},
                 {"step.training", "", Seconds(10.0), true}};
  return plan;
}

std::string names_of(const Plan& plan) {
  std::string names;
  for (const PlannedProbe& probe : plan.probes)
    if (!probe.left_out) names += probe.name + " ";
  return names;
}
}  // namespace

TEST_CASE("every probe has its place in the order of value", "[plan]") {
  Plan plan;
  plan.probes.push_back({"unknown", "", {}});
  plan.add(probes::node_probes(), two_cores(), false);
  plan.add(probes::rank_probes(), two_cores(), true);
  for (const auto& probe : probes::device_probes())
    plan.probes.push_back({std::string(probe.name), "", {}});
  for (const auto& probe : probes::device_rank_probes())
    plan.probes.push_back({std::string(probe.name), "", {}, true});
  plan.order_by_value();
  CHECK(plan.probes.back().name == "unknown");
  CHECK(plan.probes.front().name == "step.training");
}

TEST_CASE("a time limit leaves out what matters least, with the reason", "[plan]") {
  Plan plan = three_probes();
  plan.fit(Seconds(38.0));
  CHECK(names_of(plan) == "roofline.gpu.latency roofline.gpu.together step.training ");
  plan = three_probes();
  plan.fit(Seconds(34.0));
  CHECK(names_of(plan) == "roofline.gpu.together step.training ");
  CHECK(plan.probes.front().left_out == Finding(FindingId::beyond_time_limit, 34.0, 5.0, 1.0));
  CHECK(plan.total() == Seconds(33.0));
  // What fits beside what does not is measured.
  plan = three_probes();
  plan.fit(Seconds(20.0));
  CHECK(names_of(plan) == "roofline.gpu.latency step.training ");
  plan = three_probes();
  plan.fit(Seconds(9.0));
  CHECK_FALSE(plan.has_probes(true));
  CHECK(plan.has_probes(false));
  plan = three_probes();
  CHECK(message_of<UserError>([&] { plan.fit(Seconds(5.0)); }) ==
        "--time 5 s: no probe fits; 38 s measure everything (--dry-run)");
}

TEST_CASE("a time limit is written in seconds, minutes or hours", "[plan]") {
  CHECK(parse_time_limit("90") == Seconds(90.0));
  CHECK(parse_time_limit("90s") == Seconds(90.0));
  CHECK(parse_time_limit("90 s") == Seconds(90.0));
  CHECK(parse_time_limit("2.5m") == Seconds(150.0));
  CHECK(parse_time_limit("1h") == Seconds(3600.0));
  for (const char* wrong : {"", "m", "-5", "0", "5 minutes", "1h30m", "inf", "nan"}) {
    INFO(wrong);
    CHECK_THROWS_AS(parse_time_limit(wrong), UserError);
  }
}

namespace {
/// Whether --only `word` keeps the probe beside another that the word may mean.
bool kept(const std::string& probe, const std::vector<std::string>& only) {
  Plan plan;
  plan.probes = {{probe, "", {}}, {"roofline.gpu.mem", "", {}}, {"roofline.memory", "", {}}};
  plan.keep(only);
  return std::ranges::find(plan.probes, probe, &PlannedProbe::name) != plan.probes.end();
}
}  // namespace

TEST_CASE("leading words choose a group of probes at any depth", "[choice]") {
  REQUIRE(kept("roofline.gpu.memory", {}));
  REQUIRE(kept("roofline.gpu.memory", {"roofline"}));
  REQUIRE(kept("roofline.gpu.memory", {"roofline.memory", "roofline.gpu"}));
  REQUIRE(kept("roofline.gpu.memory", {"roofline.gpu.memory"}));
  REQUIRE_FALSE(kept("roofline.gpu.memory", {"roofline.gpu.mem"}));
  REQUIRE_FALSE(kept("roofline.gpu.memory", {"roofline.memory"}));
}

TEST_CASE("a word that means no probe is refused with the known ones and the remedy", "[choice]") {
  Plan plan;
  plan.probes = {{"comm.nccl", "", {}}, {"step.training", "", {}}};
  REQUIRE_NOTHROW(plan.keep({"comm", "step"}));
  REQUIRE(message_of<UserError>([&] { plan.keep({"roofline"}, " (or else)"); }) ==
          "--only roofline: no such probe; known: comm.nccl, step.training (or else)");
}

namespace {
std::string complaint(const std::string& text) {
  return message_of<UserError>([&] { parse_shape_file(text, "shapes.csv"); });
}
}  // namespace

TEST_CASE("a shape file gives names, sizes, batches and formats in any column order", "[shapes]") {
  const auto shapes = parse_shape_file(
      "# the layers that we train\n"
      "m, n ,k,name,format,batch\r\n"
      "\n"
      "4096,12288,4096,\"qkv, fused\",fp8_e4m3,2\n"
      "8192,4096,4096,out,,\n",
      "shapes.csv");
  REQUIRE(shapes.size() == 2);
  REQUIRE(shapes[0].name == "qkv, fused");
  REQUIRE(shapes[0].m == 4096);
  REQUIRE(shapes[0].n == 12288);
  REQUIRE(shapes[0].k == 4096);
  REQUIRE(shapes[0].batch == 2);
  REQUIRE(shapes[0].format == NumberFormat::fp8_e4m3);
  REQUIRE(shapes[1].name == "out");
  REQUIRE(shapes[1].batch == 1);
  REQUIRE_FALSE(shapes[1].format);
}

TEST_CASE("a quote inside a quoted name is doubled", "[shapes]") {
  REQUIRE(parse_shape_file("name,m,n,k\n\"a \"\"b\"\"\",1,2,3", "f").front().name == "a \"b\"");
}

TEST_CASE("what is wrong with a shape file is named with its line", "[shapes]") {
  REQUIRE(complaint("name,m,n\na,1,2\n").starts_with("shapes.csv:1: the header lacks 'k'"));
  REQUIRE(complaint("name,m,n,k,colour\n").starts_with("shapes.csv:1: unknown column 'colour'"));
  REQUIRE(complaint("name,m,n,k,m\n").starts_with("shapes.csv:1: column 'm' stands twice"));
  REQUIRE(complaint("name,m,n,k\na,1,2,3\nb,1,0,3\n").starts_with("shapes.csv:3: n is '0'"));
  REQUIRE(complaint("name,m,n,k\na,1,2,3x\n").starts_with("shapes.csv:2: k is '3x'"));
  REQUIRE(complaint("name,m,n,k\na,1,2,4294967296\n").starts_with("shapes.csv:2: k is"));
  REQUIRE(
      complaint("name,m,n,k\na,1,2\n").starts_with("shapes.csv:2: 3 cells under a header of 4"));
  REQUIRE(complaint("name,m,n,k\n\"a,1,2,3\n").starts_with("shapes.csv:2: a quoted cell"));
  REQUIRE(complaint("name,m,n,k\n\"a\"b,1,2,3\n").starts_with("shapes.csv:2: ',' is missing"));
  REQUIRE(complaint("name,m,n,k,format\na,1,2,3,fp5\n").find("unknown format 'fp5'") !=
          std::string::npos);
  REQUIRE(complaint("name,m,n,k\n").find("no shapes") != std::string::npos);
  REQUIRE(complaint("").find("no shapes") != std::string::npos);
}

TEST_CASE("a file of more shapes than can be measured is refused", "[shapes]") {
  std::string text = "name,m,n,k\n";
  for (int i = 0; i < 1001; ++i) text += "a,1,2,3\n";
  REQUIRE(complaint(text).starts_with("shapes.csv:1002: more than 1000 shapes"));
}
