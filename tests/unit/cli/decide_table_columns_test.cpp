// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/columns.h"
#include "src/cli/decide/table/table_file.h"
#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {

TableColumn column(const std::string& header) {
  const auto found = table_column(header, "t.csv:1");
  INFO(header);
  REQUIRE(found);
  return *found;
}

std::string refusal(const std::string& text, const TableSelection& selection = {}) {
  try {
    interpret_table(parse_csv(text, "t.csv"), selection);
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

decide::ScalingTable table_of(const std::string& text) {
  return parse_csv_table(text, "t.csv").table;
}

}  // namespace

TEST_CASE("headers are known with their units, in many spellings", "[decide]") {
  CHECK(column("# GPUs").meaning == ColumnMeaning::count);
  CHECK(column("iteration time (ms)").factor == 1e-3);
  CHECK(column("iteration time (ms)").per == Per::step);
  CHECK(column("derived_iter_s").meaning == ColumnMeaning::time);
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
  CHECK(column("tensor parallelism").meaning == ColumnMeaning::tensor);
  CHECK(column("J_per_tok").meaning == ColumnMeaning::energy_per_work);
  CHECK(column("power_kw").factor == 1e3);
  CHECK(column("rate_usd_per_hour").meaning == ColumnMeaning::price);
  CHECK_FALSE(table_column("peak_tflops", "t.csv:1"));
  CHECK_FALSE(table_column("note", "t.csv:1"));
  CHECK_THROWS_AS(table_column("p99", "t.csv:1"), UserError);
  CHECK_THROWS_AS(table_column("energy_mj", "t.csv:1"), UserError);
}

TEST_CASE("a throughput alone gives times of units of work", "[decide]") {
  const auto table = table_of("gpus,tok_per_s_per_gpu\n8,1000\n16,800\n");
  CHECK(table.basis == decide::TimeBasis::work_unit);
  // 12,800 tokens/s in all: of 10^6 tokens, the power of 1000 that takes a second or more.
  CHECK_THAT(table.rows[1].time.value.value(), WithinRel(78.125, 1e-12));
  CHECK(table.rows[1].work == 1e6);
  const auto whole = decide::of_work(table, 3e9);
  CHECK_THAT(whole.rows[1].time.value.value(), WithinRel(234375.0, 1e-12));
  CHECK(whole.basis == decide::TimeBasis::run);
}

TEST_CASE("a load is no count of machines", "[decide]") {
  const auto table = table_of("concurrency,tok_per_s,J_per_tok\n1,100,7\n4,300,2\n");
  CHECK(table.axis == decide::Axis::load);
  CHECK(table.rows[0].energy_j == 7000.0);  // 7 J of each of 1000 tokens
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
  const decide::RowFacts& first = table.rows[0].facts;
  CHECK_THAT(*first.latency_s("ttft_p99"), WithinRel(0.120, 1e-12));
  CHECK_FALSE(table.rows[1].facts.latency_s("p50"));
  CHECK_THAT(first.price->value(), WithinRel(0.001, 1e-12));
  CHECK(table.rows[0].energy_j == 8.0 * 500.0 * 100.0);
  CHECK(first.layout.tensor == 2);
  CHECK(first.microbatches == 8.0);  // 64 sequences over 2 replicas of 4
  CHECK(decide::layout_text(table.rows[1].facts.layout) == "TP 2, PP 2, DP 4");
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
      parse_csv_table("nodes,gpus,time_s,mfu_pct,tokens_per_s\n1,8,10,40,100\n", "t.csv");
  CHECK(file.table.rows[0].count == 8);
  CHECK(file.ignored == std::vector<std::string>{"nodes", "mfu_pct"});
}

TEST_CASE("rows are chosen and columns renamed", "[decide]") {
  const std::string text = "size,load,T\n1B,1,10\n2B,1,20\n1B,2,6\n2B,2,11\n";
  const TableFile file =
      interpret_table(parse_csv(text, "t.csv"), {{"size=2B"}, {"load=p", "T=time_s"}});
  REQUIRE(file.table.rows.size() == 2);
  CHECK(file.table.rows[1].time.value == Seconds(11));
  CHECK(refused(text, "--where size=3B: no row has it; size is 1B, 2B", {{"size=3B"}, {}}));
  CHECK(refused(
      text, "--where model: no such column in t.csv; it has size, load, T", {{"model=3B"}, {}}));
  CHECK(refused(text, "--rename x: write it as COLUMN=VALUE", {{}, {"x"}}));
  CHECK(refused(text,
                "t.csv:3: count 1 stands already at t.csv:2; choose rows, as by --where 'size=1B'",
                {{}, {"T=time_s"}}));
}

TEST_CASE("repeats may have names", "[decide]") {
  const auto table = table_of("p,run,time_s\n1,a_01,10\n1,a_02,12\n");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].time.value == Seconds(11));
}

TEST_CASE("JSON tables are read the same way", "[decide]") {
  const auto table =
      parse_json_table(
          R"({"rows": [{"p": 1, "time_s": 800, "note": null}, {"p": 2, "time_s": 430.5}]})",
          "t.json")
          .table;
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[1].time.value == Seconds(430.5));
  CHECK_THROWS_AS(parse_json_table("[]", "t.json"), UserError);
  CHECK_THROWS_AS(parse_json_table("[1]", "t.json"), UserError);
  CHECK_THROWS_AS(parse_json_table(R"([{"p": 1, "time_s": 800)", "t.json"), UserError);
  CHECK_THROWS_AS(parse_json_table(R"([{"p": [1], "time_s": 800}])", "t.json"), UserError);
}
