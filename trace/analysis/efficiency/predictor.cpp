// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/predictor.h"

#include "trace/analysis/for_each_index.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace scaleworth::trace {
namespace {

double length(const ReplayedRun& run, std::int64_t end) {
  return static_cast<double>(end - run.window->whole.start.count());
}

}  // namespace

Predictor::Predictor(const std::vector<ReplayedRun>& runs,
                     std::vector<Change> changes,
                     std::size_t at_once)
    : runs_(runs) {
  changes_.emplace_back();
  for (Change& change : changes) {
    if (std::find(changes_.begin(), changes_.end(), change) == changes_.end())
      changes_.push_back(std::move(change));
  }
  ends_.resize(changes_.size() * runs.size());
  for_each_index(
      ends_.size(),
      [&](std::size_t place) {
        ends_[place] = replay(runs_[place % runs_.size()].graph, changes_[place / runs_.size()]);
      },
      at_once);
}

double Predictor::recorded(const Change& change) const {
  double sum = 0.0;
  for (const ReplayedRun& run : runs_)
    if (const auto end = recorded_end(run.graph, change)) sum += length(run, *end);
  return sum;
}

double Predictor::replayed(const Change& change) const {
  const auto found = std::find(changes_.begin(), changes_.end(), change);
  if (found == changes_.end()) throw std::out_of_range("this change was not replayed");
  const auto first = static_cast<std::size_t>(found - changes_.begin()) * runs_.size();
  double sum = 0.0;
  for (std::size_t run = 0; run < runs_.size(); ++run)
    if (const auto& end = ends_[first + run]) sum += length(runs_[run], *end);
  return sum;
}

double Predictor::error() const {
  return replayed({}) / recorded({}) - 1.0;
}

double Predictor::ratio(const Change& change) const {
  const double before = change.on_time ? recorded(change) : replayed({});
  if (change.on_time && !(before > 0.0)) return 1.0;  // nobody is left to wait for it
  return std::clamp(replayed(change) / before, 0.0, 1.0);
}

}  // namespace scaleworth::trace
