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
  return {form, {segment}, error, 0.6 * error};
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

std::vector<StepShare> shares(double step, double transfer, double wait) {
  const double rest = 1.0 - transfer - wait;
  const std::pair<const char*, double> parts[] = {{"compute", rest - 0.0395},
                                                  {"optimizer", 0.0310},
                                                  {"host", 0.0055},
                                                  {"progress", 0.0021},
                                                  {"exposed_transfer", transfer},
                                                  {"exposed_wait", wait},
                                                  {"unattributed", 0.0009}};
  std::vector<StepShare> result;
  for (const auto& [part, share] : parts) {
    result.push_back({part, Seconds(step * share), share});
  }
  return result;
}

ScalingRow row(int ranks, std::int64_t batch, double step, double transfer, double wait) {
  ScalingRow result;
  result.ranks = ranks;
  result.global_batch = batch;
  result.step = estimate_around<Seconds>(step, 0.6, 0.7);
  result.tokens = static_cast<double>(batch) * 64.0;
  result.tokens_per_second = result.tokens / step;
  result.final_loss = 5.91274;
  result.shares = shares(step, transfer, wait);
  for (int rank = 0; rank < ranks; ++rank) {
    const double skew = rank == 0 ? 1.0 : 0.4;
    result.per_rank.push_back({rank, shares(step, transfer, wait * skew)});
  }
  result.mfu_measured = 0.61 * (1.0 - transfer - wait);
  return result;
}

ScalingLaw prediction(double compute, bool price) {
  ScalingLaw law;
  law.name = "measured parts";
  law.prediction = true;
  law.basis =
      "compute per sequence, alpha-beta of the gradient buckets and the spread of 2 ranks, "
      "assuming "
      "that links keep their rate at higher counts";
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
  law.basis = "E(K) = 1/(1 + s(K-1) + c K(K-1)) fitted to the measured counts";
  law.not_identifiable = "two counts determine one of them at most; measure a third count";
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

void add_decision(ScalingResult& result, bool price) {
  model::ScalingTable table;
  table.basis = model::TimeBasis::step;
  for (const ScalingRow& from : result.rows) {
    model::TableRow row;
    row.count = from.ranks;
    row.time = from.step;
    if (from.tokens > 0.0) row.work = from.tokens;
    for (const StepShare& share : from.shares) {
      const bool compute = share.part == "compute" || share.part == "optimizer";
      const bool communication = share.part == "progress" || share.part == "exposed_transfer";
      const auto part = compute                ? PartGroup::compute
                        : communication        ? PartGroup::communication
                        : share.part == "host" ? PartGroup::host
                                               : PartGroup::idle;
      auto& time = row.parts_s[index_of(part)];
      time = time.value_or(0.0) + share.time.value();
    }
    table.rows.push_back(row);
  }
  table.work_noun = "tokens";
  model::DecisionRequest request;
  if (price) request.metrics.prices = Prices{DollarsPerSecond(0.048 / 3600.0), {}};
  result.decision = std::make_shared<model::Decision>(model::decide_table(table, request));
  for (ScalingRow& row : result.rows) {
    const model::DecisionRow& decided = result.decision->row(row.ranks);
    row.speedup = decided.speedup;
    row.efficiency = decided.efficiency;
    if (!price) continue;
    row.cost_per_million_tokens = *decided.cost_per_work * 1e6;
    row.cost_per_run = *decided.cost_per_work * 1e9;
    row.cost_plateau = row.ranks == 1;
  }
}

std::vector<ScalingResult> scaling(bool price) {
  ScalingResult strong;
  strong.mode = "strong";
  strong.rows = {row(1, 8, 61.3e-3, 0.0, 0.0), row(2, 8, 33.5e-3, 0.051, 0.018)};
  strong.laws = {unidentified(), prediction(61.3e-3, price)};
  add_decision(strong, price);
  strong.quality_held = true;
  strong.quality_note = "the loss agrees across counts (largest difference 2e-7)";
  ScalingResult weak;
  weak.mode = "weak";
  weak.rows = {row(1, 8, 61.3e-3, 0.0, 0.0), row(2, 16, 64.9e-3, 0.038, 0.013)};
  add_decision(weak, price);
  weak.quality_note = "the batch differs, so losses are not compared";
  return {strong, weak};
}

}  // namespace scaleworth::report::fixture
