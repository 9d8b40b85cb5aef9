// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"

#include "report/render.h"
#include "report/words.h"

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

/// Of the collectives that lose most against the fabric's curve; empty without one.
std::string fabric_sentence(const AttributionView& view) {
  if (view.fabric == nullptr) return "";
  const auto one = std::ranges::find_if(view.fabric->rows, [](const FabricRow& row) {
    return row.verdict != FabricVerdict::as_measured && row.verdict != FabricVerdict::cannot_tell;
  });
  if (one == view.fabric->rows.end()) {
    const bool told = std::ranges::any_of(view.fabric->rows, [](const FabricRow& row) {
      return row.verdict == FabricVerdict::as_measured;
    });
    return told ? fmt::format("Against {} no collective is slow or late, as far as it can be told.",
                              view.fabric->name)
                : fmt::format(
                      "{} cannot tell what is slow: it has no curve of these collectives on as "
                      "many ranks; run scaleworth comm there.",
                      view.fabric->name);
  }
  return fmt::format(
      "Against {}: {} is {}: it waits {} for late ranks, its transfer takes {} where {} were "
      "measured.",
      view.fabric->name,
      work_text(one->work),
      word_of(one->verdict),
      duration_text(one->wait),
      duration_text(*one->transfer),
      duration_text(*one->expected));
}

/// Everything but the sections.
Document frame(const AttributionView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "where did the time go?");
  const StepChoice& choice = view.attribution.step_choice;
  document.subtitle =
      fmt::format("{}; {} of {} averaged ({})",
                  counted(view.attribution.recordings.size(), "recording"),
                  view.averages && !view.averages->only_excluded ? view.averages->mean.steps : 0,
                  counted(choice.steps, "step"),
                  choice.source.empty() ? "no steps found" : choice.source);
  document.intervals = false;
  document.verdict = judge_attribution(view);
  if (const std::string sentence = fabric_sentence(view); !sentence.empty())
    document.verdict.lines.insert(document.verdict.lines.begin(), sentence);
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
  Section section{"remarks", "", {}, said(attribution.remarks), {}};
  if (section.list.size() > most_summary_rows) {
    const std::size_t left_out = section.list.size() - most_summary_rows;
    section.list.resize(most_summary_rows);
    section.lead.push_back(fmt::format("{} more remarks with --details.", left_out));
  }
  const auto* unclassified =
      find_in(attribution.classes, WorkClass::unclassified, &ClassifiedTime::work_class);
  if (unclassified && unclassified->kernels > 0)
    section.lead.push_back(
        fmt::format("{} kernels match no rule and count as compute; --details names the largest.",
                    unclassified->kernels));
  if (const auto& why = attribution.efficiency_reason;
      why && !attribution.efficiency && attribution.recordings.size() > 1)
    section.lead.push_back(fmt::format("No efficiency: {}.", said(*why)));
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
       section_of("stragglers",
                  "",
                  {shortened(straggler_table(view)),
                   shortened(kinds_table(view)),
                   shortened(fabric_table(view))}),
       section_of(
           "efficiency", "", {attribution.efficiency ? shortened(what_if_table(view)) : Table{}}),
       remarks(attribution),
       advice_section(view)});
  document.next.insert(document.next.begin(),
                       {command_text(view) + " --details",
                        "causes, who waited for whom, factors, clocks, recordings"});
  return document;
}

constexpr std::array unknown_ids{
    std::pair(UnknownWork::whole_graph, FindingId::whole_graphs),
    std::pair(UnknownWork::missing_kernels, FindingId::work_not_recorded),
    std::pair(UnknownWork::awaited_work, FindingId::work_from_before),
    std::pair(UnknownWork::unknown_communication, FindingId::maybe_communication)};

/// Of the mean step, of which not all is known.
std::vector<Finding> unknown_limits(const AttributionView& view) {
  std::vector<Finding> limits;
  if (!view.averages) return limits;
  const MeanLedger& mean = view.averages->mean;
  constexpr double noted = 0.01;  // of the step
  for (const auto& [kind, id] : unknown_ids) {
    const double time = mean.unknown_work[index_of(kind)];
    if (time >= noted * mean.step.mean && time > 0.0)
      limits.emplace_back(FindingId::work_of_unknown_division,
                          unknown_work(view, kind),
                          share_text(time / mean.step.mean));
  }
  const double undivided = mean.part(Part::exposed_undivided).mean;
  if (!mean.known(Part::exposed_wait) || undivided > noted * mean.step.mean)
    limits.emplace_back(FindingId::waiting_unknown,
                        duration_text(undivided),
                        share_text(undivided / mean.step.mean));
  return limits;
}

Finding missing_recordings(const Attribution& job) {
  const int ranks = job_ranks(job);
  const Finding of(
      job.job_size.stated ? FindingId::some_of_ranks : FindingId::some_of_ranks_at_least,
      job.recordings.size(),
      ranks);
  if (!job.stragglers.stragglers.empty()) return {FindingId::left_recordings_of_costs, of, ranks};
  return {job.recordings.size() == 1 ? FindingId::left_a_recording : FindingId::left_recordings,
          of};
}
}  // namespace

std::string render_attribution(const Attribution& attribution,
                               std::optional<DollarsPerSecond> price_per_gpu,
                               const RenderOptions& options,
                               const FabricComparison* fabric) {
  const AttributionView view{
      attribution, options, job_means(attribution.ledger), price_per_gpu, fabric};
  const auto document = [&](const RenderOptions& as) {
    return as.details ? compose_attribution(view) : summarise_attribution(view);
  };
  return render_document({document,
                          [&](const RenderOptions&) { return attribution_json(view); },
                          [&] { return attribution_charts(view); }},
                         options);
}

CollectiveTime collective_time(const CollectiveWait& collective) {
  CollectiveTime time;
  for (const auto& participant : collective.participants) {
    (participant.below_error ? time.either : time.wait) += in_seconds(participant.wait);
    (participant.known ? time.transfer : time.either) += in_seconds(participant.transfer);
  }
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
  const double time = view.averages->mean.host_late_by_cause[index_of(cause)];
  for (const HostRange& one : view.attribution.host_ranges)
    if (one.cause == cause && in_seconds(one.time) >= 0.5 * time) return &one;
  return nullptr;
}

std::vector<Finding> limits_of_steps(const AttributionView& view) {
  const StepChoice& choice = view.attribution.step_choice;
  const std::string outside = share_text(choice.outside);
  std::vector<Finding> limits;
  if (choice.limit == StepLimit::few_steps) limits.emplace_back(FindingId::no_whole_step);
  if (choice.limit == StepLimit::whole_span) limits.emplace_back(FindingId::no_steps_marked);
  if (choice.limit == StepLimit::marked_part)
    limits.emplace_back(FindingId::part_is_marked, outside);
  if (choice.limit == StepLimit::mostly_outside)
    limits.emplace_back(FindingId::mostly_outside, outside);
  if (choice.pauses > 0)
    limits.emplace_back(
        choice.pause_name.empty() ? FindingId::time_between_steps
                                  : FindingId::time_between_steps_in,
        share_text(choice.between),
        choice.pauses == 1 ? FindingId::a_pause : Finding(FindingId::pauses, choice.pauses),
        choice.pause_name);
  if (!limits.empty() || !view.averages || !view.averages->only_excluded) return limits;
  return {
      {FindingId::only_excluded_steps, exclusion_kind(*view.attribution.ledger.front().excluded)}};
}

std::string step_text(const AttributionView& view, double step) {
  return fmt::format(
      fmt::runtime(view.attribution.step_choice.limit == StepLimit::whole_span ? "the {} recorded"
                                                                               : "each step of {}"),
      duration_text(step));
}

Finding unknown_work(const AttributionView& view, UnknownWork kind) {
  const MeanLedger& mean = view.averages->mean;
  const double time = mean.unknown_work[index_of(kind)];
  const auto* known =
      std::ranges::find(unknown_ids, kind, &std::pair<UnknownWork, FindingId>::first);
  return {known->second,
          duration_text(time),
          step_text(view, mean.step.mean),
          share_text(time / mean.step.mean)};
}

std::vector<Finding> recording_limits(const AttributionView& view) {
  const Attribution& job = view.attribution;
  std::vector<Finding> limits = job.contradictions;
  const std::string cut = listed(job.recordings, [](const RankRecording& one) {
    return one.losses.contains(loss_name::truncated_bytes) ? fmt::format("{}", one.rank.index) : "";
  });
  if (!cut.empty()) limits.emplace_back(FindingId::files_end_early, cut);
  if (std::cmp_less(job.recordings.size(), job_ranks(job)))
    limits.push_back(missing_recordings(job));
  std::ranges::copy(limits_of_steps(view), std::back_inserter(limits));
  if (!job.programs.empty()) {
    std::vector<std::string> shown = job.programs;
    if (shown.size() > 3) shown = {shown[0], shown[1], shown[2], "..."};
    limits.emplace_back(
        FindingId::programs_mixed, job.programs.size(), fmt::format("{}", fmt::join(shown, "; ")));
  }
  if (!job.recordings.empty() && job.recordings.front().on_processor)
    limits.emplace_back(FindingId::no_gpu_recorded);
  std::ranges::copy(unknown_limits(view), std::back_inserter(limits));
  if (const auto* file = find_in(job.remarks, FindingId::left_out, &Finding::id))
    limits.push_back(*file);
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
