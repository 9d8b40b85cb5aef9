// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/sim/trace/job_generator.h"
#include "trace/attribute.h"
#include "trace/recording.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

Job ranks_of(const std::vector<std::optional<std::int32_t>>& ranks) {
  Job job;
  for (const auto& rank : ranks) job.recordings.emplace_back().origin.rank = rank;
  return job;
}

/// Of eight ranks, rank 5 of which is late, only 0, 1, 3, 5 and 7 left recordings.
Job with_gaps() {
  sim::JobTruth truth;
  truth.cause = LateCause::slower_kernels;
  truth.straggler = 5;
  truth.late_ns = 400e3;
  Job job = sim::generate_job(truth).job;
  for (const int missing : {6, 4, 2}) job.recordings.erase(job.recordings.begin() + missing);
  job.recordings[2].remarks = {{FindingId::stated, "its clock was set"}};
  return job;
}

template <typename Items>
std::vector<int> ranks_in(const Items& items) {
  std::vector<int> ranks;
  for (const auto& item : items)
    if (std::find(ranks.begin(), ranks.end(), item.rank.index) == ranks.end())
      ranks.push_back(item.rank.index);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

TEST_CASE("Recordings are the ranks that they say, when those ascend") {
  const RankNumbers numbers(ranks_of({0, 1, 3, 9}));
  CHECK(numbers.at(Place{2}) == Rank{3});
  CHECK(numbers.place_of(Rank{9}) == Place{3});
  CHECK_FALSE(numbers.place_of(Rank{2}).has_value());
  CHECK(numbers.names({Place{0}, Place{1}, Place{3}}) == "ranks 0-1 and 9");
}

TEST_CASE("Recordings without a rank, with an impossible one or out of order count by place") {
  using Ranks = std::vector<std::optional<std::int32_t>>;
  for (const Ranks& ranks : {Ranks{0, std::nullopt}, Ranks{3, 3}, Ranks{5, 2}, Ranks{-1, 4}}) {
    const RankNumbers numbers(ranks_of(ranks));
    CHECK(numbers.at(Place{0}) == Rank{0});
    CHECK(numbers.at(Place{1}) == Rank{1});
  }
}

TEST_CASE("Where ranks are missing, every result names the ranks of the job") {
  const Attribution result = attribute(with_gaps()).result;
  const std::vector<int> all{0, 1, 3, 5, 7};
  CHECK(ranks_in(result.recordings) == all);
  CHECK(ranks_in(result.ledger) == all);
  CHECK(ranks_in(result.clocks.ranks) == all);
  REQUIRE_FALSE(result.collectives.empty());
  for (const CollectiveWait& one : result.collectives) {
    CHECK(ranks_in(one.participants) == all);
    CHECK(one.last_arriver.value_or(Rank{5}) == Rank{5});
  }
  REQUIRE(result.stragglers.stragglers.size() == 1);
  CHECK(result.stragglers.finding == StragglerFinding::named);
  const Straggler& straggler = result.stragglers.stragglers.front();
  CHECK(straggler.rank == Rank{5});
  CHECK(straggler.unit == "rank 5");
  REQUIRE(result.efficiency.has_value());
  CHECK(result.efficiency->what_if.front().units == std::vector<std::string>{"rank 5"});
  CHECK(rank_at(result, Place{3}) == Rank{5});
  CHECK(pair_wait(result.stragglers, Rank{0}, Rank{5}).exposed.count() > 0);
  CHECK(std::ranges::count(
            result.remarks,
            Finding(FindingId::rank_says, 3, Finding(FindingId::stated, "its clock was set"))) ==
        1);
}

}  // namespace
}  // namespace scaleworth::trace
