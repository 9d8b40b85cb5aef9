// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/document.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

std::string rank_name(const AveragedLedger& ledger) {
  return ledger.rank ? std::to_string(ledger.rank->index) : "mean";
}

std::vector<const AveragedLedger*> ranks_and_mean(const AveragedJob& job) {
  std::vector<const AveragedLedger*> result;
  for (const AveragedLedger& rank : job.ranks) result.push_back(&rank);
  result.push_back(&job.mean);
  return result;
}

/// The tidy form for programs: a line per rank and part.
Table tidy_table(const AveragedJob& job) {
  Table table{"ledger",
              "Each rank's average step, part by part",
              {parameter("rank", "rank"),
               parameter("part", "part"),
               measure("time_s", "mean", Unit::seconds),
               measure("share", "of the step", Unit::percent),
               measure("least_s", "least", Unit::seconds),
               measure("most_s", "most", Unit::seconds),
               measure("steps", "steps", Unit::count)},
              {},
              {"Least and most: over steps; in the rows of the mean: over ranks."}};
  for (const AveragedLedger* ledger : ranks_and_mean(job)) {
    const auto row = [&](const std::string& part, const Spread& spread) {
      const double share = ledger->step.mean > 0.0 ? spread.mean / ledger->step.mean : 0.0;
      table.rows.push_back({{rank_name(*ledger),
                             part,
                             cell(spread.mean),
                             cell(share),
                             cell(spread.least),
                             cell(spread.most),
                             cell(ledger->steps)},
                            true});
    };
    row("step", ledger->step);
    for (const Part part : recording_parts) row(part_name(part), ledger->part(part));
  }
  return table;
}

/// A breakdown of one part, of the mean step; without the classes that did not occur.
template <class Names, std::size_t N>
Table breakdown(const std::string& id,
                const std::string& title,
                const AveragedJob& job,
                const std::array<double, N>& times,
                const Names& name) {
  Table table{id,
              title,
              {parameter("part", "part"),
               measure("time_s", "mean", Unit::seconds),
               measure("share", "of the step", Unit::percent)}};
  for (std::size_t i = 0; i < N; ++i) {
    const double share = job.mean.step.mean > 0.0 ? times[i] / job.mean.step.mean : 0.0;
    // What no rule knows is shown even when there is none of it.
    if (times[i] > 0.0 || (id == "compute" && i == 0)) {
      table.rows.push_back({{std::string(name(i)), cell(times[i]), cell(share)}});
    }
  }
  return table;
}

Table hidden_table(const AveragedJob& job) {
  using Ledger = const AveragedLedger*;
  Table table = make_table<Ledger>(
      "hidden",
      "Beside the sum: what ran under compute and cost nothing",
      ranks_and_mean(job),
      {{parameter("rank", "rank"), [](Ledger one) { return rank_name(*one); }},
       {measure("overlapped_transfer_s", "transfer", Unit::seconds),
        &AveragedLedger::overlapped_transfer},
       {measure("overlapped_wait_s", "wait", Unit::seconds), &AveragedLedger::overlapped_wait},
       {measure("overlapped_copy_s", "copies", Unit::seconds), &AveragedLedger::overlapped_copy},
       {measure("communication_s", "all communication", Unit::seconds),
        &AveragedLedger::communication},
       {measure("hidden_share", "of it hidden", Unit::percent), [](Ledger one) {
          return share_of(one->overlapped_transfer + one->overlapped_wait, one->communication);
        }}});
  limit_rows(table, "ranks");
  return table;
}

/// Every step of every rank, unaveraged; for programs.
Table steps_table(const AttributionView& view) {
  Table table{"ledger_step",
              "Every step",
              {parameter("step", "step"),
               parameter("rank", "rank"),
               measure("step_s", "length", Unit::seconds)}};
  for (const Part part : recording_parts) {
    std::string key = part_key(part);
    table.columns.push_back(
        measure(key.substr(0, key.size() - 2) + "s", part_name(part), Unit::seconds));
  }
  table.columns.push_back(measure("excluded", "not averaged because"));
  for (const attribution::StepLedger& ledger : view.attribution.ledger) {
    Row row{
        {std::to_string(ledger.step), rank_cell(ledger.rank), time_cell(ledger.end - ledger.start)},
        true};
    for (const Part part : recording_parts) row.cells.push_back(time_cell(ledger.part(part)));
    row.cells.push_back(ledger.excluded);
    table.rows.push_back(std::move(row));
  }
  return table;
}
}  // namespace

Table parts_table(const AttributionView& view) {
  const AveragedJob& job = *view.averages;
  const bool alone = job.ranks.size() == 1;
  const AveragedLedger& ledger = alone ? job.ranks.front() : job.mean;
  Table table{"",
              "Where the average step goes",
              {parameter("part", "part"),
               measure("time_s", "mean", Unit::seconds),
               measure("share", "share", Unit::percent),
               measure("least_s", alone ? "least step" : "least rank", Unit::seconds),
               measure("most_s", alone ? "most step" : "most rank", Unit::seconds)},
              {},
              {},
              false};
  // A part may be a thousandth of another: each with the unit that suits it.
  for (const std::size_t column : {1U, 3U, 4U}) table.columns[column].own_scale = true;
  const auto row = [&](const std::string& name, const Spread& spread, double share) {
    table.rows.push_back(
        {{name, cell(spread.mean), cell(share), cell(spread.least), cell(spread.most)}});
  };
  for (const Part part : recording_parts) {
    row(part_name(part), ledger.part(part), ledger.share(part));
  }
  row("step", ledger.step, 1.0);
  return table;
}

Table rank_table(const AttributionView& view) {
  const AveragedJob& job = *view.averages;
  Table table{"",
              "The same by rank",
              {parameter("rank", "rank"), measure("step_s", "step", Unit::seconds)}};
  table.in_csv = false;
  std::vector<Part> shown;
  for (const Part part : recording_parts) {
    if (job.mean.part(part).mean > 0.0) shown.push_back(part);
  }
  for (const Part part : shown) {
    const char* name = part_name(part);
    table.columns.push_back(measure(name, name, Unit::percent));
  }
  for (const AveragedLedger& ledger : job.ranks) {
    Row row{{rank_name(ledger), cell(ledger.step.mean)}};
    for (const Part part : shown) row.cells.push_back(cell(ledger.share(part)));
    table.rows.push_back(std::move(row));
  }
  limit_rows(table, "ranks");
  return table;
}

Section ledger_section(const AttributionView& view) {
  Section section{"ledger", "Where the time goes", {}, {}, {}};
  if (!view.averages) {
    section.lead.push_back("No step was found in the recordings, so there is no ledger.");
    return section;
  }
  const AveragedJob& job = *view.averages;
  section.lead.push_back(fmt::format(
      "Every instant of a step belongs to exactly one part; the parts add up to the step to the "
      "nanosecond. Mean over {} and {} of {}.",
      job.ranks.size() == 1 ? "1 rank" : fmt::format("{} ranks", job.ranks.size()),
      job.steps == 1 ? "1 step" : fmt::format("{} steps", job.steps),
      view.attribution.step_choice.source));
  if (job.only_excluded) {
    section.lead.push_back(
        "No step counts as steady state (reasons below); these figures are of excluded steps and "
        "say little about the job's usual step.");
  }
  section.tables = {
      parts_table(view),
      job.ranks.size() > 1 ? rank_table(view) : Table{},
      breakdown("compute",
                "Compute, by class",
                job,
                job.mean.compute_by_class,
                [](std::size_t i) {
                  return attribution::work_class_name(static_cast<attribution::WorkClass>(i));
                }),
      breakdown("host_late",
                "Host late, by what the host did",
                job,
                job.mean.host_late_by_cause,
                [](std::size_t i) {
                  return attribution::host_cause_name(static_cast<attribution::HostCause>(i));
                }),
      hidden_table(job),
      tidy_table(job),
      steps_table(view)};
  drop_empty_tables(section);
  return section;
}
}  // namespace scaleworth::report
