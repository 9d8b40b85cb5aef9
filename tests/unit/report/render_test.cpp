// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"

#include "report/charts/charts.h"
#include "report/render_options.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/golden/report/fixture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::report;

namespace {
model::CollectivePoint point(double bytes, double seconds) {
  model::CollectivePoint result;
  result.message = Bytes(bytes);
  result.time = {Seconds(seconds), std::nullopt, 7};
  result.algorithm_bandwidth = result.message / result.time.value;
  result.bus_bandwidth = result.algorithm_bandwidth * 1.75;
  return result;
}

/// Eight GPUs behind a switch: 480 GB/s busbw where a port carries 450 GB/s.
model::AlgorithmResult switched() {
  model::AlgorithmLine line;
  line.algorithm = "NVLS";
  line.protocol = "Simple";
  line.points = {point(8.0, 30e-6), point(1e9, 3.65e-3)};
  line.fit.form = "alpha-beta";
  line.fit.segments = {{.smallest = Bytes(8.0), .largest = Bytes(1e9), .alpha = {}, .beta = {}}};
  line.fit.segments[0].alpha.value = Seconds(30e-6);
  line.fit.segments[0].beta.value = SecondsPerByte(3.62e-12);

  model::AlgorithmResult result;
  result.selection = {{Parameter::selection, RankSelection::pair},
                      {Parameter::link, LinkKind::nvlink}};
  result.collective = Collective::all_reduce;
  result.mode = CollectiveMode::isolated;
  result.ranks = 8;
  result.lines = {line};
  result.regimes = {{{"NVLS", "Simple"}, Bytes(8.0), Bytes(1e9)}};
  model::ChosenPoint chosen;
  chosen.point = point(1e9, 3.65e-3);
  chosen.algorithm = "NVLS";
  chosen.protocol = "Simple";
  chosen.wire_bandwidth = BytesPerSecond(1.125 * 1e9 / 3.65e-3);
  result.chosen = {chosen};
  return result;
}

const Table& table_of(const std::vector<Table>& tables, std::string_view id) {
  return *std::find_if(
      tables.begin(), tables.end(), [&](const Table& table) { return table.id == id; });
}

std::vector<Table> algorithm_tables(const std::vector<model::AlgorithmResult>& results) {
  return collectives_section({}, results).tables;
}

}  // namespace

TEST_CASE("bus bandwidth stands beside what a port carries", "[algorithms]") {
  const auto tables = algorithm_tables({switched()});
  const Printed printed = print_table(table_of(tables, "nccl_choice"), true);
  REQUIRE(printed.rows.size() == 1);
  const auto& row = printed.rows[0];
  CHECK(row[0] == "pair, NVLink");
  CHECK(row[5] == "479");  // 1.75 GB / 3.65 ms
  CHECK(row[6] == "308");  // 1.125 GB / 3.65 ms
  CHECK(row[7] == "NVLS/Simple");
}

TEST_CASE("ranks that share a GPU have no bandwidth and are labelled in every table",
          "[algorithms]") {
  model::AlgorithmResult shared = switched();
  shared.shared_gpu = true;
  const auto tables = algorithm_tables({shared});
  for (const Table& table : tables) {
    CAPTURE(table.id);
    CHECK(print_table(table, true).rows.at(0).at(0) == "sharing a GPU: pair, NVLink");
  }
  const Printed printed = print_table(table_of(tables, "nccl_choice"), true);
  CHECK(std::ranges::none_of(printed.headers, [](const std::string& name) {
    return name.starts_with("busbw") || name.starts_with("through a port");
  }));
}

TEST_CASE("no result of GPUs makes no table and no entry", "[algorithms]") {
  CHECK(algorithm_tables({}).empty());
  CHECK_FALSE(contains(render({}, {}, {Format::json}), "\"nccl\""));
}

TEST_CASE("every format tells of NCCL's collectives", "[algorithms]") {
  model::Analysis analysis;
  analysis.algorithms = {switched()};
  const auto text = [&](Format format) {
    return render({}, analysis, fixture::options(format, true));
  };
  CHECK(contains(text(Format::text), "NVLS/Simple"));
  CHECK(contains(text(Format::csv), "nccl_lines,alpha,"));
  const auto json = nlohmann::json::parse(text(Format::json));
  CHECK(json.at("nccl").at(0).at("regimes").at(0).at("algorithm") == "NVLS");
  CHECK(json.at("nccl").at(0).at("chosen").at(0).at("ran").at("protocol") == "Simple");
}

TEST_CASE("NCCL's chart has each way's line and dots, the fastest of them and what was chosen",
          "[algorithms]") {
  model::Analysis analysis;
  analysis.algorithms = {switched()};
  const Chart chart = nccl_chart(analysis);
  CHECK(chart.title ==
        "NCCL's all reduce of 954 MiB on 8 ranks is fastest by NVLS/Simple, with 479 GB/s bus "
        "bandwidth");
  std::map<std::string, int> kinds;
  for (const Json& row : chart.data.at("rows")) {
    ++kinds[row.at("kind").get<std::string>()];
    if (row.at("kind") != "line" || row.at("bytes").get<double>() < 1e9) continue;
    // 1e9 B in 30 us + 3.62 ms: 273.97 GB/s, times 1.75.
    CHECK_THAT(row.at("busbw").get<double>(), WithinRel(479.45, 1e-4));
  }
  // Two sizes per doubling from 8 B to 1e9 B: 2 x 26.9 rounded up, and the first.
  CHECK(kinds ==
        std::map<std::string, int>{{"line", 55}, {"curve", 55}, {"forced", 2}, {"choice", 1}});
}

TEST_CASE("without forced ways, or where ranks share a GPU, NCCL's chart says so", "[algorithms]") {
  model::Analysis analysis;
  analysis.algorithms = {switched()};
  analysis.algorithms[0].shared_gpu = true;
  CHECK(nccl_chart(analysis).data.is_null());
  analysis.algorithms[0].shared_gpu = false;
  analysis.algorithms[0].lines.clear();
  CHECK(contains(nccl_chart(analysis).missing, "let none be forced"));
}

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
      render(run, fixture::two_core_analysis(true), fixture::options(Format::html));
  REQUIRE(page.find("<script>alert(1)") == std::string::npos);
}

TEST_CASE("the page names the file it is about, of several files their folder", "[html]") {
  const auto title = [](const std::string& input) {
    RenderOptions options = fixture::options(Format::html);
    options.input = input;
    const std::string page = render(Run{}, model::Analysis{}, options);
    const std::size_t begin = page.find("<title>") + 7;
    return page.substr(begin, page.find(": ", begin) - begin);
  };
  CHECK(title("runs/strong.csv --scaling weak") == "strong.csv");
  CHECK(title("runs/2026-11-21/") == "2026-11-21");
  CHECK(title("traces/job7/0.json.gz traces/job7/1.json.gz") == "job7");
  CHECK(title("").starts_with("scaleworth"));
}

TEST_CASE("cells of the page keep their value in base units", "[html]") {
  const std::string page = render(
      fixture::complete_run(), fixture::two_core_analysis(true), fixture::options(Format::html));
  // 256 KiB and the like: what a column sorts by.
  CHECK(page.find("data-value=\"262144\">256 KiB") != std::string::npos);
  CHECK(page.find("data-column=\"step_time\"") != std::string::npos);
}

TEST_CASE("a page stays below 3 MB whatever its tables and its JSON hold", "[html][large]") {
  struct Line {
    int rank = 0;
  };
  std::vector<Line> lines;
  for (int rank = 0; rank < 4096; ++rank) lines.push_back({rank});
  Document document{.title = "t", .subtitle = "s", .verdict = {}, .sections = {}, .next = {}};
  const std::string json = "{\"key\": \"" + std::string(1000, 'x') + "\"}";
  const Table table = make_table<Line>(
      "lines", "Lines", lines, {{parameter("rank", "rank", Unit::count), &Line::rank}});
  document.sections = {section_of("one", "One", {table})};
  const std::string small = render_page(document, {}, json, nullptr);
  CHECK(small.find("id=\"scaleworth-report\"") != std::string::npos);
  CHECK(small.find("The first 512 of 4,096 rows") != std::string::npos);
  CHECK(render_page(document, {}, std::string(3'000'000, 'x'), nullptr).size() < 3'000'000);
  document.sections = {section_of("one", "One", std::vector<Table>(100, table))};
  CHECK(render_page(document, {}, json, nullptr).size() < 3'000'000);
}

TEST_CASE("a page leaves out columns of zeros and rows in which nothing is known", "[html]") {
  struct Line {
    int rank = 0;
    std::optional<double> time;
    double idle = 0.0;
  };
  const std::vector<Line> lines{{0, 1.5}, {1, std::nullopt}, {2, 2.5}};
  // Idle is 0 where the time is known, and absent with it.
  const auto idle = [](const Line& line) { return line.time ? Cell(number(line.idle)) : Cell{}; };
  const Table table = make_table<Line>("lines",
                                       "Lines",
                                       lines,
                                       {{parameter("rank", "the rank"), &Line::rank},
                                        {measure("time", "the time"), &Line::time},
                                        {measure("idle", "the idle time"), idle}});
  Document document{.title = "t", .subtitle = "s", .verdict = {}, .sections = {}, .next = {}};
  document.sections = {section_of("one", "One", {table})};
  const std::string page = render_page(document, {}, "{}", nullptr);
  CHECK(page.find("the time") != std::string::npos);
  CHECK(page.find("the idle time") == std::string::npos);
  CHECK(page.find(">n/a<") == std::string::npos);
}

TEST_CASE("sentences of the page have no words of the command line", "[html]") {
  const std::string page = render(
      fixture::complete_run(), fixture::two_core_analysis(false), fixture::options(Format::html));
  const std::size_t body = page.find("<body>");
  const std::string sentences = page.substr(body, page.find("id=\"next\"") - body);
  CHECK(sentences.find(" --") == std::string::npos);
  CHECK(sentences.find("a price per rank and hour") != std::string::npos);
}

TEST_CASE("every format renders an empty run", "[report]") {
  for (const Format format :
       {Format::text, Format::markdown, Format::csv, Format::json, Format::html}) {
    REQUIRE_FALSE(render(Run{}, model::Analysis{}, {format}).empty());
  }
}

TEST_CASE("the JSON report parses, has its version and null for what is absent", "[json]") {
  model::Analysis analysis = fixture::two_core_analysis(false);
  analysis.roofline->ceilings[0].cpu_share = std::nan("");
  const auto json = nlohmann::json::parse(
      render(fixture::complete_run(), analysis, fixture::options(Format::json)));
  REQUIRE(json["schema_version"] == report_schema_version);
  REQUIRE(json["run"]["directory"] == "scaleworth-runs/2026-11-21");
  REQUIRE(json["roofline"]["ceilings"][0]["cpu_share"].is_null());
  REQUIRE(json["scaling"][0]["rows"][0]["mfu_peak"].is_null());
  REQUIRE(json["scaling"][0]["rows"][1]["step_time_s"]["value"] == 33.5e-3);
  REQUIRE(json["verdict"]["worth_it"] == "yes");
}

TEST_CASE("text that is not UTF-8 does not break the JSON report", "[json]") {
  Run run = fixture::complete_run();
  run.warnings = {{FindingId::stated, "bad \xff byte"}};
  const std::string text = render(run, model::Analysis{}, fixture::options(Format::json));
  REQUIRE(nlohmann::json::parse(text)["run"]["warnings"].size() == 1);
}

TEST_CASE("a finding whose values do not fit its words is said by its name", "[report]") {
  CHECK(said(Finding(FindingId::oversubscribed)) ==
        "oversubscribed with values that its words do not fit: ");
  CHECK(said(Finding(FindingId::oversubscribed, "many", 2.5)) ==
        "oversubscribed with values that its words do not fit: many, 2.5");
  CHECK(said(Finding(FindingId::finding_not_known, "of_next_year")) ==
        "a finding that this version does not know: of_next_year");
  Run run = fixture::complete_run();
  run.probes.back().reason = FindingId::of_run_number;
  const Finding odd(FindingId::samples_rise, "a", std::vector<Finding>{FindingId::two_modes});
  run.warnings = {odd};
  run.probes.front().warnings = {odd};
  run.interruption = Finding(FindingId::rate_not_sustained, 1, std::vector{odd});
  for (const Format format :
       {Format::text, Format::markdown, Format::csv, Format::json, Format::html})
    CHECK_FALSE(render(run, model::Analysis{}, fixture::options(format)).empty());
  for (std::size_t i = 0; i < std::size(finding_keys); ++i) {
    const auto id = static_cast<FindingId>(i);
    CHECK_NOTHROW(sentence(Finding(id)));
    CHECK_NOTHROW(sentence(Finding(id, "text", "text", "text", "text", "text", "text", "text")));
    CHECK_NOTHROW(sentence(Finding(id, -1, -2, -3, -4, -5, -6, -7)));
    CHECK_NOTHROW(sentence(Finding(id, std::nan(""), 1e300, -1e300, 0.0, odd, odd, odd)));
  }
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

TEST_CASE("a page without details fits on a screen and names what it leaves out", "[render]") {
  Document document;
  document.title = "scaleworth: a question?";
  document.verdict.headline = "The answer.";
  for (int i = 0; i < 30; ++i) document.verdict.lines.push_back(fmt::format("Remark {}.", i));
  const auto rows_of = [](const std::string& title, int rows) {
    Table table{"id", title, {parameter("a", "a"), measure("b", "b")}};
    for (int i = 0; i < rows; ++i) table.rows.push_back({{std::string("x"), number(i)}});
    return table;
  };
  document.sections = {{"s", "Section", {}, {}, {rows_of("Long", 50), rows_of("Short", 4)}}};
  document.next = {{"scaleworth decide t.csv --details", "all"}};
  RenderOptions options;
  for (const int width : {40, 80, 100}) {
    options.width = width;
    const std::string page = render_text(document, options);
    CHECK(std::ranges::count(page, '\n') <= 40);
    // The first table is shown as far as there is room.
    CHECK(page.find("Long\n") != std::string::npos);
    CHECK(page.find("Short\n") == std::string::npos);
    std::string one_line = page;
    std::ranges::replace(one_line, '\n', ' ');
    CHECK(one_line.find("With --details: 16 further lines; the rest of Long") != std::string::npos);
  }
  options.details = true;
  const std::string whole = render_text(document, options);
  CHECK(whole.find("Long\n") != std::string::npos);
  CHECK(whole.find("Remark 29.") != std::string::npos);
  CHECK(whole.find("With --details") == std::string::npos);
}
