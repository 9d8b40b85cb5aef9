// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"

#include "report/names.h"
#include "report/render.h"

#include <map>

namespace scaleworth::report {
namespace {
constexpr std::size_t most_summary_ranks = 8;
constexpr std::size_t most_summary_rows = 5;

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

/// Everything but the sections.
Document frame(const AttributionView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "where did the time go?");
  const std::size_t recordings = view.attribution.recordings.size();
  const StepChoice& choice = view.attribution.step_choice;
  document.subtitle =
      fmt::format("{} recording{}; {} of {} step{} averaged ({})",
                  recordings,
                  recordings == 1 ? "" : "s",
                  view.averages && !view.averages->only_excluded ? view.averages->mean.steps : 0,
                  choice.steps,
                  choice.steps == 1 ? "" : "s",
                  choice.source.empty() ? "no steps found" : choice.source);
  document.intervals = false;
  document.verdict = judge_attribution(view);
  document.next = next_commands(view);
  return document;
}

/// Only the first rows, and no notes: a page has one screen.
Table shortened(Table table) {
  for (std::size_t i = most_summary_rows; i < table.rows.size(); ++i) table.rows[i].detail = true;
  table.notes.clear();
  return table;
}

Section remarks(const Attribution& attribution) {
  Section section{"remarks", "", {}, attribution.remarks, {}};
  if (section.list.size() > most_summary_rows) {
    const std::size_t left_out = section.list.size() - most_summary_rows;
    section.list.resize(most_summary_rows);
    section.lead.push_back(fmt::format("{} more remarks with --details.", left_out));
  }
  std::int64_t unclassified = 0;
  for (const auto& one : attribution.classes)
    if (one.work_class == WorkClass::unclassified) unclassified = one.kernels;
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

Document compose_attribution(const AttributionView& view) {
  Document document = frame(view);
  Section headline;  // a page shows it anyway
  if (view.options.format == Format::csv)
    headline.tables = {{"verdict", "", {measure("headline", "")}, {{{document.verdict.headline}}}}};
  document.sections = with_content({headline,
                                    ledger_section(view),
                                    stragglers_section(view),
                                    collectives_section(view),
                                    efficiency_section(view),
                                    evidence_section(view),
                                    advice_section(view)});
  return document;
}

Document summarise_attribution(const AttributionView& view) {
  Document document = frame(view);
  const auto& attribution = view.attribution;
  const std::size_t ranks = view.averages ? view.averages->ranks.size() : 0;
  const bool few_ranks = ranks > 1 && ranks <= most_summary_ranks;
  document.sections = with_content(
      {section_of(
           "ledger",
           "",
           {view.averages ? parts_table(view) : Table{}, few_ranks ? rank_table(view) : Table{}}),
       section_of(
           "stragglers", "", {shortened(straggler_table(view)), shortened(kinds_table(view))}),
       section_of(
           "efficiency", "", {attribution.efficiency ? shortened(what_if_table(view)) : Table{}}),
       remarks(attribution),
       advice_section(view)});
  document.next.insert(
      document.next.begin(),
      {command_text(view) + " --details", "causes, waiting matrix, factors, clocks, recordings"});
  return document;
}
}  // namespace

std::string render_attribution(const Attribution& attribution,
                               std::optional<DollarsPerSecond> price_per_gpu,
                               const RenderOptions& options) {
  const AttributionView view{attribution, options, job_means(attribution.ledger), price_per_gpu};
  const auto document = [&](const RenderOptions& as) {
    return as.details ? compose_attribution(view) : summarise_attribution(view);
  };
  return render_document({document,
                          [&](const RenderOptions&) { return attribution_json(view); },
                          [&] { return attribution_charts(view); }},
                         options);
}

void CollectiveTime::add(const CollectiveWait& collective) {
  for (const auto& participant : collective.participants) {
    (participant.below_error ? either : wait) += in_seconds(participant.wait);
    (participant.known ? transfer : either) += in_seconds(participant.transfer);
  }
}

CollectiveTime collective_time(const CollectiveWait& collective) {
  CollectiveTime time;
  time.add(collective);
  return time;
}

std::vector<CollectiveWait> listed_collectives(const Attribution& attribution) {
  const auto& all = attribution.collectives;
  if (all.size() <= most_collectives) return all;
  std::vector<std::pair<double, std::size_t>> order;  // the longest wait, then the first, is least
  for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(-collective_time(all[i]).wait, i);
  std::ranges::nth_element(order, order.begin() + most_collectives);
  order.resize(most_collectives);
  std::ranges::sort(order, {}, &std::pair<double, std::size_t>::second);
  return mapped(order, [&](const auto& place) { return all[place.second]; });
}

std::optional<double> share_of_gpu_time(const AttributionView& view, const Straggler& straggler) {
  if (!view.averages) return std::nullopt;
  double counted = 0.0;  // seconds of GPU time
  for (const MeanLedger& rank : view.averages->ranks) counted += rank.step.mean * rank.steps;
  return share_of(straggler.gpu_seconds, counted);
}

int job_ranks(const Attribution& attribution) {
  return std::max(static_cast<int>(attribution.recordings.size()), attribution.job_size.at_least);
}

std::optional<double> lost_per_hour(const AttributionView& view, const Straggler& straggler) {
  const auto share = share_of_gpu_time(view, straggler);
  const auto& price = view.price_per_gpu;
  if (!share || !price) return std::nullopt;
  return *share * price->value() * 3600.0 * job_ranks(view.attribution);
}

const HostRange* named_range(const AttributionView& view, HostCause cause) {
  if (!view.averages) return nullptr;
  const double time = view.averages->mean.host_late_by_cause[static_cast<std::size_t>(cause)];
  for (const HostRange& one : view.attribution.host_ranges)
    if (one.cause == cause && in_seconds(one.time) >= 0.5 * time) return &one;
  return nullptr;
}

namespace {
/// Work that ran and is not known, by kinds.
std::string unknown_work(const MeanLedger& mean) {
  constexpr std::array says{
      std::pair(UnknownWork::whole_graph,
                "is in CUDA graphs that were recorded as one piece: how much of it is compute or "
                "communication is not known, record with node-level tracing (nsys profile "
                "--cuda-graph-trace=node)"),
      std::pair(UnknownWork::missing_kernels,
                "is work that was launched and not recorded: how much of it is compute is not "
                "known, record with node-level tracing of graphs, or without graphs"),
      std::pair(UnknownWork::unknown_communication,
                "is in kernels whose names speak of communication and match no rule: state what "
                "they are with --rules FILE")};
  std::string text;
  for (const auto& [kind, sentence] : says) {
    const double time = mean.unknown_work[static_cast<std::size_t>(kind)];
    if (time < 0.01 * mean.step.mean || time <= 0.0) continue;
    text += fmt::format("{} of each step ({}) {}. ",
                        format_quantity(number(time), Unit::seconds),
                        format_quantity(number(time / mean.step.mean), Unit::percent),
                        sentence);
  }
  return text;
}

const char* limit_of_steps(StepLimit limit) {
  switch (limit) {
    case StepLimit::graph_capture:
      return "The capture of a graph is recorded, not its runs: record steps that replay it. ";
    case StepLimit::maybe_layers:
      return "What repeats may be layers and not steps: mark steps (profiler.step(), an NVTX range "
             "for each) and record three or more. ";
    case StepLimit::few_steps:
      return "At least three steps are needed for one that is whole: record more. ";
    default:
      return "";
  }
}
}  // namespace

std::string recording_limits(const AttributionView& view) {
  const Attribution& job = view.attribution;
  const int ranks = job_ranks(job);
  std::string limits;
  if (!job.contradictions.empty())
    limits = fmt::format("Not reliable: {}. ", fmt::join(job.contradictions, "; "));
  if (std::cmp_less(job.recordings.size(), ranks))
    limits += fmt::format("{} of {}{} ranks left {}{}. ",
                          job.recordings.size(),
                          job.job_size.stated ? "" : "at least ",
                          ranks,
                          job.recordings.size() == 1 ? "a recording" : "recordings",
                          job.stragglers.stragglers.empty()
                              ? ""
                              : fmt::format("; costs and GPU-hours are for all {}", ranks));
  if (!job.programs.empty()) {
    const auto shown = std::min<std::size_t>(job.programs.size(), 3);
    limits +=
        fmt::format("By their kernels the ranks run {} programs, which the means mix ({}{}). ",
                    job.programs.size(),
                    fmt::join(job.programs.begin(), job.programs.begin() + shown, "; "),
                    shown < job.programs.size() ? "; ..." : "");
  }
  if (!job.recordings.empty() && job.recordings.front().on_processor)
    limits +=
        "No GPU: the operators on the processors are the compute, calls of gloo or MPI the "
        "communication, the rest is the host. ";
  limits += limit_of_steps(job.step_choice.limit);
  if (!view.averages) return limits + "No step was found. ";
  if (view.averages->only_excluded) {
    limits +=
        fmt::format("No step counts as steady state ({}): the figures are of excluded steps. ",
                    exclusion_kind(*job.ledger.front().excluded));
  }
  const MeanLedger& mean = view.averages->mean;
  limits += unknown_work(mean);
  const double undivided = mean.part(Part::exposed_undivided).mean;
  constexpr double noted = 0.01;  // of the step
  if (!mean.known(Part::exposed_wait) || undivided > noted * mean.step.mean)
    limits += fmt::format(
        "Exposed communication of {} per step ({}) has partners without a recording: how much of "
        "it is waiting is n/a. ",
        format_quantity(number(undivided), Unit::seconds),
        format_quantity(number(undivided / mean.step.mean), Unit::percent));
  return limits;
}

Table limit_rows(Table table, const std::string& what) {
  constexpr std::size_t most_rows = 16;
  if (table.rows.size() <= most_rows) return table;
  for (std::size_t i = most_rows; i < table.rows.size(); ++i) table.rows[i].detail = true;
  table.notes.push_back(
      fmt::format("{} more {} in CSV, JSON and HTML.", table.rows.size() - most_rows, what));
  return table;
}
}  // namespace scaleworth::report
