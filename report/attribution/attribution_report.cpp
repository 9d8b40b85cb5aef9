// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"

#include "report/document.h"
#include "report/names.h"
#include "report/render.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
/// Ranks that a summary lists one by one.
constexpr std::size_t most_summary_ranks = 8;
constexpr std::size_t most_summary_rows = 5;

std::string subtitle(const AttributionView& view) {
  const auto& attribution = view.attribution;
  const std::size_t recordings = attribution.recordings.size();
  const auto& choice = attribution.step_choice;
  return fmt::format("{} recording{}; {} of {} step{} averaged ({})",
                     recordings,
                     recordings == 1 ? "" : "s",
                     view.averages && !view.averages->only_excluded ? view.averages->steps : 0,
                     choice.steps,
                     choice.steps == 1 ? "" : "s",
                     choice.source.empty() ? "no steps found" : choice.source);
}

std::string command_text(const AttributionView& view) {
  return "scaleworth attribute " + (view.options.input.empty() ? "FILE..." : view.options.input);
}

std::vector<NextCommand> next_commands(const AttributionView& view) {
  const std::string attribute = command_text(view);
  std::vector<NextCommand> next;
  if (!view.price_per_gpu && !view.attribution.stragglers.stragglers.empty()) {
    next.push_back({attribute + " --price USD_PER_GPU_HOUR", "what the waiting costs"});
  }
  next.push_back({attribute + " --format html > report.html", "charts, in one file"});
  return next;
}

Document frame(const AttributionView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "where did the time go?");
  document.subtitle = subtitle(view);
  document.intervals = false;
  document.verdict = judge_attribution(view);
  document.next = next_commands(view);
  return document;
}

/// Only the first rows, and no notes: a page has one screen.
Table shortened(Table table, std::size_t rows) {
  for (std::size_t i = rows; i < table.rows.size(); ++i) table.rows[i].detail = true;
  table.notes.clear();
  return table;
}

Section remarks(const attribution::Attribution& attribution) {
  Section section{"remarks", "", {}, attribution.remarks, {}};
  if (section.list.size() > most_summary_rows) {
    const std::size_t left_out = section.list.size() - most_summary_rows;
    section.list.resize(most_summary_rows);
    section.lead.push_back(fmt::format("{} more remarks with --details.", left_out));
  }
  std::int64_t unclassified = 0;
  for (const auto& one : attribution.classes) {
    if (one.work_class == attribution::WorkClass::unclassified) unclassified = one.kernels;
  }
  if (unclassified > 0) {
    section.lead.push_back(
        fmt::format("{} kernels match no rule and count as compute; --details names the largest.",
                    unclassified));
  }
  if (!attribution.efficiency && !attribution.efficiency_reason.empty()) {
    section.lead.push_back("No efficiency: " + attribution.efficiency_reason);
  }
  return section;
}

/// Every section that has content.
Document compose_attribution(const AttributionView& view) {
  Document document = frame(view);
  for (Section& section : std::vector<Section>{ledger_section(view),
                                               stragglers_section(view),
                                               collectives_section(view),
                                               efficiency_section(view),
                                               evidence_section(view)}) {
    if (has_content(section)) document.sections.push_back(std::move(section));
  }
  return document;
}

/// One page of it.
Document summarise_attribution(const AttributionView& view) {
  Document document = frame(view);
  Section time{"ledger", "", {}, {}, {}};
  if (view.averages) {
    time.tables.push_back(parts_table(view));
    const std::size_t ranks = view.averages->ranks.size();
    if (ranks > 1 && ranks <= most_summary_ranks) time.tables.push_back(rank_table(view));
  }
  Section who{"stragglers", "", {}, {}, {}};
  if (!view.attribution.stragglers.stragglers.empty()) {
    who.tables.push_back(shortened(straggler_table(view), most_summary_rows));
  }
  if (!view.attribution.collectives.empty()) {
    who.tables.push_back(shortened(kinds_table(view), most_summary_rows));
  }
  Section efficiency{"efficiency", "", {}, {}, {}};
  if (view.attribution.efficiency && !view.attribution.efficiency->what_if.empty()) {
    efficiency.tables.push_back(shortened(what_if_table(view), most_summary_rows));
  }
  for (Section& section : std::vector<Section>{time, who, efficiency, remarks(view.attribution)}) {
    if (has_content(section)) document.sections.push_back(std::move(section));
  }
  document.next.insert(
      document.next.begin(),
      {command_text(view) + " --details", "causes, waiting matrix, factors, clocks, recordings"});
  return document;
}
}  // namespace

std::string render_attribution(const attribution::Attribution& attribution,
                               std::optional<DollarsPerSecond> price_per_gpu,
                               const RenderOptions& options) {
  const AttributionView view{attribution, options, average(attribution), price_per_gpu};
  const auto document = [&] {
    return options.details ? compose_attribution(view) : summarise_attribution(view);
  };
  return render_document({document,
                          [&] { return compose_attribution(view); },
                          [&] { return attribution_json(view); },
                          [&] { return attribution_charts(view); },
                          {"step",
                           "rank",
                           "waited_for",
                           "part",
                           "cause",
                           "class",
                           "kind",
                           "way",
                           "group",
                           "index",
                           "what"}},
                         options);
}

namespace {
using attribution::StepLedger;

/// Times beside the parts.
struct SideTime {
  double AveragedLedger::*mean;
  attribution::Nanoseconds StepLedger::*recorded;
};
constexpr std::array side_times{
    SideTime{&AveragedLedger::overlapped_transfer, &StepLedger::overlapped_transfer},
    SideTime{&AveragedLedger::overlapped_wait, &StepLedger::overlapped_wait},
    SideTime{&AveragedLedger::overlapped_copy, &StepLedger::overlapped_copy},
    SideTime{&AveragedLedger::communication, &StepLedger::communication},
    SideTime{&AveragedLedger::uncharged_wait, &StepLedger::uncharged_wait}};

/// The means of one step; its extremes are left out.
AveragedLedger of_one_step(const StepLedger& ledger) {
  AveragedLedger one;
  one.step.mean = in_seconds(ledger.end - ledger.start);
  for (std::size_t i = 0; i < part_count; ++i) one.parts[i].mean = in_seconds(ledger.parts[i]);
  std::ranges::transform(ledger.compute_by_class, one.compute_by_class.begin(), in_seconds);
  std::ranges::transform(ledger.host_late_by_cause, one.host_late_by_cause.begin(), in_seconds);
  for (const SideTime& side : side_times) one.*side.mean = in_seconds(ledger.*side.recorded);
  return one;
}

/// Adds one value to a spread whose mean is still a sum.
void add(Spread& spread, double value, bool first) {
  spread.mean += value;
  spread.least = first ? value : std::min(spread.least, value);
  spread.most = first ? value : std::max(spread.most, value);
}

template <std::size_t N>
void add(std::array<double, N>& sums, const std::array<double, N>& values) {
  std::ranges::transform(sums, values, sums.begin(), std::plus{});
}

void add(AveragedLedger& sum, const AveragedLedger& one, bool first) {
  add(sum.step, one.step.mean, first);
  for (std::size_t i = 0; i < part_count; ++i) add(sum.parts[i], one.parts[i].mean, first);
  add(sum.compute_by_class, one.compute_by_class);
  add(sum.host_late_by_cause, one.host_late_by_cause);
  for (const SideTime& side : side_times) sum.*side.mean += one.*side.mean;
}

void divide(AveragedLedger& sum, double count) {
  sum.step.mean /= count;
  for (Spread& part : sum.parts) part.mean /= count;
  for (double& time : sum.compute_by_class) time /= count;
  for (double& time : sum.host_late_by_cause) time /= count;
  for (const SideTime& side : side_times) sum.*side.mean /= count;
}
}  // namespace

bool counts(const StepLedger& ledger, const AveragedJob& job) {
  return job.only_excluded || ledger.excluded.empty();
}

std::optional<AveragedJob> average(const attribution::Attribution& attribution) {
  const auto& ledgers = attribution.ledger;
  if (ledgers.empty()) return std::nullopt;
  AveragedJob job;
  job.only_excluded = std::none_of(ledgers.begin(), ledgers.end(), [](const StepLedger& ledger) {
    return ledger.excluded.empty();
  });
  std::map<Rank, AveragedLedger> by_rank;
  for (const StepLedger& ledger : ledgers) {
    if (!counts(ledger, job)) continue;
    AveragedLedger& sum = by_rank[ledger.rank];
    add(sum, of_one_step(ledger), sum.steps == 0);
    ++sum.steps;
  }
  for (auto& [rank, ledger] : by_rank) {
    ledger.rank = rank;
    divide(ledger, ledger.steps);
    add(job.mean, ledger, job.ranks.empty());
    job.steps = std::max(job.steps, ledger.steps);
    job.ranks.push_back(ledger);
  }
  job.mean.steps = job.steps;
  divide(job.mean, static_cast<double>(job.ranks.size()));
  return job;
}

CollectiveTime collective_time(const attribution::CollectiveWait& collective) {
  CollectiveTime time;
  for (const auto& participant : collective.participants) {
    time.wait += in_seconds(participant.wait);
    time.transfer += in_seconds(participant.transfer);
  }
  return time;
}

std::vector<std::size_t> listed_collectives(const attribution::Attribution& attribution) {
  std::vector<std::size_t> order(attribution.collectives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most_collectives) return order;
  std::vector<double> waits;
  waits.reserve(order.size());
  for (const auto& collective : attribution.collectives) {
    waits.push_back(collective_time(collective).wait);
  }
  const auto longer = [&](std::size_t a, std::size_t b) {
    return waits[a] != waits[b] ? waits[a] > waits[b] : a < b;
  };
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(most_collectives);
  std::nth_element(order.begin(), last, order.end(), longer);
  order.erase(last, order.end());
  std::sort(order.begin(), order.end());
  return order;
}

namespace {
/// Seconds of GPU time that the averages are made of, over all ranks.
double counted_gpu_seconds(const AttributionView& view) {
  if (!view.averages) return 0.0;
  double total = 0.0;
  for (const AveragedLedger& rank : view.averages->ranks) total += rank.step.mean * rank.steps;
  return total;
}
}  // namespace

std::optional<double> share_of_gpu_time(const AttributionView& view,
                                        const attribution::Straggler& straggler) {
  return share_of(straggler.gpu_seconds, counted_gpu_seconds(view));
}

std::optional<double> lost_per_hour(const AttributionView& view,
                                    const attribution::Straggler& straggler) {
  const auto share = share_of_gpu_time(view, straggler);
  const auto& price = view.price_per_gpu;
  if (!share || !price) return std::nullopt;
  return *share * price->value() * 3600.0 * static_cast<double>(view.averages->ranks.size());
}

void limit_rows(Table& table, const std::string& what) {
  if (table.rows.size() <= most_rows) return;
  for (std::size_t i = most_rows; i < table.rows.size(); ++i) table.rows[i].detail = true;
  table.notes.push_back(
      fmt::format("{} more {} in CSV, JSON and HTML.", table.rows.size() - most_rows, what));
}

Cell rank_cell(Rank rank) {
  return std::to_string(rank.index);
}

Cell time_cell(attribution::Nanoseconds time) {
  return number(in_seconds(time));
}
}  // namespace scaleworth::report
