// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"

#include "report/document.h"
#include "report/names.h"
#include "report/render.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
std::string render_attribution(const attribution::Attribution& attribution,
                               Format format,
                               const AttributionOptions& options) {
  const AttributionView view{attribution, options, average(attribution)};
  const auto document = [&] {
    return options.details ? compose_attribution(view) : summarise_attribution(view);
  };
  return render_document(
      {document,
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
      {format, options.colour, options.width, options.details, "USD", {}, {}, {}, {}});
}

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

std::vector<NextCommand> next_commands(const AttributionView& view) {
  const AttributionOptions& options = view.options;
  const std::string attribute =
      "scaleworth attribute " + (options.input.empty() ? "FILE..." : options.input);
  std::vector<NextCommand> next;
  if (!options.price_per_gpu && !view.attribution.stragglers.stragglers.empty()) {
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
}  // namespace

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
      {"scaleworth attribute " + (view.options.input.empty() ? "FILE..." : view.options.input) +
           " --details",
       "causes, waiting matrix, factors, clocks, recordings"});
  return document;
}

namespace {
using attribution::StepLedger;

/// Adds one value to a spread whose mean is still a sum.
void add(Spread& spread, double value, bool first) {
  spread.mean += value;
  spread.least = first ? value : std::min(spread.least, value);
  spread.most = first ? value : std::max(spread.most, value);
}

template <std::size_t N>
void add(std::array<double, N>& sums, const std::array<attribution::Nanoseconds, N>& times) {
  for (std::size_t i = 0; i < N; ++i) sums[i] += in_seconds(times[i]);
}

template <std::size_t N>
void add(std::array<double, N>& sums, const std::array<double, N>& values) {
  for (std::size_t i = 0; i < N; ++i) sums[i] += values[i];
}

void add(AveragedLedger& sum, const StepLedger& ledger) {
  const bool first = sum.steps == 0;
  add(sum.step, in_seconds(ledger.end - ledger.start), first);
  for (std::size_t i = 0; i < part_count; ++i) {
    add(sum.parts[i], in_seconds(ledger.parts[i]), first);
  }
  add(sum.compute_by_class, ledger.compute_by_class);
  add(sum.host_late_by_cause, ledger.host_late_by_cause);
  sum.overlapped_transfer += in_seconds(ledger.overlapped_transfer);
  sum.overlapped_wait += in_seconds(ledger.overlapped_wait);
  sum.overlapped_copy += in_seconds(ledger.overlapped_copy);
  sum.communication += in_seconds(ledger.communication);
  sum.uncharged_wait += in_seconds(ledger.uncharged_wait);
  ++sum.steps;
}

void add(AveragedLedger& sum, const AveragedLedger& rank, bool first) {
  add(sum.step, rank.step.mean, first);
  for (std::size_t i = 0; i < part_count; ++i) {
    add(sum.parts[i], rank.parts[i].mean, first);
  }
  add(sum.compute_by_class, rank.compute_by_class);
  add(sum.host_late_by_cause, rank.host_late_by_cause);
  sum.overlapped_transfer += rank.overlapped_transfer;
  sum.overlapped_wait += rank.overlapped_wait;
  sum.overlapped_copy += rank.overlapped_copy;
  sum.communication += rank.communication;
  sum.uncharged_wait += rank.uncharged_wait;
}

void divide(AveragedLedger& sum, double count) {
  sum.step.mean /= count;
  for (Spread& part : sum.parts) part.mean /= count;
  for (double& time : sum.compute_by_class) time /= count;
  for (double& time : sum.host_late_by_cause) time /= count;
  sum.overlapped_transfer /= count;
  sum.overlapped_wait /= count;
  sum.overlapped_copy /= count;
  sum.communication /= count;
  sum.uncharged_wait /= count;
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
    if (counts(ledger, job)) add(by_rank[ledger.rank], ledger);
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

double counted_gpu_seconds(const AttributionView& view) {
  if (!view.averages) return 0.0;
  double total = 0.0;
  for (const AveragedLedger& rank : view.averages->ranks) total += rank.step.mean * rank.steps;
  return total;
}

std::optional<double> share_of_gpu_time(const AttributionView& view,
                                        const attribution::Straggler& straggler) {
  const double total = counted_gpu_seconds(view);
  if (!(total > 0.0)) return std::nullopt;
  return straggler.gpu_seconds / total;
}

std::optional<double> lost_per_hour(const AttributionView& view,
                                    const attribution::Straggler& straggler) {
  const auto share = share_of_gpu_time(view, straggler);
  const auto& price = view.options.price_per_gpu;
  if (!share || !price) return std::nullopt;
  return *share * price->value() * 3600.0 * static_cast<double>(view.averages->ranks.size());
}

void limit_rows(Table& table, const std::string& what) {
  if (table.rows.size() <= most_rows) return;
  for (std::size_t i = most_rows; i < table.rows.size(); ++i) table.rows[i].detail = true;
  table.notes.push_back(
      fmt::format("{} more {} in CSV, JSON and HTML.", table.rows.size() - most_rows, what));
}

void drop_empty_columns(Table& table) {
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    const bool empty = std::all_of(table.rows.begin(), table.rows.end(), [c](const Row& row) {
      return std::holds_alternative<std::monostate>(row.cells[c]);
    });
    if (!empty || table.rows.empty()) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (Row& row : table.rows) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(c));
  }
}

Column parameter_column(const std::string& id, const std::string& header, Unit unit) {
  return {id, header, Role::parameter, unit};
}

Column time_column(const std::string& id, const std::string& header) {
  return {id, header, Role::measure, Unit::seconds};
}

Column measure_column(const std::string& id, const std::string& header, Unit unit) {
  return {id, header, Role::measure, unit};
}

Cell rank_cell(Rank rank) {
  return std::to_string(rank.index);
}

Cell time_cell(attribution::Nanoseconds time) {
  return number(in_seconds(time));
}
}  // namespace scaleworth::report
