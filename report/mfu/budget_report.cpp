// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_report.h"

namespace scaleworth::report {
namespace {
std::vector<NextCommand> next_commands(const BudgetView& view) {
  const std::string& typed = view.options.command;
  const std::string command = typed.empty() ? "scaleworth mfu --budget ..." : typed;
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

Table pairs_table(const BudgetView& view) {
  using Pair = OptimalPair;
  std::vector<std::string> notes = mapped(view.answer.pairs, [](const Pair& pair) {
    return fmt::format("{}: {}.", pair.approach, pair.source);
  });
  const std::vector<ColumnOf<Pair>> columns{
      {parameter("law", "law"), &Pair::approach},
      {measure("parameters_1e9", "parameters (10^9)").with_digits(4),
       [](const Pair& pair) { return pair.parameters * 1e-9; }},
      {measure("tokens_1e9", "tokens (10^9)").with_digits(4),
       [](const Pair& pair) { return pair.tokens * 1e-9; }},
      {measure("tokens_per_parameter", "tokens per parameter"),
       [](const Pair& pair) { return pair.tokens / pair.parameters; }},
      {measure("loss", "loss (nats per token)").with_digits(4), &Pair::loss}};
  Table table = make_table(
      "pairs", "The best pair by each law", view.answer.pairs, columns, std::move(notes));
  table.tiles = {{0, "parameters_1e9", "Parameters", "", "law"},
                 {0, "tokens_1e9", "Tokens", "", "law"},
                 {0, "tokens_per_parameter", "Tokens per parameter", "", "law"}};
  return table;
}

/// Beyond this the laws are extrapolated further than they were ever held against data.
constexpr double far_beyond = 4.0;

/// "7.12e23".
std::string flops_text(Flops flops) {
  std::string text = fmt::format("{:.3g}", flops.value());
  text.erase(std::remove(text.begin(), text.end(), '+'), text.end());
  return text;
}

/// "40.3 to 72.2 billion", or with both units where they differ.
std::string from_to(const Interval<double>& range) {
  const std::string low = large_count(range.low, 3);
  const std::string high = large_count(range.high, 3);
  const std::size_t unit = low.find(' ');
  if (low == high) return low;
  const bool same = low.substr(unit) == high.substr(high.find(' '));
  return (same ? low.substr(0, unit) : low) + " to " + high;
}

std::string money_line(const BudgetView& view) {
  const auto& means = view.question.means;
  const auto& plan = view.answer;
  if (!means || !plan.gpu_hours) return "";
  std::string text = fmt::format("{} GPU-hours of {} at {:.3g} % MFU of {} ({})",
                                 large_count(*plan.gpu_hours, 3),
                                 view.names.gpu,
                                 100.0 * means->mfu,
                                 format_quantity(number(means->peak), Unit::flop_per_second),
                                 said(view.names.peak_basis));
  if (plan.cost)
    text += fmt::format(", {} {}", large_count(plan.cost->value(), 3), view.options.currency);
  if (plan.days) text += fmt::format(", {:.3g} days on {} of them", *plan.days, *means->gpus);
  return text + ".";
}

std::string range_line(const TrainingPlan& plan) {
  if (plan.extrapolation <= 1.0) {
    return "The budget is within those at which sizes were compared (up to 3e21 FLOPs).";
  }
  return fmt::format(
      "{}: the budget is {:.3g} times the largest at which sizes were compared (3e21 FLOPs).",
      plan.extrapolation > far_beyond ? "Extrapolated far" : "Extrapolated",
      plan.extrapolation);
}

std::string own_size_line(const BudgetView& view) {
  const auto& plan = view.answer;
  if (!plan.own_tokens) return "";
  std::string text = fmt::format(
      "{}, {} parameters for each token, without the input embedding: {} tokens, {} per parameter.",
      view.names.model,
      large_count(*view.question.parameters, 3),
      large_count(*plan.own_tokens, 3),
      large_count(*plan.own_tokens / *view.question.parameters, 3));
  for (const FixedSize& one : plan.own_size) {
    text += fmt::format(
        " By {}: a loss of {:.3f}, for which the best pair needs {:.3g} % of the budget.",
        one.law,
        one.loss,
        100.0 * one.needed_part);
  }
  return text;
}

Verdict judge_budget(const BudgetView& view) {
  const auto& plan = view.answer;
  Verdict verdict;
  verdict.answer = plan.extrapolation > far_beyond ? Answer::unknown : Answer::yes;
  verdict.headline = fmt::format(
      "{} FLOPs are best spent on {} parameters and {} tokens, by three published laws.",
      flops_text(plan.budget),
      from_to(plan.parameters),
      from_to(plan.tokens));
  verdict.lines = {
      money_line(view), range_line(plan), own_size_line(view), reading_note("least loss")};
  std::erase(verdict.lines, "");
  return verdict;
}

Document compose_budget(const BudgetView& view) {
  return {
      .title = document_title(view.options.tool_version, "how large a model, on how many tokens?"),
      .subtitle = "compute-optimal training of a dense decoder, FLOPs = 6 x parameters x tokens",
      .intervals = false,
      .verdict = judge_budget(view),
      .sections = {{"pairs", "Pairs", {}, {}, {pairs_table(view)}}},
      .next = next_commands(view)};
}
}  // namespace

std::string render_budget(const BudgetView& view) {
  return render_view(view, compose_budget);
}
}  // namespace scaleworth::report
