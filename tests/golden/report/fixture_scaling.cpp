// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/decision.h"
#include "tests/golden/report/fixture.h"

#include <cmath>

namespace scaleworth::report::fixture {
namespace {

using namespace model;

struct Cost {
  Collective collective;
  double alpha;  // s
  double rate;   // message bytes per second
  double bus;    // busbw / algbw at two ranks
};
constexpr Cost costs[] = {{Collective::all_reduce, 2.1e-6, 2.6e9, 1.0},
                          {Collective::all_gather, 1.6e-6, 6.1e9, 0.5},
                          {Collective::reduce_scatter, 2.4e-6, 4.4e9, 0.5},
                          {Collective::all_to_all, 1.7e-6, 5.6e9, 0.5},
                          {Collective::broadcast, 1.1e-6, 4.9e9, 1.0},
                          {Collective::send_receive, 0.9e-6, 5.2e9, 1.0}};

template <class Q>
Estimate<Q> estimate_around(double value, double below, double above, std::size_t samples = 21) {
  return {Q(value),
          Interval<Q>{Q(value * (1.0 - below / 100.0)), Q(value * (1.0 + above / 100.0))},
          samples};
}

CommunicationFit fit(const std::string& form, double alpha, double rate, double error) {
  CommunicationSegment segment{Bytes(8.0),
                               Bytes(67108864.0),
                               estimate_around<Seconds>(alpha, 4.0, 6.0),
                               estimate_around<SecondsPerByte>(1.0 / rate, 2.0, 2.5)};
  CommunicationFit of{form, {segment}, error, 0.6 * error};
  of.start = of.asymptote = segment;
  return of;
}

CollectiveResult collective(const Cost& cost, CollectiveMode mode, double speed) {
  CollectiveResult result;
  result.collective = cost.collective;
  result.mode = mode;
  result.ranks = 2;
  const double alpha = cost.alpha / speed;
  const double rate = cost.rate * (0.9 + 0.1 * speed);
  double ripple = 1.04;
  for (double bytes = 8.0; bytes <= 67108864.0; bytes *= 8.0) {
    const double time = (alpha + bytes / rate) * ripple;
    result.points.push_back({Bytes(bytes),
                             estimate_around<Seconds>(time, 1.4, 2.2),
                             BytesPerSecond(bytes / time),
                             BytesPerSecond(cost.bus * bytes / time)});
    ripple = 2.0 - ripple;
  }
  result.fits = {fit("alpha-beta", alpha, rate, 0.041), fit("curve", alpha, rate, 0.052)};
  return result;
}

std::map<Part, double> shares(double transfer, double wait) {
  return {{Part::compute, 1.0 - transfer - wait - 0.0395},
          {Part::optimizer, 0.0310},
          {Part::host, 0.0055},
          {Part::progress, 0.0021},
          {Part::exposed_transfer, transfer},
          {Part::exposed_wait, wait},
          {Part::unattributed, 0.0009}};
}

DecisionRow row(int ranks, std::int64_t batch, double step, double transfer, double wait) {
  DecisionRow result;
  result.count = ranks;
  result.facts.batch = static_cast<double>(batch);
  result.time = estimate_around<Seconds>(step, 0.6, 0.7);
  result.work = static_cast<double>(batch) * 64.0;
  result.throughput = *result.work / step;
  result.trained.final_loss = 5.91274;
  result.trained.ledger = ledgers(ranks, step, shares(transfer, wait));
  for (MeanLedger& rank : result.trained.ledger->ranks) {
    const double skew = rank.rank == Rank{0} ? 1.0 : 0.4;
    rank = ledgers(0, step, shares(transfer, wait * skew)).mean;
    rank.rank = Rank{static_cast<int>(&rank - result.trained.ledger->ranks.data())};
  }
  result.trained.mfu_measured = 0.61 * (1.0 - transfer - wait);
  return result;
}

ScalingLaw prediction(double compute, bool price) {
  ScalingLaw law;
  law.name = "measured parts";
  law.prediction = true;
  law.basis = {Finding(FindingId::stated,
                       "compute per sequence, alpha-beta of the gradient buckets and the spread of "
                       "2 ranks, assuming that links keep their rate at higher counts")};
  for (int ranks = 1; ranks <= 64; ++ranks) {
    const double k = ranks;
    const double step = compute / k + (ranks == 1 ? 0.0 : 1.5e-3 + 0.25e-3 * std::log2(k));
    const double spread = ranks <= 2 ? 0.8 : 2.0 + 4.0 * std::log2(k);
    const double efficiency = compute / (k * step);
    CurvePoint point{ranks,
                     estimate_around<Seconds>(step, spread, spread),
                     estimate_around<double>(efficiency, spread, spread),
                     std::nullopt,
                     ranks > 2};
    if (price) {
      point.cost_per_million_tokens = Dollars(0.048 / 3600.0 * k * step / 512.0 * 1e6);
    }
    if (ranks % 2 == 0) {
      const auto& half = law.curve[static_cast<std::size_t>(ranks / 2 - 1)];
      point.doubling = ratio(half.step, point.step);
    }
    law.curve.push_back(point);
  }
  law.fastest = 64;
  law.cost_optimal = 1;
  law.cost_optimal_range = Interval<int>{1, 1};
  return law;
}

ScalingLaw unidentified() {
  ScalingLaw law;
  law.name = "contention-coherency";
  law.basis = {
      Finding(FindingId::stated, "E(K) = 1/(1 + s(K-1) + c K(K-1)) fitted to the measured counts")};
  law.not_identifiable =
      Finding(FindingId::stated, "two counts determine one of them at most; measure a third count");
  return law;
}

}  // namespace

std::vector<CollectiveResult> collectives() {
  std::vector<CollectiveResult> result;
  for (const Cost& cost : costs) {
    result.push_back(collective(cost, CollectiveMode::isolated, 1.0));
    result.push_back(collective(cost, CollectiveMode::back_to_back, 1.6));
  }
  return result;
}

JobMeans ledgers(int ranks, double step, const std::map<Part, double>& shares) {
  JobMeans job;
  job.mean.step.mean = step;
  for (const auto& [part, share] : shares) job.mean.parts[index_of(part)].mean = step * share;
  job.ranks.assign(static_cast<std::size_t>(ranks), job.mean);
  for (int rank = 0; rank < ranks; ++rank)
    job.ranks[static_cast<std::size_t>(rank)].rank = Rank{rank};
  return job;
}

void add_decision(ScalingResult& result, bool price) {
  ScalingTable table;
  table.basis = TimeBasis::step;
  for (const DecisionRow& from : result.rows) {
    table.rows.push_back(from);
    if (!from.trained.ledger) continue;
    PartTimes times = from.trained.ledger->mean.part_times();
    for (auto& time : times)
      if (time == 0.0) time.reset();
    table.rows.back().parts_s = group_times(times);
  }
  table.work_noun = "tokens";
  DecisionRequest request;
  if (price) request.metrics.prices = Prices{DollarsPerSecond(0.048 / 3600.0), {}};
  result.decision = std::make_shared<Decision>(decide_table(table, request));
  result.rows = result.decision->rows;
}

std::vector<ScalingResult> scaling(bool price) {
  ScalingResult strong;
  strong.mode = BatchScaling::strong;
  strong.rows = {row(1, 8, 61.3e-3, 0.0, 0.0), row(2, 8, 33.5e-3, 0.051, 0.018)};
  strong.laws = {unidentified(), prediction(61.3e-3, price)};
  add_decision(strong, price);
  strong.quality = {
      true, Finding(FindingId::stated, "the loss agrees across counts (largest difference 2e-7)")};
  ScalingResult weak;
  weak.mode = BatchScaling::weak;
  weak.rows = {row(1, 8, 61.3e-3, 0.0, 0.0), row(2, 16, 64.9e-3, 0.038, 0.013)};
  add_decision(weak, price);
  weak.quality.note = Finding(FindingId::stated, "the batch differs, so losses are not compared");
  return {strong, weak};
}

}  // namespace scaleworth::report::fixture
