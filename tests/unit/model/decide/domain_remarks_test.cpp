// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/laws/domain_remarks.h"

#include "src/core/error.h"
#include "src/model/scaling/contention/law.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::decide;

namespace {

/// Times of s = 0.02, c = 0.001 up to 8 ranks; `factor` times as long beyond.
std::vector<DecisionRow> rows_to(int most, double factor) {
  std::vector<DecisionRow> rows;
  for (int count = 1; count <= most; count *= 2) {
    DecisionRow row;
    row.count = count;
    const double time = model::relative_time(0.02, 0.001, count) * (count > 8 ? factor : 1.0);
    row.time = {Seconds(time), {}};
    row.same_work = row.time;
    rows.push_back(row);
  }
  return rows;
}

bool says(const std::vector<std::string>& remarks, const std::string& text) {
  return remarks.size() == 1 && remarks.front().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a count beyond the domain that takes longer than predicted is a change of regime",
          "[decide]") {
  CHECK(says(domain_remarks(rows_to(16, 1.4), 8), "at 16, the first count beyond the domain of 8"));
  CHECK(says(domain_remarks(rows_to(16, 1.4), 8), "40 % longer"));
  CHECK(says(domain_remarks(rows_to(16, 1.02), 8), "+2.0 % against"));
}

TEST_CASE("without counts beyond the domain, or with few within, what is missing is said",
          "[decide]") {
  CHECK(says(domain_remarks(rows_to(8, 1.0), 8), "measure one count beyond it"));
  CHECK(says(domain_remarks(rows_to(16, 1.4), 2), "fewer than three counts"));
  std::vector<DecisionRow> far = rows_to(32, 1.4);
  far.erase(far.begin(), far.begin() + 4);
  CHECK(domain_remarks(far, 8).empty());
  CHECK_THROWS_AS(domain_remarks(far, 1), UserError);
}

TEST_CASE("tensor parallelism wider than the domain is named", "[decide]") {
  std::vector<DecisionRow> rows = rows_to(32, 1.0);
  rows.erase(rows.begin(), rows.begin() + 4);
  rows.back().facts.layout.tensor = 16;
  CHECK(says(domain_remarks(rows, 8), "at 32 tensor parallelism over 16 ranks leaves"));
}
