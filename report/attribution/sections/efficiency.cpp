// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/sections/sections.h"
#include "report/names.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using attribution::Efficiency;

/// Replays that miss the measurement by more than this are printed with a warning.
constexpr double doubtful_replay = 0.05;

/// Part of the lost efficiency that is due to one factor; the shares of factors that multiply to
/// the whole add up to 1.
Cell share_of_loss(double factor, double whole) {
  if (!(factor > 0.0) || !(whole > 0.0) || whole >= 1.0) return {};
  return cell(std::log(factor) / std::log(whole));
}

Table path_table(const Efficiency& efficiency) {
  Table table{"critical_path",
              "Critical path: the chain of work that sets the length",
              {parameter_column("rank", "rank"),
               parameter_column("what", "what"),
               time_column("time_s", "time"),
               measure_column("share", "of the window", Unit::percent)}};
  const double whole = in_seconds(efficiency.runtime);
  for (const Efficiency::PathShare& share : efficiency.critical_path) {
    const double time = in_seconds(share.time);
    table.rows.push_back({{rank_cell(share.rank),
                           words(share.what),
                           cell(time),
                           whole > 0.0 ? cell(time / whole) : Cell{}}});
  }
  table.columns[2].own_scale = true;
  table.notes.push_back("Shortening anything that is not on this path gains nothing.");
  limit_rows(table, "entries");
  return table;
}

Table useful_table(const attribution::Attribution& job) {
  const Efficiency& efficiency = *job.efficiency;
  Table table{"useful",
              "Useful time: kernels that are not communication",
              {parameter_column("rank", "rank"),
               time_column("time_s", "useful"),
               measure_column("share", "of the window", Unit::percent)}};
  const double whole = in_seconds(efficiency.runtime);
  for (std::size_t i = 0; i < efficiency.useful.size(); ++i) {
    const double time = in_seconds(efficiency.useful[i]);
    table.rows.push_back(
        {{rank_cell(rank_at(job, i)), cell(time), whole > 0.0 ? cell(time / whole) : Cell{}}});
  }
  limit_rows(table, "ranks");
  return table;
}

}  // namespace

Table factors_table(const AttributionView& view) {
  const Efficiency& efficiency = *view.attribution.efficiency;
  Table table{"efficiency",
              "Parallel efficiency as a product",
              {parameter_column("part", "factor"),
               measure_column("factor", "value", Unit::percent),
               measure_column("loss_share", "of the loss", Unit::percent),
               measure_column("meaning", "less than 100 % means", Unit::plain)}};
  const auto row = [&](const char* name, double value, const char* meaning) {
    table.rows.push_back({{std::string(name),
                           cell(value),
                           share_of_loss(value, efficiency.parallel),
                           std::string(meaning)}});
  };
  row("parallel efficiency", efficiency.parallel, "GPUs do not compute all the time");
  row("load balance", efficiency.load_balance, "some ranks compute longer than others");
  row("x serialization", efficiency.serialization, "ranks hold each other up, or their host does");
  row("- of it host", efficiency.host, "hosts launch late");
  row("- of it dependency",
      efficiency.dependency,
      "work waits for other work, across ranks and streams");
  row("x transfer", efficiency.transfer, "the interconnect takes time that nothing hides");
  return table;
}

Table what_if_table(const AttributionView& view) {
  const Efficiency& efficiency = *view.attribution.efficiency;
  Table table{"what_if",
              "What if: predicted step times",
              {parameter_column("what", "change"),
               time_column("step_s", "step"),
               time_column("saved_s", "saved"),
               measure_column("saved_share", "of the step", Unit::percent)}};
  const double step = in_seconds(efficiency.step_time);
  for (const Efficiency::WhatIf& change : efficiency.what_if) {
    const double saved = in_seconds(change.saved);
    table.rows.push_back({{change.change,
                           time_cell(change.step_time),
                           cell(saved),
                           step > 0.0 ? cell(saved / step) : Cell{}}});
  }
  table.columns[2].own_scale = true;
  table.notes.push_back(fmt::format(
      "Each change alone; savings do not add up. Gaps that nothing recorded explains and, unless "
      "they "
      "are the change, transfers stay as they are. The replay without a change is {} off the "
      "measured {}.",
      format_quantity(number(std::abs(efficiency.replay_error)), Unit::percent),
      format_quantity(number(step), Unit::seconds)));
  return table;
}

Section efficiency_section(const AttributionView& view) {
  Section section{"efficiency", "Efficiency, critical path, what if", {}, {}, {}};
  const auto& efficiency = view.attribution.efficiency;
  if (!efficiency) {
    if (!view.attribution.efficiency_reason.empty()) {
      section.lead.push_back("Not computed: " + view.attribution.efficiency_reason);
    }
    return section;
  }
  section.lead.push_back(
      fmt::format("Window of {}{}. Waiting inside a collective never counts as useful.",
                  format_quantity(number(in_seconds(efficiency->runtime)), Unit::seconds),
                  efficiency->window.empty() ? "" : ": " + efficiency->window));
  if (std::abs(efficiency->replay_error) > doubtful_replay) {
    section.lead.push_back(fmt::format(
        "The replay misses the measured time by {}: trust the order of what-ifs, not their digits.",
        format_quantity(number(std::abs(efficiency->replay_error)), Unit::percent)));
  }
  section.tables = {factors_table(view)};
  if (!efficiency->what_if.empty()) section.tables.push_back(what_if_table(view));
  if (!efficiency->critical_path.empty()) section.tables.push_back(path_table(*efficiency));
  section.tables.push_back(useful_table(view.attribution));
  return section;
}

}  // namespace scaleworth::report
