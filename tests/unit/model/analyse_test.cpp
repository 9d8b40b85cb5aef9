// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/analysis.h"
#include "src/model/decision/decision.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/scaling_run.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;
using scaleworth::testing::priced;
using scaleworth::testing::probe;
using scaleworth::testing::whole_run;

namespace {}  // namespace

TEST_CASE("a whole run gives rows, laws, cause, cost and MFU", "[analyse]") {
  const Analysis analysis = analyse(whole_run(), priced());
  REQUIRE(analysis.roofline);
  REQUIRE(analysis.scaling.size() == 1);
  const ScalingResult& strong = analysis.scaling.front();
  REQUIRE(strong.rows.size() == 2);
  CHECK(strong.quality.held);
  REQUIRE(strong.laws.size() == 2);
  CHECK(strong.laws[0].next_count == 4);
  CHECK(strong.laws[1].prediction);
  REQUIRE(strong.decision->diagnosis.cause);
  CHECK(strong.decision->diagnosis.cause->owner == Cause::communication);
  // 1024e6 FLOPs in 25 ms are 40.96 GFLOP/s: of 200 measured and of 400 nominal.
  CHECK_THAT(*strong.rows[1].trained.mfu_measured, WithinRel(0.2048, 1e-6));
  CHECK_THAT(*strong.rows[1].trained.mfu_peak, WithinRel(0.1024, 1e-6));
}

TEST_CASE("rows cost ranks times price times time per token", "[analyse]") {
  const Analysis analysis = analyse(whole_run(), priced());
  const auto& rows = analysis.scaling.front().rows;
  // $.001 per rank-second: 1e6/1024 * .040 s = 39.06 s -> $.03906; 2 * 24.41 s -> $.04883.
  CHECK_THAT(rows[0].cost_per_work->value(), WithinRel(0.0390625e-6, 1e-9));
  CHECK_THAT(rows[1].cost_per_work->value(), WithinRel(0.048828125e-6, 1e-9));
  REQUIRE(analysis.scaling.front().decision->choice);
  CHECK(analysis.scaling.front().decision->choice->cheapest == 1);
  CHECK(analysis.scaling.front().decision->choice->plateau == std::vector<int>{1});
}

namespace {
void add_all_reduces(Run& run, int ranks, double latency, double per_byte) {
  for (double bytes = 1024; bytes <= 16e6; bytes *= 2) {
    Point point;
    point.setting = {{Parameter::collective, std::string("all_reduce")},
                     {Parameter::mode, std::string("isolated")},
                     {Parameter::ranks, std::int64_t{ranks}},
                     {Parameter::message_bytes, static_cast<std::int64_t>(bytes)}};
    point.samples = {{Metric::time_s, std::vector<double>(7, latency + bytes * per_byte)}};
    probe(run, probe_name::comm_collectives).points.push_back(point);
  }
}

Run placed_run(std::optional<RankPlacement> placement) {
  Run run = whole_run();
  run.environment = {{"cpu", {{"cores", std::int64_t{4}, "hwloc"}}}};
  run.placement = placement;
  add_all_reduces(run, 2, 1e-5, 1e-9);
  return run;
}

double step_at(const ScalingLaw& law, std::size_t ranks) {
  return law.curve.at(ranks - 1).step.value.value();
}
}  // namespace

TEST_CASE("the prediction uses the measured all-reduce of the run", "[analyse]") {
  Run run = whole_run();
  add_all_reduces(run, 2, 1e-5, 1e-9);
  const Analysis analysis = analyse(run, {});
  REQUIRE(analysis.collectives.size() == 1);
  const ScalingLaw& law = analysis.scaling.front().laws[1];
  CHECK(std::get<std::vector<Finding>>(law.basis.at(0).arguments.at(1).value).front().id !=
        FindingId::transfer_by_traffic);
  CHECK(law.reproduces_measured);
  // Ring of four buckets of 1 MB: alpha 10 us x (K-1), beta 1 ns/B x 2 (K-1)/K; the 5 ms that were
  // exposed of 4 (.01 + 1) ms grow to 5 * (.03 + 1.5) / 1.01 = 7.57 ms at K = 4, next to 10 ms
  // of compute.
  CHECK_THAT(law.curve[3].step.value.value(), WithinRel(0.01757, 0.01));
}

TEST_CASE("a prediction ends with the node whose links alone were measured", "[analyse]") {
  const ScalingLaw law =
      analyse(placed_run(RankPlacement{2, 1, false}), {}).scaling.front().laws[1];
  CHECK(law.curve.size() == 4);  // the node's cores
  REQUIRE(law.basis.size() == 2);
  CHECK(law.basis[1] == Finding(FindingId::curve_ends_at_links, 4));
  // A run that does not say where its ranks were has no such end.
  CHECK(analyse(placed_run(std::nullopt), {}).scaling.front().laws[1].curve.size() == 64);
}

TEST_CASE("counts within a node and beyond it are predicted from their own links", "[analyse]") {
  Run run = placed_run(RankPlacement{8, 2, false});
  add_all_reduces(run, 8, 1e-3, 1e-8);
  const ScalingLaw law = analyse(run, {}).scaling.front().laws[1];
  REQUIRE(law.curve.size() == 64);
  // Four buckets of 1 MB by the fit of 2 ranks and, beyond four, by that of 8 on two nodes: alpha
  // of N nodes between its own and (N-1) times that, beta 8 (K-1)/(7 K); all stretched by the 5 ms
  // exposed of 4.04 at 2 ranks.
  CHECK_THAT(step_at(law, 4), WithinRel(0.010 + 5e-3 * (0.03 + 1.5) / 1.01, 0.01));
  const double beyond = 4.0 * (1e-3 * std::sqrt(3.0) + 1e-2 * 8 * 15 / (7 * 16));
  CHECK_THAT(step_at(law, 16), WithinRel(0.0025 + beyond * 5.0 / 4.04, 0.01));
}

TEST_CASE("no price means no cost and no K*", "[analyse]") {
  const Analysis analysis = analyse(whole_run(), {});
  CHECK_FALSE(analysis.scaling.front().decision->choice);
  CHECK_FALSE(analysis.scaling.front().rows[0].cost_per_work);
  CHECK_FALSE(analysis.scaling.front().laws[1].cost_optimal);
  CHECK_FALSE(analysis.scaling.front().rows[0].trained.mfu_peak);
}

TEST_CASE("a strong prediction ends where a rank would have no sequence", "[analyse]") {
  Run run = whole_run();
  for (Point& point : probe(run, probe_name::step_training).points) {
    point.setting.set(Parameter::global_batch_sequences, std::int64_t{8});
  }
  const ScalingLaw law = analyse(run, {}).scaling.front().laws[1];
  CHECK(law.curve.size() == 8);
  CHECK(law.basis.back() == Finding(FindingId::curve_ends_at_batch, 8, 8));
}

TEST_CASE("a run with nothing measured gives an empty analysis", "[analyse]") {
  const Analysis analysis = analyse(Run{}, {});
  CHECK_FALSE(analysis.roofline);
  CHECK(analysis.collectives.empty());
  CHECK(analysis.scaling.empty());
}

TEST_CASE("a negative price is refused", "[analyse]") {
  AnalysisOptions options;
  options.price_per_rank = dollars_per_hour(-1);
  CHECK_THROWS_AS(analyse(whole_run(), options), UserError);
}
