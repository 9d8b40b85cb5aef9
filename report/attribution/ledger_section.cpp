// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"

namespace scaleworth::report {
namespace {
std::string rank_name(const MeanLedger& ledger) {
  return ledger.rank ? std::to_string(ledger.rank->index) : "mean";
}

std::vector<const MeanLedger*> ranks_and_mean(const JobMeans& job) {
  auto result = mapped(job.ranks, [](const MeanLedger& rank) { return &rank; });
  result.push_back(&job.mean);
  return result;
}

/// A part of an average step, or the step itself.
struct Line {
  const MeanLedger* ledger;
  std::optional<Part> which;  // absent: the whole step
  const char* part;
  std::optional<Spread> time;   // absent where it is not known
  std::optional<double> share;  // of the step
};

std::optional<double> known_share(const MeanLedger& ledger, Part part) {
  return ledger.known(part) ? std::optional(ledger.share(part)) : std::nullopt;
}

std::vector<Line> parts_of(const MeanLedger& ledger) {
  return mapped(recording_parts, [&](Part part) {
    return Line{&ledger, part, word_of(part), ledger.known(part), known_share(ledger, part)};
  });
}

Table tidy_table(const JobMeans& job) {
  std::vector<Line> lines;
  for (const MeanLedger* ledger : ranks_and_mean(job)) {
    lines.push_back({ledger, {}, "step", ledger->step, ledger->step.mean > 0.0 ? 1.0 : 0.0});
    std::ranges::copy(parts_of(*ledger), std::back_inserter(lines));
  }
  return all_detail(make_table<Line>(
      "ledger",
      "Each rank's average step, part by part",
      lines,
      {{parameter("rank", "rank"), [](const Line& line) { return rank_name(*line.ledger); }},
       {parameter("part", "part"), &Line::part},
       {measure("time_s", "mean", Unit::seconds), path(&Line::time, &Spread::mean)},
       {measure("share", "of the step", Unit::percent), &Line::share},
       {measure("least_s", "least", Unit::seconds), path(&Line::time, &Spread::least)},
       {measure("most_s", "most", Unit::seconds), path(&Line::time, &Spread::most)},
       {measure("steps", "steps", Unit::count),
        [](const Line& line) { return line.ledger->steps; }}}));
}

/// A breakdown of one part, of the mean step; without the classes that did not occur.
template <Vocabulary Kind, std::size_t N>
Table breakdown(const std::string& id,
                const std::string& title,
                const JobMeans& job,
                const std::array<double, N>& times) {
  using Time = std::pair<const char*, double>;
  std::vector<Time> rows;
  for (std::size_t i = 0; i < N; ++i) {
    // What no rule knows is shown even when there is none of it.
    if (times[i] > 0.0 || (std::is_same_v<Kind, WorkClass> && i == 0)) {
      rows.emplace_back(word_of(static_cast<Kind>(i)), times[i]);
    }
  }
  const std::vector<ColumnOf<Time>> columns{
      {parameter("part", "part"), &Time::first},
      {measure("time_s", "mean", Unit::seconds), &Time::second},
      {measure("share", "of the step", Unit::percent),
       [&](const Time& time) { return share_of(time.second, job.mean.step.mean).value_or(0.0); }}};
  return make_table(id, title, rows, columns);
}

Table hidden_table(const JobMeans& job) {
  using Ledger = const MeanLedger*;
  const std::vector<ColumnOf<Ledger>> columns{
      {parameter("rank", "rank"), [](Ledger one) { return rank_name(*one); }},
      {measure("overlapped_transfer_s", "transfer", Unit::seconds),
       [](Ledger one) { return one->known_overlap(Part::exposed_transfer); }},
      {measure("overlapped_wait_s", "wait", Unit::seconds),
       [](Ledger one) { return one->known_overlap(Part::exposed_wait); }},
      {measure("overlapped_undivided_s", "wait or transfer", Unit::seconds).unless_zero(),
       &MeanLedger::overlapped_undivided},
      {measure("overlapped_copy_s", "copies", Unit::seconds).unless_zero(),
       &MeanLedger::overlapped_copy},
      {measure("communication_s", "all communication", Unit::seconds), &MeanLedger::communication},
      {measure("hidden_share", "of it hidden", Unit::percent), [](Ledger one) {
         return share_of(
             one->overlapped_transfer + one->overlapped_wait + one->overlapped_undivided,
             one->communication);
       }}};
  return limit_rows(make_table("hidden",
                               "Beside the sum: what ran under compute and cost nothing",
                               ranks_and_mean(job),
                               columns),
                    "ranks");
}

Table steps_table(const AttributionView& view) {
  std::vector<ColumnOf<StepLedger>> columns{
      {parameter("step", "step"), [](const StepLedger& one) { return std::to_string(one.step); }},
      {parameter("rank", "rank"), &StepLedger::rank},
      {measure("step_s", "length", Unit::seconds),
       [](const StepLedger& one) { return one.end - one.start; }}};
  for (const Part part : recording_parts) {
    const std::string key = part_key(part);
    columns.push_back(
        {measure(key.substr(0, key.size() - 2) + "s", word_of(part), Unit::seconds).unless_zero(),
         [part](const StepLedger& one) {
           return known_time(part, one.part(part), one.part(Part::exposed_undivided));
         }});
  }
  columns.push_back({measure("excluded", "not averaged because"), [](const StepLedger& one) {
                       return one.excluded ? exclusion_text(*one.excluded) : "";
                     }});
  return all_detail(make_table("ledger_step", "Every step", view.attribution.ledger, columns));
}
}  // namespace

Table parts_table(const AttributionView& view) {
  const JobMeans& job = *view.averages;
  const bool alone = job.ranks.size() == 1;
  const MeanLedger& ledger = alone ? job.ranks.front() : job.mean;
  std::vector<Line> lines = parts_of(ledger);
  // Of compute it is said that it is not known; of others what is known stands in another row.
  std::erase_if(lines, [](const Line& line) {
    return line.time ? line.time->mean == 0.0 : line.which != Part::compute;
  });
  lines.push_back({&ledger, {}, "step", ledger.step, 1.0});
  const std::vector<ColumnOf<Line>> columns{
      {parameter("part", "part"), &Line::part},
      {times("time_s", "mean"), path(&Line::time, &Spread::mean)},
      {measure("share", "share", Unit::percent), &Line::share},
      {times("least_s", alone ? "least step" : "least rank"), path(&Line::time, &Spread::least)},
      {times("most_s", alone ? "most step" : "most rank"), path(&Line::time, &Spread::most)}};
  Table table = make_table("step_parts", "Where the average step goes", lines, columns);
  table.in_csv = false;
  constexpr std::array headed{std::pair(Part::compute, "Compute"),
                              std::pair(Part::exposed_transfer, "Exposed transfer"),
                              std::pair(Part::exposed_wait, "Waiting for a late rank"),
                              std::pair(Part::host_late, "CPU launched too late")};
  table.tiles = {{lines.size() - 1, "time_s", "Step time", "mean over ranks"}};
  for (const auto& one : headed) {
    const auto row = last_row(lines, [&](const Line& line) { return line.which == one.first; });
    const bool loss = one.first != Part::compute;
    if (row) table.tiles.push_back({*row, "share", one.second, "of each step", "time_s", loss});
  }
  return table;
}

Table rank_table(const AttributionView& view) {
  const JobMeans& job = *view.averages;
  std::vector<ColumnOf<MeanLedger>> columns{
      {parameter("rank", "rank"), rank_name},
      {measure("step_s", "step", Unit::seconds), path(&MeanLedger::step, &Spread::mean)}};
  for (const Part part : recording_parts) {
    if (!(job.mean.part(part).mean > 0.0)) continue;
    columns.push_back({measure(word_of(part), word_of(part), Unit::percent),
                       [part](const MeanLedger& one) { return known_share(one, part); }});
  }
  Table table = limit_rows(make_table("", "The same by rank", job.ranks, columns), "ranks");
  table.in_csv = false;
  return table;
}

Section ledger_section(const AttributionView& view) {
  Section section{"ledger", "Where the time goes"};
  if (!view.averages) {
    section.lead.push_back("No step was found in the recordings, so there is no ledger.");
    return section;
  }
  const JobMeans& job = *view.averages;
  section.lead.push_back(fmt::format(
      "Every instant of a step belongs to exactly one part; the parts add up to the step to the "
      "nanosecond. Mean over {} and {} of {}.",
      counted(job.ranks.size(), "rank"),
      counted(job.mean.steps, "step"),
      view.attribution.step_choice.source));
  section.tables = {
      parts_table(view),
      job.ranks.size() > 1 ? rank_table(view) : Table{},
      breakdown<WorkClass>("compute", "Compute, by class", job, job.mean.compute_by_class),
      breakdown<HostCause>(
          "host_late", "CPU launched too late, by what it did", job, job.mean.host_late_by_cause),
      hidden_table(job),
      tidy_table(job),
      steps_table(view)};
  return section;
}
}  // namespace scaleworth::report
