// SPDX-License-Identifier: Apache-2.0
/// Published tables as they were found: byte-order marks, CRLF, index columns, headers of others.
#include "src/cli/input/table_input.h"
#include "src/core/error.h"
#include "src/model/decision/decision.h"
#include "tests/catch.h"
#include "tests/skip.h"

#include <filesystem>

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {

/// The path of a published table; absent, with the reason on the output (ctest then shows the
/// program as skipped), without it.
std::optional<std::string> published(const std::string& name) {
  const auto path =
      std::filesystem::path(SOURCE_DIRECTORY) / ".." / "shared" / "data" / "models" / name;
  if (std::filesystem::exists(path)) return path.string();
  tests::skip("no published table at " + path.string());
  return std::nullopt;
}

std::string refusal(const std::string& path, const TableSelection& selection = {}) {
  try {
    read_table(path, selection);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("iteration times of many layouts: one is chosen", "[decide]") {
  const auto path = published("vtrain_ground_truth_single.csv");
  if (!path) return;
  CHECK(refusal(*path).find("; they differ in '") != std::string::npos);
  const TableFile file = read_table(*path,
                                    {{"global batch=32",
                                      "micro batch=4",
                                      "hidden size=1024",
                                      "# layers=24",
                                      "tensor parallelism=2",
                                      "pipeline parallelism=2",
                                      "data parallelism=2",
                                      "attention heads=16",
                                      "sequence length=1024"},
                                     {}});
  REQUIRE(file.table.rows.size() == 1);
  CHECK_THAT(file.table.rows[0].time.value.value(), WithinRel(0.219732754, 1e-9));
  CHECK(file.table.rows[0].facts.microbatches == 4.0);
}

TEST_CASE("a published layout that does not multiply to its count is found", "[decide]") {
  const auto path = published("llama3_405b_table4.csv");
  if (!path) return;
  CHECK(refusal(*path).ends_with(
      "llama3_405b_table4.csv:4: the layout is TP 8 x PP 16 x CP 16 x DP 4 = 8192, not the count "
      "16384; correct one of them"));
  const TableFile file = read_table(*path, {{"CP=1"}, {}});
  REQUIRE(file.table.rows.size() == 2);
  CHECK(file.table.rows[0].facts.batch == 2048.0);  // 32 sequences on each of 64 replicas
}

TEST_CASE("throughputs of slices and of a load are times of units of work", "[decide]") {
  const auto slices = published("maxtext_v5e_multislice_weak.csv");
  const auto load = published("usl_specsdm91.csv");
  if (!slices || !load) return;
  const auto weak = read_table(*slices, {{"params=16B"}, {}}).table;
  REQUIRE(weak.rows.size() == 6);
  CHECK(weak.basis == model::TimeBasis::work_unit);
  const auto rows = model::decision_rows(weak, {});
  CHECK_THAT(rows.back().efficiency.value, WithinRel(0.9, 1e-9));  // 108 of 120 TF/s a chip
  const auto users = read_table(*load).table;
  CHECK(users.axis == model::Axis::load);
  CHECK_THAT(*model::decision_rows(users, {})[0].throughput, WithinRel(64.9, 1e-9));
}

TEST_CASE("models of different size on more GPUs are compared by their FLOPs", "[decide]") {
  const auto path = published("megatron_sc21_table1.csv");
  if (!path) return;
  const auto table = read_table(*path).table;
  // 137 TF/s on each of 32 GPUs, 163 on each of 3072.
  const auto rows = model::decision_rows(table, {});
  CHECK_THAT(rows.back().efficiency.value, WithinRel(163.0 / 137.0, 1e-9));
  CHECK(table.growing_models);
  CHECK(table.warnings.empty());
}

TEST_CASE("repeats with names are one count, with their interval", "[decide]") {
  const auto path = published("mlperf_power_runs.csv");
  if (!path) return;
  const TableFile file =
      read_table(*path,
                 {{"benchmark=llama2_70b_lora", "submitter=smc-ac-power", "round=v4.0"},
                  {"n_metered_files=nodes"}});
  REQUIRE_FALSE(file.table.rows.empty());
  CHECK(file.table.axis == model::Axis::nodes);
  CHECK(file.table.rows[0].energy_j);
  CHECK(file.table.rows[0].time.interval);
}
