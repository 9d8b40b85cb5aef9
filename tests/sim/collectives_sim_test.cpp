// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "src/core/run.h"
#include "src/model/collectives.h"
#include "src/model/laws/model_selection.h"
#include "tests/catch.h"
#include "tests/sim/sim_ranks.h"
#include "tests/sim/sim_run.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace scaleworth;
using namespace scaleworth::sim;

namespace {

const StoppingTarget quick{.relative_half_width = 0.01, .maximum_samples = 30};

Run sweep(SimRankGroup& group, Collective collective, CollectiveMode mode, int ranks) {
  Run run;
  for (double bytes = 8; bytes <= 256e6; bytes *= 2) {
    const auto measured = group.time_collective({collective, mode, Bytes(bytes), ranks}, quick);
    Point point;
    point.setting = {{Parameter::collective, std::string(key_of(collective))},
                     {Parameter::mode, std::string(key_of(mode))},
                     {Parameter::ranks, std::int64_t{ranks}},
                     {Parameter::message_bytes, static_cast<std::int64_t>(bytes)}};
    point.samples = {{Metric::time_s, measured.time_s}};
    probe_in(run, probe_name::comm_collectives).points.push_back(std::move(point));
  }
  return run;
}

model::CollectiveResult analysed(SimRankGroup& group,
                                 Collective collective = Collective::all_reduce,
                                 CollectiveMode mode = CollectiveMode::isolated,
                                 int ranks = 4) {
  return model::analyse_collectives(sweep(group, collective, mode, ranks)).at(0);
}

template <class T>
bool covers(const Estimate<T>& estimate, double truth) {
  return estimate.interval && estimate.interval->low.value() <= truth &&
         truth <= estimate.interval->high.value();
}

}  // namespace

TEST_CASE("alpha and beta of a simulated link are recovered from each collective", "[comm]") {
  SimRankGroup group(RankTruth{});
  // 4 ranks: hops and volume of a ring all-reduce are 6 and 1.5, of its halves 3 and 0.75, of a
  // binomial broadcast 2 and 2; one hop is 2 us and 0.2 ns/B.
  const std::vector<std::tuple<Collective, double, double>> known{
      {Collective::all_reduce, 12e-6, 0.3e-9},
      {Collective::all_gather, 6e-6, 0.15e-9},
      {Collective::reduce_scatter, 6e-6, 0.15e-9},
      {Collective::all_to_all, 6e-6, 0.15e-9},
      {Collective::broadcast, 4e-6, 0.4e-9},
      {Collective::send_receive, 2e-6, 0.2e-9}};
  for (const auto& [collective, alpha, beta] : known) {
    const model::CollectiveResult result = analysed(group, collective);
    const model::CommunicationSegment& line = result.fits.at(0).segments.at(0);
    CAPTURE(result.collective);
    CHECK_THAT(line.alpha.value.value(), WithinRel(alpha, 0.01));
    CHECK_THAT(line.beta.value.value(), WithinRel(beta, 0.01));
    CHECK(*result.fits[0].held_out_error < 0.01);
  }
}

TEST_CASE("back-to-back calls show the pipelined alpha and the same beta", "[comm]") {
  SimRankGroup group(RankTruth{});
  const auto result = analysed(group, Collective::all_reduce, CollectiveMode::back_to_back);
  CHECK_THAT(result.fits.at(0).segments.at(0).alpha.value.value(), WithinRel(6e-6, 0.01));
  CHECK_THAT(result.fits.at(0).segments.at(0).beta.value.value(), WithinRel(0.3e-9, 0.01));
}

TEST_CASE("a change of protocol is found and predicted across", "[comm]") {
  RankTruth truth;
  truth.protocols = {{1e-6, 1e-9}, {8e-6, 0.1e-9}};
  SimRankGroup group(truth);
  const auto result = analysed(group);
  const model::CommunicationFit& fit = result.fits.at(result.chosen);
  REQUIRE(fit.form == "curve");
  REQUIRE(fit.segments.size() == 2);
  for (const double bytes : {100.0, 3e3, 1e6, 1e8}) {
    CHECK_THAT(model::predict(fit, Bytes(bytes)).value.value(),
               WithinRel(group.collective_s(Collective::all_reduce, bytes, 4), 0.03));
  }
}

TEST_CASE("an all-reduce measured among 2 and 4 ranks predicts 8 ranks of the same ring",
          "[comm]") {
  RankTruth truth;
  truth.ranks = 8;
  SimRankGroup group(truth);
  const auto at = [&](int ranks) {
    return analysed(group, Collective::all_reduce, CollectiveMode::isolated, ranks);
  };
  const auto time = model::communication_model(Run{}, {at(2), at(4)}, {}).all_reduce();
  for (const double bytes : {64.0, 65536.0, 64e6}) {
    CHECK_THAT(time(Bytes(bytes), 8)->value.value(),
               WithinRel(group.collective_s(Collective::all_reduce, bytes, 8), 0.02));
  }
}

TEST_CASE("the 95 % intervals of alpha and beta cover the truth in at least 90 % of 200 repeats",
          "[comm][coverage]") {
  int alpha = 0;
  int beta = 0;
  for (int seed = 1; seed <= 200; ++seed) {
    RankTruth truth;
    truth.noise.seed = static_cast<std::uint64_t>(seed);
    SimRankGroup group(truth);
    const auto result = analysed(group);
    alpha += covers(result.fits.at(0).segments.at(0).alpha, 12e-6) ? 1 : 0;
    beta += covers(result.fits.at(0).segments.at(0).beta, 0.3e-9) ? 1 : 0;
  }
  CAPTURE(alpha, beta);
  CHECK(alpha >= 180);
  CHECK(beta >= 180);
}

TEST_CASE("a simulated step fills each rank's time without a gap and waits for the straggler",
          "[comm]") {
  SimRankGroup group(RankTruth{});
  probes::TrainingWork work;
  work.ranks = 4;
  work.straggler = probes::TrainingWork::Straggler{Rank{2}, 1.5};
  const auto measured = group.train(work);
  std::int64_t gaps_ns = 0;
  std::vector<std::int64_t> waited_ns(4, 0);
  for (const Span& span : measured.timeline.spans) {
    const std::int64_t duration = (span.end - span.start).count();
    gaps_ns += span.activity == Activity::step ? duration : -duration;
    if (span.activity == Activity::collective_wait) waited_ns[span.rank.index] += duration;
  }
  CHECK(gaps_ns == 0);
  for (const int rank : {0, 1, 3}) CHECK(waited_ns[rank] > 3 * waited_ns[2]);
}

TEST_CASE("each node meets every other once up to 16 nodes, and eight others above", "[pairs]") {
  for (const int nodes : {2, 3, 4, 7, 8, 16}) {
    std::set<std::pair<int, int>> met;
    for (const auto& round : probes::pair_rounds(nodes)) {
      std::set<int> busy;
      for (const auto& [a, b] : round) {
        CHECK(met.insert({a, b}).second);
        CHECK((busy.insert(a).second && busy.insert(b).second));
      }
    }
    CHECK(met.size() == static_cast<std::size_t>(nodes * (nodes - 1) / 2));
  }
  const auto rounds = probes::pair_rounds(64);
  REQUIRE(rounds.size() == 8);
  for (const auto& round : rounds) CHECK(round.size() == 32);
}

namespace {
using Fault = std::pair<int, std::optional<int>>;  // a node, or the way between two

std::vector<model::SlowLink> found_among(int nodes,
                                         const std::vector<Fault>& faults,
                                         std::mt19937_64& random) {
  std::normal_distribution<double> noise(0.0, 0.02);
  std::vector<model::PairTime> pairs;
  for (const auto& round : probes::pair_rounds(nodes)) {
    for (const std::pair<int, int>& pair : round) {
      const int a = pair.first;
      const int b = pair.second;
      double time = 8e-3 * std::exp(noise(random));
      const bool slow = std::ranges::any_of(faults, [&](const Fault& fault) {
        return fault.second ? fault == Fault{a, b} : fault.first == a || fault.first == b;
      });
      pairs.push_back({a, b, Seconds(slow ? 1.25 * time : time)});  // a rate 20 % lower
    }
  }
  return model::find_slow_links(pairs);
}
}  // namespace

TEST_CASE("one or two nodes at four fifths of their rate are named among 4 to 64 in 95 of 100",
          "[pairs]") {
  constexpr int trials = 200;
  std::mt19937_64 random(7);
  for (const int nodes : {4, 8, 16, 64}) {
    for (const std::size_t count : {0, 1, 2}) {
      int right = 0;
      for (int trial = 0; trial < trials; ++trial) {
        std::vector<Fault> faults;
        while (faults.size() < count) {
          const Fault next{static_cast<int>(random() % static_cast<unsigned>(nodes)), {}};
          if (std::ranges::count(faults, next) == 0) faults.push_back(next);
        }
        std::ranges::sort(faults);
        std::vector<Fault> named;
        for (const auto& slow : found_among(nodes, faults, random))
          named.emplace_back(slow.node, slow.other);
        right += named == faults ? 1 : 0;
      }
      INFO(nodes << " nodes, " << count << " faults: " << right);
      CHECK(right >= 0.95 * trials);
    }
  }
}

TEST_CASE("a slow way between two sound nodes is named as such", "[pairs]") {
  constexpr int trials = 200;
  std::mt19937_64 random(8);
  for (const int nodes : {4, 8, 16}) {
    int right = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const auto named = found_among(nodes, {{1, 3}}, random);
      right += named.size() == 1 && named[0].node == 1 && named[0].other == 3 ? 1 : 0;
    }
    INFO(nodes << " nodes: " << right);
    CHECK(right >= 0.95 * trials);
  }
}

TEST_CASE("two faults of both kinds, anywhere, are told apart in 95 of 100", "[pairs]") {
  constexpr int trials = 200;
  std::mt19937_64 random(9);
  const auto below = [&](std::size_t count) { return random() % count; };
  for (const int nodes : {4, 6, 8, 13, 16, 24, 64}) {
    // A way that no round of more than 16 nodes uses cannot be seen.
    std::vector<std::pair<int, int>> met;
    for (const auto& round : probes::pair_rounds(nodes))
      met.insert(met.end(), round.begin(), round.end());
    for (const bool two_ways : {false, true}) {
      int right = 0;
      for (int trial = 0; trial < trials; ++trial) {
        const auto way = met[below(met.size())];
        std::vector<Fault> faults{{way.first, way.second}};
        while (faults.size() < 2) {
          const auto other = met[below(met.size())];
          const auto node = static_cast<int>(below(static_cast<std::size_t>(nodes)));
          if (two_ways && other != way) faults.emplace_back(other.first, other.second);
          if (!two_ways && node != way.first && node != way.second)
            faults.emplace_back(node, std::nullopt);
        }
        std::set<Fault> named;
        for (const auto& slow : found_among(nodes, faults, random))
          named.emplace(slow.node, slow.other);
        right += named == std::set<Fault>(faults.begin(), faults.end()) ? 1 : 0;
      }
      INFO(nodes << " nodes, " << (two_ways ? "two ways: " : "a node and a way: ") << right);
      CHECK(right >= 0.95 * trials);
    }
  }
}
