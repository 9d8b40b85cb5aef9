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

/// Of matrices with more ranks the largest entries are listed.
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
  using Share = attribution::CauseShare;
  const auto part = [](const Straggler& straggler, const Share& share) {
    double whole = 0.0;
    for (const Share& one : straggler.shares) whole += in_seconds(one.time);
    return share_of(in_seconds(share.time), whole);
  };
  Table table =
      make_table("cause",
                 "Why they are late: excess over the median rank since the last synchronisation",
                 nested(report.stragglers, &Straggler::shares),
                 {{parameter("rank", "rank"), rank_of(&Straggler::rank)},
                  {parameter("cause", "cause"),
                   [](const Share& share) { return attribution::late_cause_name(share.cause); }},
                  {parameter("what", "detail"), &Share::detail},
                  {measure("time_s", "time", Unit::seconds), time_of(&Share::time)},
                  {measure("share", "of the excess", Unit::percent), part}});
  limit_rows(table, "causes");
  return table;
}

Table matrix_table(const attribution::Attribution& job) {
  const StragglerReport& report = job.stragglers;
  Table table{"", "Exposed wait of each rank for each other", {parameter("rank", "rank")}};
  table.in_csv = false;
  for (std::size_t j = 0; j < report.exposed.size(); ++j) {
    const std::string header = fmt::format("for {}", rank_at(job, j).index);
    table.columns.push_back(measure("", header, Unit::seconds).in_own_scale());
  }
  for (std::size_t i = 0; i < report.exposed.size(); ++i) {
    Row row{{rank_cell(rank_at(job, i))}};
    for (std::size_t j = 0; j < report.exposed.size(); ++j) {
      row.cells.push_back(i == j ? Cell{std::string("-")} : time_cell(report.exposed[i][j]));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes.push_back("Over the steps that count, not per step. A full column is a straggler.");
  return table;
}

/// The matrix entry by entry, the largest first, for programs and for many ranks.
Table entries_table(const attribution::Attribution& job) {
  const StragglerReport& report = job.stragglers;
  struct Entry {
    Rank rank;
    Rank waited_for;
    attribution::Nanoseconds exposed;
    attribution::Nanoseconds total;
  };
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < report.total.size(); ++i) {
    for (std::size_t j = 0; j < report.total[i].size(); ++j) {
      if (report.total[i][j].count() != 0 || report.exposed[i][j].count() != 0) {
        entries.push_back(
            {rank_at(job, i), rank_at(job, j), report.exposed[i][j], report.total[i][j]});
      }
    }
  }
  std::ranges::stable_sort(entries, std::ranges::greater{}, &Entry::exposed);
  const bool few = report.total.size() <= most_matrix_ranks;
  Table table = make_table(
      "wait_for",
      "Who waited for whom",
      entries,
      {{parameter("rank", "rank"), rank_of(&Entry::rank)},
       {parameter("waited_for", "waited for"), rank_of(&Entry::waited_for)},
       {measure("exposed_wait_s", "exposed wait", Unit::seconds), time_of(&Entry::exposed)},
       {measure("wait_s", "all wait", Unit::seconds), time_of(&Entry::total)}},
      {},
      [few](const Entry&) { return few; });
  limit_rows(table, "pairs");
  return table;
}
}  // namespace

Table straggler_table(const AttributionView& view) {
  Column lost = measure("lost_usd_per_hour", "lost per hour", Unit::dollars).if_present();
  lost.detail = !view.price_per_gpu;
  Table table = make_table<Straggler>(
      "straggler",
      "Who is waited for",
      view.attribution.stragglers.stragglers,
      {{parameter("rank", "rank"), rank_of(&Straggler::rank)},
       {measure("exposed_wait_per_step_s", "lost per step", Unit::seconds).in_own_scale(),
        [](const Straggler& one) { return one.exposed_per_step_ms * 1e-3; }},
       {measure("share", "of the GPUs' time", Unit::percent).if_present(),
        [&](const Straggler& one) { return share_of_gpu_time(view, one); }},
       {measure("gpu_hours", "GPU-hours lost").as_detail(),
        [](const Straggler& one) { return one.gpu_seconds / 3600.0; }},
       {lost, [&](const Straggler& one) { return lost_per_hour(view, one); }},
       {measure("collectives", "last at", Unit::count), &Straggler::collectives},
       {measure("steps", "worst in steps", Unit::count), &Straggler::steps},
       {measure("significant", "beyond clock error"), &Straggler::significant},
       {measure("cause", "cause"),
        [](const Straggler& one) { return attribution::late_cause_name(one.cause); }}},
      {"Lost per step: exposed wait of the average waiting rank. GPU-hours are of the recorded "
       "steps, dollars of an hour of the whole job."});
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
std::optional<double> share_of_loss(double factor, double whole) {
  if (!(factor > 0.0) || !(whole > 0.0) || whole >= 1.0) return std::nullopt;
  return std::log(factor) / std::log(whole);
}

Table path_table(const Efficiency& efficiency) {
  using Share = Efficiency::PathShare;
  const double whole = in_seconds(efficiency.runtime);
  Table table = make_table<Share>(
      "critical_path",
      "Critical path: the chain of work that sets the length",
      efficiency.critical_path,
      {{parameter("rank", "rank"), rank_of(&Share::rank)},
       {parameter("what", "what"), [](const Share& share) { return words(share.what); }},
       {measure("time_s", "time", Unit::seconds).in_own_scale(), time_of(&Share::time)},
       {measure("share", "of the window", Unit::percent),
        [whole](const Share& share) { return share_of(in_seconds(share.time), whole); }}});
  table.notes.push_back("Shortening anything that is not on this path gains nothing.");
  limit_rows(table, "entries");
  return table;
}

Table useful_table(const attribution::Attribution& job) {
  const Efficiency& efficiency = *job.efficiency;
  Table table{"useful",
              "Useful time: kernels that are not communication",
              {parameter("rank", "rank"),
               measure("time_s", "useful", Unit::seconds),
               measure("share", "of the window", Unit::percent)}};
  const double whole = in_seconds(efficiency.runtime);
  for (std::size_t i = 0; i < efficiency.useful.size(); ++i) {
    const double time = in_seconds(efficiency.useful[i]);
    table.rows.push_back(
        {{rank_cell(rank_at(job, i)), cell(time), cell_or_absent(share_of(time, whole))}});
  }
  limit_rows(table, "ranks");
  return table;
}
}  // namespace

Table factors_table(const AttributionView& view) {
  const Efficiency& efficiency = *view.attribution.efficiency;
  struct Factor {
    const char* name;
    double value;
    const char* meaning;
  };
  const std::vector<Factor> factors{
      {"parallel efficiency", efficiency.parallel, "GPUs do not compute all the time"},
      {"load balance", efficiency.load_balance, "some ranks compute longer than others"},
      {"x serialization", efficiency.serialization, "ranks hold each other up, or their host does"},
      {"- of it host", efficiency.host, "hosts launch late"},
      {"- of it dependency",
       efficiency.dependency,
       "work waits for other work, across ranks and streams"},
      {"x transfer", efficiency.transfer, "the interconnect takes time that nothing hides"}};
  return make_table<Factor>(
      "efficiency",
      "Parallel efficiency as a product",
      factors,
      {{parameter("part", "factor"), &Factor::name},
       {measure("factor", "value", Unit::percent), &Factor::value},
       {measure("loss_share", "of the loss", Unit::percent),
        [&](const Factor& one) { return share_of_loss(one.value, efficiency.parallel); }},
       {measure("meaning", "less than 100 % means"), &Factor::meaning}});
}

Table what_if_table(const AttributionView& view) {
  const Efficiency& efficiency = *view.attribution.efficiency;
  using Change = Efficiency::WhatIf;
  const double step = in_seconds(efficiency.step_time);
  Table table = make_table<Change>(
      "what_if",
      "What if: predicted step times",
      efficiency.what_if,
      {{parameter("what", "change"), &Change::change},
       {measure("step_s", "step", Unit::seconds), time_of(&Change::step_time)},
       {measure("saved_s", "saved", Unit::seconds).in_own_scale(), time_of(&Change::saved)},
       {measure("saved_share", "of the step", Unit::percent),
        [step](const Change& one) { return share_of(in_seconds(one.saved), step); }}});
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
