// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/predictor.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

double length(const ReplayedRun& run, std::int64_t end) {
  return static_cast<double>(end - run.window->whole.start.count());
}

}  // namespace

Predictor::Predictor(const std::vector<ReplayedRun>& runs)
    : runs_(runs), unchanged_(replayed({})) {}

double Predictor::replayed(const Change& change) const {
  double sum = 0.0;
  for (const ReplayedRun& run : runs_)
    if (recorded_end(run.graph, change)) sum += length(run, replay(run.graph, change));
  return sum;
}

double Predictor::error() const {
  double recorded = 0.0;
  for (const ReplayedRun& run : runs_)
    if (const auto end = recorded_end(run.graph, {})) recorded += length(run, *end);
  return unchanged_ / recorded - 1.0;
}

double Predictor::ratio(const Change& change) const {
  return std::clamp(replayed(change) / unchanged_, 0.0, 1.0);
}

double Predictor::ratio_on_time(std::uint32_t rank) const {
  Change on_time;
  on_time.on_time = rank;
  double recorded = 0.0;
  for (const ReplayedRun& run : runs_)
    if (const auto end = recorded_end(run.graph, on_time)) recorded += length(run, *end);
  if (!(recorded > 0.0)) return 1.0;  // nobody is left to wait for it
  return std::clamp(replayed(on_time) / recorded, 0.0, 1.0);
}

}  // namespace scaleworth::trace
