// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"

#include "src/core/error.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/scaling_row.h"
#include "tests/catch.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {
template <class Action>
std::string line_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

std::string csv(std::string_view text) {
  return line_of([&] { parse_table(text, "t.csv"); });
}

std::string json(std::string_view text) {
  return line_of([&] { parse_table(text, "t.json"); });
}

model::Decision decided(const std::string& text, const model::DecisionRequest& request = {}) {
  return model::decide_table(parse_table(text, "t.csv").table, request);
}
}  // namespace

TEST_CASE("counts, times and parts that cannot be are refused in one line", "[decide]") {
  CHECK(csv("p,time_s\n0,10\n") == "t.csv:2: the count is 0; it must be 1 or more");
  CHECK(csv("p,compute_s,comm_s,idle_s\n1,10,1,-2\n") ==
        "t.csv:2: idle is -2 s; a part of the time is 0 or more");
  CHECK(csv("p,time_s,compute_s,comm_s\n1,20,10,1\n") ==
        "t.csv:2: the parts add up to 11 s, the time is 20 s; correct them or give the rest as "
        "idle_s");
  CHECK(csv("p,time_s,quality\n1,10,nan\n") ==
        "t.csv:1: no row has a measurement; left out: 1 (nan)");
  CHECK(csv("gpus,time_s,tp,pp,cp,dp\n16,10,8,1,1,4\n") ==
        "t.csv:2: the layout is TP 8 x PP 1 x CP 1 x DP 4 = 32, not the count 16; correct one of "
        "them");
  CHECK(csv("p,tokens_per_s\n1,0\n") == "t.csv:2: the throughput is 0; it must be above 0");
}

TEST_CASE("units that are missing or mixed are refused in one line", "[decide]") {
  CHECK(csv("p,time,power_w\n1,10,5\n") ==
        "t.csv:1: the time has no unit, in the header or the cells");
  CHECK(csv("p,time_s,time_ms\n1,10,10000\n2,5,5000\n") ==
        "t.csv:1: column 'time_s' says the same as 'time_ms'; keep one of them");
  CHECK(csv("p,time_s\n1,800 s\n") == "accepted");
  CHECK(csv("p,time_s,energy_mj\n1,10,3\n") ==
        "t.csv:1: column 'energy_mj' may be mega- or millijoules; write it in kj or j");
}

TEST_CASE("files that are no table are refused in one line", "[decide]") {
  CHECK(csv("") == "t.csv: empty; write a header as p,time_s and one line per count");
  CHECK(csv("p,time_s\n") == "t.csv: no rows below the header; give one line per count");
  CHECK(csv(std::string_view("p\0,\0t\0", 6)) ==
        "t.csv: no text in UTF-8 (binary, or saved as UTF-16); save it as CSV in UTF-8");
  CHECK(csv("p,time_s\n1,10\n2\n") ==
        "t.csv:3: 1 cell under a header of 2, divided at ','; quote a cell that has it, as "
        "\"133,333\"");
  CHECK(csv("p,dings\n1,10\n") ==
        "t.csv:1: the table needs a column for the time, as time_s, or a throughput, as "
        "tokens_per_s; it has p, dings");
  CHECK(json("[{\"p\": 1, \"time_s\": 800").starts_with("t.json"));
  CHECK(json("{\"rows\": 3}") ==
        "t.json: no rows; write [{\"p\": 1, \"time_s\": 800}, ...] or {\"rows\": [...]} around it");
  CHECK(json("[{\"p\": 1, \"time_s\": 800}, 2]") ==
        "t.json: row 2: a row is an object, as {\"p\": 1, \"time_s\": 800}");
}

TEST_CASE("brackets without a name are refused before the parser sees them", "[decide]") {
  const auto toml = [](std::string_view text) {
    return line_of([&] { parse_table(text, "t.toml"); });
  };
  const std::string message =
      ": a bracket that begins a line has a table's name behind it, as [[row]]";
  CHECK(toml("[[[row]]]\np = 1\n") == "t.toml:1" + message);
  CHECK(toml("[[row]]\np = 1\n  [\x01\n") == "t.toml:3" + message);
  CHECK(toml("[\n[row]\n") == "t.toml:1" + message);
  CHECK(toml("[ 'row' ]\np = 1\n").starts_with("t.toml: no rows"));
}

TEST_CASE("rows beyond a hundred thousand are refused at the first one too many", "[decide]") {
  std::string text = "p,time_s\n";
  for (int i = 1; i <= 100002; ++i) text += "1,1\n";
  CHECK(csv(text) == "t.csv:100002: more than 100000 rows; give one per count and repeat");
}

TEST_CASE("tables, runs and attributions come through pipes", "[decide]") {
  const auto piped = [](const std::string& text) {
    const auto path =
        std::filesystem::temp_directory_path() / ("scaleworth-pipe-" + std::to_string(getpid()));
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(path) << text; });
    const std::string answer = line_of([&] {
      const auto file = read_table(path.string());
      throw UserError("{} rows", file.table.rows.size());
    });
    writer.join();
    std::filesystem::remove(path);
    return answer;
  };
  CHECK(piped("gpus;seconds\n1;800\n2;420\n") == "2 rows");
  CHECK(piped("[{\"p\": 1, \"time_s\": 2}]") == "1 rows");
}

TEST_CASE("a folder without a run and a file that is not there are refused", "[decide]") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("scaleworth-no-run-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  CHECK(line_of([&] { read_table(folder.string()); }) ==
        "cannot read " + folder.string() +
            "/run.json: No such file or directory; give a run directory or its run.json");
  CHECK(line_of([&] { read_table(folder / "t.csv"); }) ==
        (folder / "t.csv").string() + ": No such file or directory");
  std::filesystem::remove(folder);
}

TEST_CASE("a baseline, prices or a scaling that the table has not are refused", "[decide]") {
  model::DecisionRequest request;
  request.metrics.baseline = 3;
  CHECK(line_of([&] { decided("p,time_s\n1,10\n2,6\n", request); }) ==
        "the baseline 3 is not in the table; choose a count that is");
  const auto priced = parse_table("p,time_s,usd_per_hour\n1,10,2\n2,6,\n", "t.csv").table;
  CHECK(line_of([&] { model::rank_price(priced, {}); }) ==
        "count 2 has no price, count 1 has; fill it in, or give --price");
  const auto weak = parse_table("p,time_s,work\n1,10,5\n2,11,10\n", "t.csv").table;
  CHECK(line_of([&] { model::settle_scaling(weak, model::Scaling::strong); }) ==
        "--scaling says strong scaling, the table weak scaling; correct one, or work or batch");
  const auto load = parse_table("concurrency,tokens_per_s\n1,10\n2,15\n", "t.csv").table;
  CHECK(line_of([&] { model::rank_price(load, dollars_per_hour(2)); }) ==
        "rows are loads of one machine: price it by --price 0 --fixed USD_PER_HOUR");
}

TEST_CASE("one row, or times that only rise, abstain and say what is needed", "[decide]") {
  CHECK(decided("p,time_s\n4,10\n").diagnosis.no_cause == Finding(FindingId::nothing_to_explain));
  const model::Decision rising = decided("p,time_s\n1,10\n2,20\n4,50\n");
  CHECK(rising.rubric.chosen == 1);
  CHECK(rising.remarks.front() == Finding(FindingId::never_faster, 1));
}

namespace {
TableColumn column(const std::string& header) {
  const auto found = table_column(header, "t.csv:1");
  INFO(header);
  REQUIRE(found);
  return *found;
}

std::string refusal(const std::string& text, const TableSelection& selection = {}) {
  try {
    parse_table(text, "t.csv", selection);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

bool refused(const std::string& text,
             const std::string& message,
             const TableSelection& selection = {}) {
  const std::string said = refusal(text, selection);
  INFO(said);
  return said.find(message) != std::string::npos;
}

model::ScalingTable table_of(const std::string& text) {
  return parse_table(text, "t.csv").table;
}
}  // namespace

TEST_CASE("headers are known with their units, in many spellings", "[decide]") {
  CHECK(column("# GPUs").meaning == Meaning::count);
  CHECK(column("iteration time (ms)").factor == 1e-3);
  CHECK(column("iteration time (ms)").per == Per::step);
  CHECK(column("derived_iter_s").meaning == Meaning::time);
  CHECK(column("comm_ms_per_step").per == Per::step);
  CHECK(column("comm_per_step_ms").factor == 1e-3);
  CHECK(column("tok_per_s_per_gpu").per_rank);
  CHECK_FALSE(column("tokens_per_s").per_rank);
  CHECK(column("achieved_tflops_per_gpu_incl_recompute").factor == 1e12);
  CHECK(column("aggregate_pflops").factor == 1e15);
  CHECK(column("mfu_pct").relative);
  CHECK(column("p99_ttft_ms").latency == "ttft_p99");
  CHECK(column("median_ttft_ms").latency == "ttft_p50");
  CHECK(column("p99_ms").latency == "p99");
  CHECK(column("tensor parallelism").meaning == Meaning::tensor);
  CHECK(column("J_per_tok").meaning == Meaning::energy_per_work);
  CHECK(column("power_kw").factor == 1e3);
  CHECK(column("rate_usd_per_hour").meaning == Meaning::price);
  CHECK_FALSE(table_column("peak_tflops", "t.csv:1"));
  CHECK_FALSE(table_column("note", "t.csv:1"));
  CHECK(table_column("p99", "t.csv:1")->unit.empty());
  CHECK_THROWS_AS(table_column("energy_mj", "t.csv:1"), UserError);
}

TEST_CASE("a throughput alone gives times of units of work", "[decide]") {
  const auto table = table_of("gpus,tok_per_s_per_gpu\n8,1000\n16,800\n");
  CHECK(table.basis == model::TimeBasis::work_unit);
  // 12,800 tokens/s in all: of 10^6 tokens, the power of 1000 that takes a second or more.
  CHECK_THAT(table.rows[1].time.value.value(), WithinRel(78.125, 1e-12));
  CHECK(table.rows[1].work == 1e6);
  const auto whole = model::of_work(table, 3e9);
  CHECK_THAT(whole.rows[1].time.value.value(), WithinRel(234375.0, 1e-12));
  CHECK(whole.basis == model::TimeBasis::run);
}

TEST_CASE("a load is no count of machines", "[decide]") {
  const auto table = table_of("concurrency,tok_per_s,J_per_tok\n1,100,7\n4,300,2\n");
  CHECK(table.axis == model::Axis::load);
  CHECK(table.rows[0].energy_j == 7000.0);  // 7 J of each of 1000 tokens
}

TEST_CASE("loads need not be whole: they are counted in their greatest common unit", "[decide]") {
  const auto table = table_of("load,tok_per_s\n0.5,100\n1.25,210\n2.5,300\n");
  CHECK(table.load_unit == 0.25);
  CHECK(table.rows[0].count == 2);
  CHECK(table.rows[1].count == 5);
  CHECK(table.rows[2].count == 10);
  const auto tenths = table_of("load,tok_per_s\n0.1,10\n0.3,25\n0.7,40\n");
  CHECK(tenths.rows[2].count == 7);
  CHECK_THAT(tenths.load_unit, WithinRel(0.1, 1e-12));
  CHECK(table_of("load,tok_per_s\n2,100\n4,210\n").load_unit == 1.0);
  CHECK(csv("gpus,time_s\n1.5,10\n2,6\n").find("not an integer") != std::string::npos);
  CHECK(csv("load,tok_per_s\n0.12345678,10\n2,6\n").find("not an integer") != std::string::npos);
  CHECK(csv("load,tok_per_s\n-0.5,10\n2,6\n") != "accepted");
  CHECK(csv("load,tok_per_s\n,10\n2,6\n").find("is empty") != std::string::npos);
}

TEST_CASE("time and throughput together say the work", "[decide]") {
  const auto weak = table_of("gpus,step_s,tokens_per_s\n1,2,100\n2,2.5,160\n");
  CHECK(weak.rows[0].work == 200.0);
  CHECK(weak.rows[1].work == 400.0);
  // 1 % apart: rounding of the rates, so the work is the same.
  CHECK_FALSE(table_of("gpus,step_s,tokens_per_s\n1,2,100\n2,1.25,161.6\n").rows[1].work);
}

TEST_CASE("a batch that grows is the work of a step, and said", "[decide]") {
  const auto table = table_of("gpus,step_s,batch,seq\n1,2,8,1024\n2,2.1,16,1024\n");
  CHECK(table.rows[1].work == 16.0 * 1024.0);
  CHECK(table.rows[1].facts.batch == 16.0);
  CHECK_FALSE(table_of("gpus,step_s,batch\n1,2,8\n2,1.1,8\n").rows[1].work);
  CHECK_FALSE(table_of("gpus,time_s,batch\n1,2,8\n2,1.1,16\n").rows[1].work);
  CHECK(refused("gpus,step_s,batch\n1,2,8\n2,1.1,\n", "t.csv:3: no batch, which other rows have"));
}

TEST_CASE("latencies, prices, power and layouts stay with their rows", "[decide]") {
  const auto table = table_of(
      "gpus,time_s,ttft_p99_ms,p50_ms,rate_usd_per_hour,power_w,tp,pp,dp,gbs,mbs\n"
      "8,100,120,30,3.6,500,2,2,2,64,4\n16,60,150,,3.6,450,2,2,4,64,4\n");
  const model::RowFacts& first = table.rows[0].facts;
  CHECK_THAT(*first.latency_s("ttft_p99"), WithinRel(0.120, 1e-12));
  CHECK_FALSE(table.rows[1].facts.latency_s("p50"));
  CHECK_THAT(first.price->value(), WithinRel(0.001, 1e-12));
  CHECK(table.rows[0].energy_j == 8.0 * 500.0 * 100.0);
  CHECK(first.layout.tensor == 2);
  CHECK(first.microbatches == 8.0);  // 64 sequences over 2 replicas of 4
  CHECK(model::layout_text(table.rows[1].facts.layout) == "TP 2, PP 2, DP 4");
}

TEST_CASE("a layout must be its count", "[decide]") {
  CHECK(refused("gpus,step_s,TP,CP,PP,DP\n16384,5,8,16,16,4\n",
                "t.csv:2: the layout is TP 8 x PP 16 x CP 16 x DP 4 = 8192, not the count 16384"));
  CHECK(refused("gpus,step_s,TP,PP\n12,5,8,1\n",
                "t.csv:2: the layout is TP 8 x PP 1 = 8 does not divide the count 12"));
  CHECK(refused("gpus,step_s,TP\n8,5,0\n", "TP is 0; it must be 1 or more"));
  CHECK(refusal("gpus,step_s,TP,PP\n16,5,8,1\n").empty());
}

TEST_CASE("parts of a step under the time of a run need the number of steps", "[decide]") {
  const auto table =
      table_of("p,time_s,compute_ms_per_step,comm_ms_per_step,steps\n1,100,90,10,1000\n");
  CHECK_THAT(*table.rows[0].parts_s[0], WithinRel(90.0, 1e-12));
  CHECK(refused("p,time_s,compute_ms_per_step,comm_ms_per_step\n1,100,90,10\n",
                "t.csv:2: the parts are of one step, the time is of one run; add a column steps"));
}

TEST_CASE("of several counts and rates one is taken, and the others named", "[decide]") {
  const TableFile file =
      parse_table("nodes,gpus,time_s,mfu_pct,tokens_per_s\n1,8,10,40,100\n", "t.csv");
  CHECK(file.table.rows[0].count == 8);
  CHECK(file.ignored == std::vector<std::string>{"mfu_pct", "nodes"});
}

TEST_CASE("rows are chosen and columns renamed", "[decide]") {
  const std::string text = "size,load,T\n1B,1,10\n2B,1,20\n1B,2,6\n2B,2,11\n";
  const TableFile file = parse_table(text, "t.csv", {{"size=2B"}, {"load=p", "T=time_s"}});
  REQUIRE(file.table.rows.size() == 2);
  CHECK(file.table.rows[1].time.value == Seconds(11));
  CHECK(refused(text, "--where size=3B: no row has it; size is 1B, 2B", {{"size=3B"}, {}}));
  CHECK(refused(
      text, "--where model: no such column in t.csv; it has size, load, T", {{"model=3B"}, {}}));
  CHECK(refused(text, "--rename x: write it as COLUMN=VALUE", {{}, {"x"}}));
  CHECK(refused(text,
                "t.csv:2 and t.csv:3 have the same count, 1; they differ in 'size' (1B, 2B)",
                {{}, {"T=time_s"}}));
}

TEST_CASE("rows of one count are repeats of one measurement", "[decide]") {
  const auto table = table_of("gpus,seconds\n1,800\n2,420\n1,810\n2,430\n1,805\n");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].time.value == Seconds(805));  // the median, as of repeats with names
  CHECK(table.rows[0].relative_sd ==
        table_of("p,run,time_s\n1,1,800\n1,2,810\n1,3,805\n2,1,420\n").rows[0].relative_sd);
  CHECK(table.remarks.front().id == FindingId::rows_are_repeats);
  const std::string days = "gpus,day,time_s\n1,mo,8\n1,tu,10\n";
  CHECK(parse_table(days, "t.csv", {{}, {"day=repeat"}}).table.rows[0].time.value == Seconds(9));
}

TEST_CASE("repeats may have names", "[decide]") {
  const auto table = table_of("p,run,time_s\n1,a_01,10\n1,a_02,12\n");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].time.value == Seconds(11));
}

TEST_CASE("JSON tables are read the same way", "[decide]") {
  const auto table =
      parse_table(R"({"rows": [{"p": 1, "time_s": 800, "note": null}, {"p": 2, "time_s": 430.5}]})",
                  "t.json")
          .table;
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[1].time.value == Seconds(430.5));
  CHECK_THROWS_AS(parse_table("[]", "t.json"), UserError);
  CHECK_THROWS_AS(parse_table("[1]", "t.json"), UserError);
  CHECK_THROWS_AS(parse_table(R"([{"p": 1, "time_s": 800)", "t.json"), UserError);
  CHECK_THROWS_AS(parse_table(R"([{"p": {"q": [[1]]}, "time_s": 800}])", "t.json"), UserError);
}

namespace decide_table_test {
using namespace scaleworth;
using namespace scaleworth::cli;

namespace {
std::string refusal(const std::string& text, bool toml = false) {
  try {
    parse_table(text, toml ? "t.toml" : "t.csv");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

bool refused(const std::string& text, const std::string& message) {
  const std::string said = refusal(text);
  INFO(said);
  return said.find(message) != std::string::npos;
}
}  // namespace

TEST_CASE("a scaling table is read with the units of its header", "[decide]") {
  const TableFile file = parse_table(
      "\xEF\xBB\xBF# by hand\r\nGPUs,time (ms),comm_s,compute_ms,comment\r\n"
      "2,430000,30,400000,ok\r\n\r\n1,800000,,800000,\r\n",
      "t.csv");
  REQUIRE(file.table.rows.size() == 2);
  CHECK(file.table.rows[0].count == 1);
  CHECK(file.table.rows[0].time.value == Seconds(800));
  CHECK_FALSE(file.table.rows[0].parts_s[1]);
  CHECK(file.table.rows[1].parts_s[1] == 30.0);
  CHECK(file.ignored == std::vector<std::string>{"comment"});
}

TEST_CASE("hours, quality, work, energy and repeats are read", "[decide]") {
  const TableFile file = parse_table(
      "p,repeat,time_h,quality,items,energy_kwh\n1,1,1,0.9,100,2\n1,2,1.1,0.8,100,2\n", "t.csv");
  REQUIRE(file.table.rows.size() == 1);
  CHECK_THAT(file.table.rows[0].time.value.value(), WithinRel(3780.0, 1e-12));
  CHECK(file.table.rows[0].quality == 0.8);
  CHECK(file.table.rows[0].work == 100.0);
  CHECK(file.table.rows[0].energy_j == 7.2e6);
  CHECK(file.table.rows[0].relative_sd);
}

TEST_CASE("TOML tables are read the same way", "[decide]") {
  const TableFile file = parse_table(
      "[[row]]\np = 1\ntime_s = 800\n[[row]]\np = 2\ntime_s = 430.5\nnote = 1\n", "t.toml");
  REQUIRE(file.table.rows.size() == 2);
  CHECK(file.table.rows[1].time.value == Seconds(430.5));
  CHECK(file.ignored == std::vector<std::string>{"note"});
  CHECK(refusal("[[row]]\np = 0\ntime_s = 1\n", true).find(": the count is 0") !=
        std::string::npos);
  CHECK(refusal("[[row]]\np = 'one'\ntime_s = 1\n", true)
            .find(": column 'p' is 'one', not a number") != std::string::npos);
  CHECK(refusal("x = 1\n", true).starts_with("t.toml: no rows"));
  CHECK(refusal("row = [1]\n", true).find("a row is a table") != std::string::npos);
}

TEST_CASE("bad cells are refused with row and column", "[decide]") {
  CHECK(refused("p,time_s\n0,10\n", "t.csv:2: the count is 0"));
  CHECK(refused("p,time_s\n1,10 kg\n", "t.csv:2: column 'time_s' is '10 kg', not a number"));
  CHECK(refused("p,time_s,quality\n1,10,nan\n", "no row has a measurement; left out: 1 (nan)"));
  CHECK(refused("p,time_s\n1,inf\n", "column 'time_s' is 'inf', not a number; leave"));
  CHECK(refused("p,time_s\n1,ten\n", "column 'time_s' is 'ten', not a number"));
  CHECK(refused("p,time_s\n1.5,10\n", "column 'p' is 1.5, not an integer"));
  CHECK(refused("p,time_s\n1e30,10\n", "column 'p' is 1e+30, not an integer"));
  CHECK(refused("p,time_s\n1,1e41\n", "column 'time_s' is not a number up to 1e40"));
  CHECK(refused("p,time_s\n,10\n", "t.csv:2: column 'p' is empty"));
  CHECK(refused("p,time_s\n1,-3\n", "the time is -3 s"));
  CHECK(refused("p,compute_s,comm_s,idle_s\n1,10,1,-2\n", "idle is -2 s"));
  CHECK(refused("p,time_s,compute_s,comm_s\n1,20,10,1\n", "the parts add up to 11 s"));
  CHECK(refused("p,time_s\n1\n", "1 cell under a header of 2, divided at ','"));
  CHECK(refused("p,time_s\n1,\"10\n", "no closing quote"));
}

TEST_CASE("bad headers are refused", "[decide]") {
  CHECK(refused("p,time,usd_per_hour\n1,10,2\n", "t.csv:1: the time has no unit"));
  CHECK(refused("p,time_kg\n1,10\n", "needs a column for the time"));
  CHECK(refused("p,time_s,time_ms\n1,10,10000\n2,5,5000\n",
                "t.csv:1: column 'time_s' says the same as 'time_ms'"));
  CHECK(refused("p,time_s,time_s\n1,10,10\n", "stands twice"));
  CHECK(refused("time_s,idle_s\n10,1\n", "no column says how many"));
  CHECK(refused("gpus\n1\n", "t.csv:1: no comma, semicolon, tab or | divides 'gpus'"));
  CHECK(refused("", "empty; write a header"));
  CHECK(refused("p,time_s\n", "no rows below the header"));
}

}  // namespace decide_table_test

TEST_CASE("a rate of one GPU is multiplied by the count, however its header says it", "[decide]") {
  for (const char* rate : {"tokens_per_s_per_gpu",
                           "tokens_per_gpu_per_s",
                           "Throughput (tok/s/GPU)",
                           "throughput [tok/s/GPU]",
                           "tok/s/gpu",
                           "Tokens per second per GPU",
                           "img/sec per rank",
                           "per-GPU throughput (tokens/s)",
                           "Throughput/GPU (tok/s)",
                           "Throughput (tok/s) per GPU",
                           "Tokens/s (per GPU)",
                           "Throughput (tok/s) [per accelerator]",
                           "samples/s per GCD",
                           "tps/gpu",
                           "TGS",
                           "TFLOPS per device"}) {
    const auto rows =
        parse_table(fmt::format("gpus,{}\n8,1000\n16,900\n", rate), "t.csv").table.rows;
    INFO(rate);
    // Of equal work: 8000 against 14400 units a second.
    CHECK(std::abs(rows.at(0).time.value / rows.at(1).time.value - 14400.0 / 8000.0) < 1e-12);
  }
  for (const char* rate : {"Throughput (tok/s)", "tokens/s", "total_gpu_tokens_per_s"}) {
    const auto rows =
        parse_table(fmt::format("gpus,{}\n8,1000\n16,1900\n", rate), "t.csv").table.rows;
    INFO(rate);
    CHECK(std::abs(rows.at(0).time.value / rows.at(1).time.value - 1.9) < 1e-12);
  }
  for (const char* unclear : {"gpu_tokens_per_s",
                              "GPU throughput",
                              "GPU throughput (tok/s)",
                              "Node throughput [img/s]"}) {
    INFO(unclear);
    CHECK(csv(fmt::format("gpus,{}\n8,1000\n16,1900\n", unclear))
              .find("may be the rate of one or of all") != std::string::npos);
  }
  // A rate that barely rises may be that of each.
  CHECK(csv("gpus,tokens/s\n8,1000\n16,1010\n").find("barely rises with the count") !=
        std::string::npos);
  for (const char* of_node : {"tokens_per_s_per_node", "tokens/s/node"})
    CHECK(csv(fmt::format("gpus,{}\n8,1000\n16,950\n", of_node)) == "accepted");  // ratios hold
  // No rates of work.
  CHECK(parse_table("gpus,time_s,usd_per_gpu,tokens_per_gpu\n8,10,1,2\n", "t.csv").ignored ==
        std::vector<std::string>{"tokens_per_gpu", "usd_per_gpu"});
  CHECK(csv("nodes,tokens_per_s_per_gpu\n8,1000\n16,950\n") == "accepted");
  CHECK(csv("nodes,tokens_per_s_per_node\n8,1000\n16,900\n") == "accepted");
}

TEST_CASE("tables are read as people type them", "[decide]") {
  const auto times = [](const std::string& text) {
    std::vector<double> all;
    for (const auto& row : parse_table(text, "t.csv").table.rows)
      all.push_back(row.time.value.value());
    return all;
  };
  const std::vector<double> expected{1200.0, 700.0};
  CHECK(times("gpus,seconds\n8,1200\n16,700\n") == expected);
  CHECK(times("world_size;time_s\n8;1200\n16;700\n") == std::vector<double>{1200.0, 700.0});
  CHECK(times("GPU count\ttime (s)\n8\t1200\n16\t700\n") == expected);
  CHECK(times("| gpus | minutes |\n|---|---:|\n| 8 | 20 |\n| 16 | 11.666666666666666 |\n").at(0) ==
        1200.0);
  CHECK(times("gpus,time_s\n8,\"1,200.00\"\n16,7e2\n") == expected);
  CHECK(times("Gpus;hours\n8;\"0.5\"\n\n16;0.25\n") == std::vector<double>{1800.0, 900.0});
  CHECK(times("n_gpus,time (s) per step\n8,1_200\n16,700\n") == expected);
  CHECK(times("gpus;time_s\n8;1 200\n16;700.0\n") == expected);
  CHECK(times("gpus\ttime_s\tnote\n8\t1,200,000\t\n16\t7e5\tx\n") ==
        std::vector<double>{1.2e6, 7e5});
  CHECK(times("gpus | time_s\n--- | :---\n8 | 1,200\n16 | 700\n") == expected);
  CHECK(times("[{\"p\": 8, \"time_s\": 1200}, {\"p\": 16, \"time_s\": \"700\"}]") == expected);
  CHECK(times("[[row]]\np = 8\ntime_s = 1200\n[[row]]\np = 16\ntime_s = 700\n") == expected);
  CHECK(csv("gpus,tokens_per_s\n1,133,333\n") ==
        "t.csv:2: 3 cells under a header of 2, divided at ','; quote a cell that has it, as "
        "\"133,333\"");
  CHECK(csv("gpus\ttime_s\n1\n") ==
        "t.csv:2: 1 cell under a header of 2, divided at tabs; quote a cell that has it, as "
        "\"133,333\"");
  CHECK(csv("gpus,time_s\n8,12 00\n").find("is '12 00', not a number") != std::string::npos);
  CHECK(csv("gpus,time_s\n8,\",512\"\n").find("is ',512', not a number") != std::string::npos);
  // 1200 or 1.2: a factor of a thousand is not guessed, and need not be where another cell says it.
  CHECK(csv("gpus;time_s\n8;1,200\n").find("may be decimal or group thousands") !=
        std::string::npos);
  // Points between semicolons, too, unless another number tells: 36.000 of decimal commas is 36000.
  CHECK(csv("gpus;tokens/s\n8;36.000\n").find("may be decimal or group thousands") !=
        std::string::npos);
  CHECK(times("gpus;time_s\n8;1,200\n16;0,75\n") == std::vector<double>{1.2, 0.75});
  CHECK(times("gpus\ttime_s\n8\t2,5\n") == std::vector<double>{2.5});
  CHECK(times("gpus,time_s\n8,\"0,512\"\n") == std::vector<double>{0.512});
}
