// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/budget/budget_report.h"

#include "report/mfu/budget/budget_view.h"

namespace scaleworth::report {

std::string render_budget(const model::TrainingQuestion& question,
                          const model::TrainingPlan& plan,
                          const BudgetNames& names,
                          const Telling& telling) {
  const BudgetView view{question, plan, names, telling.currency};
  const auto document = [&] { return compose_budget(view); };
  return tell_document({document,
                        document,
                        [&] { return budget_json(view); },
                        [] { return std::vector<Chart>{}; },
                        {"law"}},
                       telling);
}

}  // namespace scaleworth::report
