// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/document.h"
#include "report/names.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
using attribution::Straggler;
using attribution::StragglerReport;

/// Matrices of more ranks are told by their largest entries.
constexpr std::size_t most_matrix_ranks = 16;

const char* recurrence_sentence(attribution::Recurrence recurrence) {
  switch (recurrence) {
    case attribution::Recurrence::one_rank:
      return "The same rank is late in most steps: look at that GPU, its host and its share of "
             "the work.";
    case attribution::Recurrence::rotating:
      return "The late rank changes from step to step: look at what varies (input lengths, noise "
             "on the hosts), not at one machine.";
    case attribution::Recurrence::too_few:
      break;
  }
  return "Too few steps to know whether it is always the same rank.";
}

Table shares_table(const StragglerReport& report) {
  Table table{"cause",
              "Why they are late: excess over the median rank since the last synchronisation",
              {parameter_column("rank", "rank"),
               parameter_column("cause", "cause"),
               parameter_column("what", "detail"),
               time_column("time_s", "time"),
               measure_column("share", "of the excess", Unit::percent)}};
  for (const Straggler& straggler : report.stragglers) {
    double whole = 0.0;
    for (const auto& share : straggler.shares) whole += in_seconds(share.time);
    for (const auto& share : straggler.shares) {
      const double time = in_seconds(share.time);
      table.rows.push_back({{rank_cell(straggler.rank),
                             std::string(attribution::late_cause_name(share.cause)),
                             share.detail,
                             cell(time),
                             whole > 0.0 ? cell(time / whole) : Cell{}}});
    }
  }
  limit_rows(table, "causes");
  return table;
}

Table matrix_table(const attribution::Attribution& job) {
  const StragglerReport& report = job.stragglers;
  Table table{"", "Exposed wait of each rank for each other", {parameter_column("rank", "rank")}};
  table.in_csv = false;
  for (std::size_t j = 0; j < report.exposed.size(); ++j) {
    table.columns.push_back(time_column("", fmt::format("for {}", rank_at(job, j).index)));
  }
  for (std::size_t i = 0; i < report.exposed.size(); ++i) {
    Row row{{rank_cell(rank_at(job, i))}};
    for (std::size_t j = 0; j < report.exposed.size(); ++j) {
      row.cells.push_back(i == j ? Cell{std::string("-")} : time_cell(report.exposed[i][j]));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes.push_back("Over the steps that count, not per step. A full column is a straggler.");
  for (std::size_t i = 1; i < table.columns.size(); ++i) table.columns[i].own_scale = true;
  return table;
}

/// The matrix entry by entry, the largest first, for programs and for many ranks.
Table entries_table(const attribution::Attribution& job) {
  const StragglerReport& report = job.stragglers;
  struct Entry {
    std::size_t from;
    std::size_t to;
  };
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < report.total.size(); ++i) {
    for (std::size_t j = 0; j < report.total[i].size(); ++j) {
      if (report.total[i][j].count() != 0 || report.exposed[i][j].count() != 0) {
        entries.push_back({i, j});
      }
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return report.exposed[a.from][a.to] > report.exposed[b.from][b.to];
  });
  Table table{"wait_for",
              "Who waited for whom",
              {parameter_column("rank", "rank"),
               parameter_column("waited_for", "waited for"),
               time_column("exposed_wait_s", "exposed wait"),
               time_column("wait_s", "all wait")}};
  for (const Entry& entry : entries) {
    table.rows.push_back({{rank_cell(rank_at(job, entry.from)),
                           rank_cell(rank_at(job, entry.to)),
                           time_cell(report.exposed[entry.from][entry.to]),
                           time_cell(report.total[entry.from][entry.to])},
                          report.total.size() <= most_matrix_ranks});
  }
  limit_rows(table, "pairs");
  return table;
}
}  // namespace

Table straggler_table(const AttributionView& view) {
  const auto& price = view.options.price_per_gpu;
  Table table{"straggler",
              "Who is waited for",
              {parameter_column("rank", "rank"),
               time_column("exposed_wait_per_step_s", "lost per step"),
               measure_column("share", "of the GPUs' time", Unit::percent),
               measure_column("gpu_hours", "GPU-hours lost", Unit::plain),
               measure_column("lost_usd_per_hour", "lost per hour", Unit::dollars),
               measure_column("collectives", "last at", Unit::count),
               measure_column("steps", "worst in steps", Unit::count),
               measure_column("significant", "beyond clock error", Unit::plain),
               measure_column("cause", "cause", Unit::plain)}};
  for (const Straggler& straggler : view.attribution.stragglers.stragglers) {
    table.rows.push_back({{rank_cell(straggler.rank),
                           cell(straggler.exposed_per_step_ms * 1e-3),
                           cell_or_absent(share_of_gpu_time(view, straggler)),
                           cell(straggler.gpu_seconds / 3600.0),
                           cell_or_absent(lost_per_hour(view, straggler)),
                           cell(static_cast<double>(straggler.collectives)),
                           cell(straggler.steps),
                           std::string(straggler.significant ? "yes" : "no"),
                           std::string(attribution::late_cause_name(straggler.cause))}});
  }
  table.columns[3].detail = true;
  table.columns[4].detail = !price;
  table.columns[1].own_scale = true;
  table.notes = {
      "Lost per step: exposed wait of the average waiting rank. GPU-hours are of the recorded "
      "steps, "
      "dollars of an hour of the whole job."};
  drop_empty_columns(table);
  limit_rows(table, "ranks");
  return table;
}

Section stragglers_section(const AttributionView& view) {
  const StragglerReport& report = view.attribution.stragglers;
  Section section{"stragglers", "Who is waited for, and why", {}, {}, {}};
  if (!report.abstention.empty()) section.lead.push_back(report.abstention);
  if (report.stragglers.empty()) return section;
  section.lead.push_back(recurrence_sentence(report.recurrence));
  for (std::size_t i = 0; i < std::min<std::size_t>(report.stragglers.size(), 5); ++i) {
    if (!report.stragglers[i].sentence.empty())
      section.list.push_back(report.stragglers[i].sentence);
  }
  section.tables = {straggler_table(view), shares_table(report)};
  if (report.exposed.size() <= most_matrix_ranks)
    section.tables.push_back(matrix_table(view.attribution));
  section.tables.push_back(entries_table(view.attribution));
  drop_empty_tables(section);
  return section;
}

namespace {
using attribution::Efficiency;

/// Replays that miss the measurement by more than this are printed with a warning.
constexpr double uncertain_replay = 0.05;

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
  if (std::abs(efficiency->replay_error) > uncertain_replay) {
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
