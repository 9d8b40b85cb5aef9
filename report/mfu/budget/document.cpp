// SPDX-License-Identifier: Apache-2.0
#include "report/document_parts.h"
#include "report/mfu/budget/budget_view.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

Column measure(const std::string& id, const std::string& header, int digits) {
  Column column{id, header, Role::measure, Unit::plain};
  column.digits = digits;
  return column;
}

std::vector<NextCommand> next_commands(const BudgetView& view) {
  const std::string command =
      view.names.command.empty() ? "scaleworth mfu --budget ..." : view.names.command;
  std::vector<NextCommand> next;
  if (view.names.model.empty()) {
    next.push_back({command + " --model ID", "what a given size would make of the budget"});
  }
  if (!view.question.means) {
    next.push_back({command + " --gpu ID --mfu 0.4 --price USD_PER_GPU_HOUR",
                    "what the budget costs, and how long it takes"});
  }
  next.push_back({command + " --format json", "every number"});
  return next;
}

}  // namespace

Table pairs_table(const BudgetView& view) {
  Table table{"pairs",
              "The best pair by each law",
              {{"law", "law", Role::parameter},
               measure("parameters_1e9", "parameters (10^9)", 4),
               measure("tokens_1e9", "tokens (10^9)", 4),
               measure("tokens_per_parameter", "tokens per parameter", 3),
               measure("loss", "loss (nats per token)", 4)}};
  for (const model::OptimalPair& pair : view.plan.pairs) {
    table.rows.push_back({{std::string(pair.approach),
                           number(pair.parameters * 1e-9),
                           number(pair.tokens * 1e-9),
                           number(pair.tokens / pair.parameters),
                           cell_or_absent(pair.loss)}});
  }
  for (const model::OptimalPair& pair : view.plan.pairs) {
    table.notes.push_back(fmt::format("{}: {}.", pair.approach, pair.source));
  }
  table.notes.push_back(
      "FLOPs = 6 x parameters x tokens: attention is left out, parameters are the active ones. "
      "Losses of different laws are not comparable, nor with those of other data and tokenizers.");
  return table;
}

Document compose_budget(const BudgetView& view) {
  Document document;
  document.title =
      document_title(view.names.tool_version, "how large a model, on how many tokens?");
  document.subtitle =
      "compute-optimal training of a dense decoder, FLOPs = 6 x parameters x tokens";
  document.intervals = false;
  document.verdict = judge_budget(view);
  document.sections.push_back({"pairs", "Pairs", {}, {}, {pairs_table(view)}});
  document.next = next_commands(view);
  return document;
}

}  // namespace scaleworth::report
