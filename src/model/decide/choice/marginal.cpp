// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/marginal.h"

#include <algorithm>
#include <cstdint>

namespace scaleworth::decide {
namespace {

constexpr double seconds_per_hour = 3600.0;

StepKind kind_of(Seconds saved, Dollars added) {
  const bool faster = saved.value() > 0.0;
  const bool dearer = added.value() > 0.0;
  if (faster) return dearer ? StepKind::paid : StepKind::free;
  return dearer ? StepKind::loss : StepKind::slower;
}

MarginalStep step_between(const DecisionRow& from, const DecisionRow& to) {
  MarginalStep step;
  step.from = from.count;
  step.to = to.count;
  step.speedup_gain = to.speedup.value - from.speedup.value;
  step.time_saved = from.same_work.value - to.same_work.value;
  step.cost_added = to.cost->value - from.cost->value;
  step.kind = kind_of(step.time_saved, step.cost_added);
  if (step.cost_added.value() > 0.0) {
    step.speedup_per_dollar = step.speedup_gain / step.cost_added.value();
  }
  if (step.kind == StepKind::paid) {
    step.dollars_per_hour_saved =
        step.cost_added.value() / (step.time_saved.value() / seconds_per_hour);
  }
  return step;
}

}  // namespace

const char* step_kind_name(StepKind kind) {
  switch (kind) {
    case StepKind::free:
      return "free";
    case StepKind::paid:
      return "paid";
    case StepKind::slower:
      return "slower and cheaper";
    case StepKind::loss:
      break;
  }
  return "slower and dearer";
}

std::vector<MarginalStep> marginal_steps(const std::vector<DecisionRow>& rows) {
  std::vector<MarginalStep> steps;
  const bool costed =
      std::all_of(rows.begin(), rows.end(), [](const DecisionRow& row) { return row.cost; });
  if (!costed) return steps;
  for (std::size_t i = 1; i < rows.size(); ++i) steps.push_back(step_between(rows[i - 1], rows[i]));
  return steps;
}

std::vector<DecisionRow> doublings(const std::vector<DecisionRow>& rows) {
  std::vector<DecisionRow> chosen;
  std::int64_t next = rows.empty() ? 1 : rows.front().count;
  for (const DecisionRow& row : rows) {
    while (next < row.count) next *= 2;
    if (row.count == next) chosen.push_back(row);
  }
  return chosen;
}

}  // namespace scaleworth::decide
