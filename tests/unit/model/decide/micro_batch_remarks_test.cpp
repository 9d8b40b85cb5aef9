// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/laws/micro_batch_remarks.h"

#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::decide;

namespace {

std::vector<DecisionRow> rows_with(const std::vector<std::pair<int, double>>& micro_batches) {
  std::vector<DecisionRow> rows;
  for (const auto& [count, number] : micro_batches) {
    DecisionRow row;
    row.count = count;
    row.facts.microbatches = number;
    row.facts.layout.pipeline = 8;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("fewer micro-batches than pipeline stages are a change of regime", "[decide]") {
  const auto remarks =
      micro_batch_remarks(rows_with({{64, 16}, {128, 8}, {256, 4}}), Scaling::weak);
  REQUIRE(remarks.size() == 1);
  CHECK(remarks.front().find("at 256 a replica has 4 micro-batches for 8") != std::string::npos);
  CHECK(micro_batch_remarks(rows_with({{64, 16}, {128, 8}}), Scaling::weak).empty());
}

TEST_CASE("a fixed batch ends where one micro-batch is left", "[decide]") {
  const auto remarks = micro_batch_remarks(rows_with({{64, 32}, {128, 16}}), Scaling::strong);
  REQUIRE(remarks.size() == 1);
  CHECK(remarks.front().find("2048 ranks are the most") != std::string::npos);
  CHECK(micro_batch_remarks({DecisionRow{}}, Scaling::strong).empty());
}
