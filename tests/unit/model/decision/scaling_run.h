// SPDX-License-Identifier: Apache-2.0
/// Small runs with training steps and ledgers for tests of the scaling model.
#pragma once

#include "src/core/run.h"
#include "src/core/step_ledger.h"
#include "src/model/analysis.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::testing {

/// One rank's ledger in milliseconds, the same in every step.
struct LedgerTimes {
  double compute = 0.0;
  double optimizer = 0.0;
  double host = 0.0;
  double progress = 0.0;
  double transfer = 0.0;
  double wait = 0.0;
  double unattributed = 0.0;
  std::map<int, double> waited_for;
};

/// One mode and count: `tokens` of all ranks, step times in milliseconds.
struct TrainingPoint {
  std::string mode = "strong";
  int ranks = 1;
  double tokens = 1024.0;
  std::vector<double> step_ms;
  std::vector<double> loss;
  std::vector<LedgerTimes> ledger;  // by rank
};

inline ProbeRecord& probe(Run& run, const std::string& name) {
  for (ProbeRecord& record : run.probes) {
    if (record.name == name) return record;
  }
  run.probes.push_back({});
  run.probes.back().name = name;
  run.probes.back().status = ProbeStatus::measured;
  return run.probes.back();
}

inline void add_ledger(Run& run, const TrainingPoint& at, int rank) {
  const LedgerTimes& times = at.ledger[static_cast<std::size_t>(rank)];
  const std::size_t steps = at.step_ms.size();
  Point point;
  point.setting = {{Parameter::scaling, at.mode},
                   {Parameter::ranks, std::int64_t{at.ranks}},
                   {Parameter::rank, std::int64_t{rank}}};
  const auto constant = [&](double ms) { return std::vector<double>(steps, ms * 1e6); };
  point.samples[metric_of(Part::compute)] = constant(times.compute);
  point.samples[metric_of(Part::optimizer)] = constant(times.optimizer);
  point.samples[metric_of(Part::host)] = constant(times.host);
  point.samples[metric_of(Part::progress)] = constant(times.progress);
  point.samples[metric_of(Part::exposed_transfer)] = constant(times.transfer);
  point.samples[metric_of(Part::exposed_wait)] = constant(times.wait);
  point.samples[metric_of(Part::unattributed)] = constant(times.unattributed);
  point.samples[Metric::step_ns] =
      constant(times.compute + times.optimizer + times.host + times.progress + times.transfer +
               times.wait + times.unattributed);
  probe(run, probe_name::step_ledger).points.push_back(point);
  for (const auto& [straggler, ms] : times.waited_for) {
    Point wait;
    wait.setting = point.setting;
    wait.setting.set(Parameter::waited_for, std::int64_t{straggler});
    wait.samples[Metric::wait_ns] = constant(ms);
    probe(run, probe_name::step_ledger).points.push_back(wait);
  }
}

inline void add_training(Run& run, const TrainingPoint& at) {
  Point point;
  point.setting = {{Parameter::scaling, at.mode},
                   {Parameter::ranks, std::int64_t{at.ranks}},
                   {Parameter::global_batch_sequences, std::int64_t{64}}};
  point.amounts = {{Metric::tokens, at.tokens},
                   {Metric::model_flops, at.tokens * 1e6},
                   {Metric::gradient_bytes, 4e6},
                   {Metric::bucket_count, 4.0}};
  point.samples[Metric::step_s] = {};
  for (const double ms : at.step_ms) point.samples[Metric::step_s].push_back(ms * 1e-3);
  point.samples[Metric::loss] = at.loss;
  probe(run, probe_name::step_training).points.push_back(point);
  for (std::size_t rank = 0; rank < at.ledger.size(); ++rank) {
    add_ledger(run, at, static_cast<int>(rank));
  }
}

/// Steps that scatter by `spread` (relative) around `centre`, symmetrically: nine of them, in an
/// order without trend.
inline std::vector<double> scattered(double centre, double spread = 0.002) {
  std::vector<double> steps;
  for (int i = 0; i < 9; ++i) steps.push_back(centre * (1.0 + spread * (5 * i % 9 - 4) / 4.0));
  return steps;
}

inline void add_ceiling(Run& run, std::int64_t workers, double wall_s) {
  Point point;
  point.setting = {{Parameter::isa, std::string("avx2")},
                   {Parameter::precision, std::string("fp32")},
                   {Parameter::workers, workers}};
  point.amounts = {{Metric::flops, 1e9}};
  point.samples = {{Metric::wall_s, std::vector<double>(7, wall_s)},
                   {Metric::cpu_s, std::vector<double>(7, wall_s * static_cast<double>(workers))}};
  probe(run, probe_name::roofline_compute).points.push_back(point);
}

/// Two workers of 100 GFLOP/s; strong scaling 40 -> 25 ms with a transfer of 5 ms.
inline Run whole_run() {
  Run run;
  run.complete = true;
  add_ceiling(run, 1, 0.01);
  add_ceiling(run, 2, 0.005);
  const LedgerTimes pair{20, 0, 0, 0, 5, 0, 0, {}};
  add_training(run, {"strong", 1, 1024, scattered(40), {2}, {{40, 0, 0, 0, 0, 0, 0, {}}}});
  add_training(run, {"strong", 2, 1024, scattered(25), {2}, {pair, pair}});
  return run;
}

inline model::AnalysisOptions priced() {
  model::AnalysisOptions options;
  options.price_per_rank = dollars_per_hour(3.6);
  options.peak_per_rank = FlopPerSecond(200e9);
  return options;
}

}  // namespace scaleworth::testing
