// SPDX-License-Identifier: Apache-2.0
/// What the parts of a budget's report are made from.
#pragma once

#include "report/mfu/budget/budget_report.h"

#include <string>

namespace scaleworth::report {

struct BudgetView {
  const model::TrainingQuestion& question;
  const model::TrainingPlan& plan;
  const BudgetNames& names;
  std::string currency = "USD";
};

Document compose_budget(const BudgetView& view);
Verdict judge_budget(const BudgetView& view);
std::string budget_json(const BudgetView& view);

/// The best pair by each law.
Table pairs_table(const BudgetView& view);

}  // namespace scaleworth::report
