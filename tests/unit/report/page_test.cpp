// SPDX-License-Identifier: Apache-2.0
#include "report/html/escape.h"
#include "report/names.h"
#include "report/report.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/golden/report/fixture.h"

#include <cmath>

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::report;

TEST_CASE("text in a page cannot become markup", "[html]") {
  REQUIRE(html_escaped("<b a=\"1\">&") == "&lt;b a=&quot;1&quot;&gt;&amp;");
}

TEST_CASE("JSON in a page cannot end its element", "[html]") {
  REQUIRE(json_in_script("{\"a\":\"</script><!--\"}") == "{\"a\":\"\\u003c/script>\\u003c!--\"}");
}

TEST_CASE("code in a page cannot end its element, in any case of letters", "[html]") {
  REQUIRE(code_in_script("'</script>' + '</SCRIPT' + '<!--' + (a < b)") ==
          "'<\\/script>' + '<\\/SCRIPT' + '<\\!--' + (a < b)");
}

TEST_CASE("a hostile fact stays text in every part of the page", "[html]") {
  Run run = fixture::complete_run();
  run.environment[0].facts[0].value = Value{std::string("</script><script>alert(1)</script>")};
  const std::string page =
      render(run, fixture::two_core_analysis(true), Format::html, fixture::options(true));
  REQUIRE(page.find("<script>alert(1)") == std::string::npos);
}

TEST_CASE("every format renders an empty run", "[report]") {
  for (const Format format :
       {Format::text, Format::markdown, Format::csv, Format::json, Format::html}) {
    REQUIRE_FALSE(render(Run{}, model::Analysis{}, format, RenderOptions{}).empty());
  }
}

TEST_CASE("the JSON report parses, has its version and null for what is absent", "[json]") {
  model::Analysis analysis = fixture::two_core_analysis(false);
  analysis.roofline->ceilings[0].cpu_share = std::nan("");
  const auto json = nlohmann::json::parse(
      render(fixture::complete_run(), analysis, Format::json, fixture::options(false)));
  REQUIRE(json["schema_version"] == report_schema_version);
  REQUIRE(json["run"]["directory"] == "scaleworth-runs/2026-11-21");
  REQUIRE(json["roofline"]["ceilings"][0]["cpu_share"].is_null());
  REQUIRE(json["scaling"][0]["rows"][0]["cost_per_run_usd"].is_null());
  REQUIRE(json["scaling"][0]["rows"][1]["step_time_s"]["value"] == 33.5e-3);
  REQUIRE(json["verdict"]["worth_it"] == "yes");
}

TEST_CASE("text that is not UTF-8 does not break the JSON report", "[json]") {
  Run run = fixture::complete_run();
  run.warnings = {"bad \xff byte"};
  const std::string text = render(run, model::Analysis{}, Format::json, fixture::options(false));
  REQUIRE(nlohmann::json::parse(text)["run"]["warnings"].size() == 1);
}

TEST_CASE("format names are those of the command line", "[report]") {
  REQUIRE(parse_format("md") == Format::markdown);
  REQUIRE(parse_format(format_name(Format::html)) == Format::html);
  REQUIRE_THROWS_AS(parse_format("pdf"), UserError);
}

TEST_CASE("a fact reads with its unit, an absent one with its reason", "[report]") {
  const NamedValue size = printed_fact({"l2_bytes", Value{std::int64_t{524288}}, "hwloc"});
  REQUIRE(size.name == "l2");
  REQUIRE(size.value == "512 KiB");
  REQUIRE(printed_fact({"clock_hz", Value{2.45e9}, "cpuid"}).value == "2.45 GHz");
  REQUIRE(printed_fact({"clock_hz", std::nullopt, "hidden"}).value == "n/a (hidden)");
}
