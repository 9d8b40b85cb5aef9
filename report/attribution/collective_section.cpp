// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/words.h"
#include "src/core/statistics/sample_statistics.h"

#include <map>

namespace scaleworth::report {
namespace {
using Time = CollectiveTime;

std::optional<std::string> if_said(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

Table single_table(const AttributionView& view) {
  using One = CollectiveWait;
  const auto seconds = [](const char* id, const char* header) {
    return measure(id, header, Unit::seconds);
  };
  const std::vector<ColumnOf<One>> columns{
      {parameter("step", "step").if_present(),
       [](const One& one) { return one.step < 0 ? Cell{} : Cell{std::to_string(one.step)}; }},
      {parameter("group", "group").as_detail(), &One::group},
      {parameter("index", "index"), [](const One& one) { return std::to_string(one.index); }},
      {parameter("kind", "kind"), &One::kind},
      {measure("size_bytes", "size", Unit::bytes).in_own_scale().if_present(), &One::bytes},
      {measure("ranks", "ranks", Unit::count).as_detail(),
       [](const One& one) { return one.participants.size(); }},
      {measure("last_arriver", "last arriver").if_present(), &One::last_arriver},
      {seconds("wait_s", "wait"),
       [](const One& one) { return collective_time(one).known(&Time::wait); }},
      {seconds("transfer_s", "transfer"),
       [](const One& one) { return collective_time(one).known(&Time::transfer); }},
      {seconds("either_s", "wait or transfer").as_detail().unless_zero(),
       [](const One& one) { return collective_time(one).either; }},
      {seconds("spread_of_starts_s", "spread of starts"), &One::spread_of_starts},
      {seconds("spread_of_ends_s", "spread of ends"), &One::spread_of_ends},
      {seconds("shortest_s", "last arriver's duration").as_detail(), &One::shortest},
      {measure("algorithm", "algorithm").as_detail().if_present(),
       [](const One& one) { return if_said(one.algorithm); }},
      {measure("protocol", "protocol").as_detail().if_present(),
       [](const One& one) { return if_said(one.protocol); }},
      {measure("channels", "channels", Unit::count).as_detail().if_present(), &One::channels}};
  Table table =
      make_table("collective", "Single collectives", listed_collectives(view.attribution), columns);
  table = limit_rows(std::move(table), "collectives");
  if (view.attribution.collectives.size() > most_collectives) {
    table.notes.push_back(fmt::format("Only the {} with the most waiting of {} are listed.",
                                      most_collectives,
                                      view.attribution.collectives.size()));
  }
  return table;
}

Table excluded_table(const Attribution& attribution) {
  using Reason = std::pair<std::string, std::int64_t>;
  std::map<std::string, std::int64_t> reasons;
  for (const auto& ledger : attribution.ledger)
    if (ledger.excluded) ++reasons[exclusion_text(*ledger.excluded)];
  return limit_rows(
      make_table<Reason>("excluded",
                         "Steps that are not averaged",
                         {reasons.begin(), reasons.end()},
                         {{parameter("what", "why"), &Reason::first},
                          {measure("rank_steps", "steps x ranks", Unit::count), &Reason::second}}),
      "reasons");
}

Table clocks_table(const ClockReport& clocks) {
  using Clock = ClockReport::RankClock;
  const std::vector<ColumnOf<Clock>> columns{
      {parameter("rank", "rank"), &Clock::rank},
      {times("offset_s", "offset"), &Clock::offset},
      {measure("drift_ppm", "drift (ppm)"), &Clock::drift_ppm},
      {times("residual_p50_s", "residual, median"), &Clock::residual_p50},
      {times("residual_p95_s", "residual, 95 %"), &Clock::residual_p95},
      {measure("matches", "collectives used", Unit::count), &Clock::matches}};
  return limit_rows(make_table("clock", "Clocks", clocks.ranks, columns), "ranks");
}

std::string clocks_sentence(const ClockReport& clocks) {
  std::string text = fmt::format("Clocks: error bar of every wait {}", duration_text(clocks.error));
  if (clocks.method) text += ", " + said(*clocks.method);
  text += ".";
  if (clocks.causality_violations > 0) {
    text += fmt::format(" {} ends still lie before the last begin by more than that.",
                        clocks.causality_violations);
  }
  if (clocks.reason) text += fmt::format(" Clocks are not comparable: {}.", said(*clocks.reason));
  return text;
}

Table classes_table(const Attribution& attribution) {
  double whole = 0.0;
  for (const auto& one : attribution.classes) whole += in_seconds(one.time);
  const std::vector<ColumnOf<ClassifiedTime>> columns{
      {parameter("class", "class"), &ClassifiedTime::work_class},
      {measure("kernels", "kernels", Unit::count), &ClassifiedTime::kernels},
      {times("time_s", "time"), &ClassifiedTime::time},
      {measure("share", "share", Unit::percent),
       [whole](const ClassifiedTime& one) { return share_of(in_seconds(one.time), whole); }}};
  return make_table(
      "class", "Kernel time by class, summed over kernels", attribution.classes, columns);
}

Table largest_table(const Attribution& attribution) {
  using Name = std::pair<std::string, Nanoseconds>;
  const auto names = nested(attribution.classes, &ClassifiedTime::largest);
  return make_table("largest_name",
                    "Largest names; rules of your own move what is misplaced",
                    names,
                    {{parameter("class", "class"), &ClassifiedTime::work_class},
                     {parameter("what", "kernel"), &Name::first},
                     {times("time_s", "time"), &Name::second}},
                    {},
                    [](const auto& row) {
                      return std::get<0>(row.levels)->work_class != WorkClass::unclassified;
                    });
}

Table recordings_table(const Attribution& attribution) {
  // Without the directory, which all recordings of a job usually share.
  const auto file = [](const RankRecording& one) {
    return one.file.substr(one.file.find_last_of('/') + 1);
  };
  const std::vector<ColumnOf<RankRecording>> columns{
      {parameter("rank", "rank"), &RankRecording::rank},
      {measure("file", "file"), file},
      {measure("where", "where"), &RankRecording::where},
      {measure("rank_from", "rank from"), &RankRecording::rank_from},
      {measure("device_events", "GPU events", Unit::count), &RankRecording::device_events},
      {measure("host_events", "host events", Unit::count), &RankRecording::host_events}};
  return limit_rows(make_table("recording", "Recordings", attribution.recordings, columns),
                    "recordings");
}

Table losses_table(const Attribution& attribution) {
  using Loss = std::pair<const std::string, std::int64_t>;
  return limit_rows(
      make_table("loss",
                 "Lost or malformed",
                 nested(attribution.recordings, &RankRecording::losses),
                 {{parameter("rank", "rank"), &RankRecording::rank},
                  {parameter("what", "what"), [](const Loss& loss) { return words(loss.first); }},
                  {measure("amount", "amount", Unit::count), &Loss::second}}),
      "losses");
}
}  // namespace

Table kinds_table(const AttributionView& view) {
  using Sum = CollectiveSum;
  return make_table<Sum>(
      "collective_kind",
      "Collectives by kind",
      view.attribution.collective_ways,
      {{parameter("kind", "kind"), &Sum::kind},
       {measure("count", "count", Unit::count), &Sum::count},
       {measure("size_bytes", "bytes", Unit::bytes).in_own_scale().if_present(), &Sum::bytes},
       {times("wait_s", "wait"),
        [](const Sum& sum) { return collective_time(sum).known(&Time::wait); }},
       {times("transfer_s", "transfer"),
        [](const Sum& sum) { return collective_time(sum).known(&Time::transfer); }},
       {times("either_s", "wait or transfer").unless_zero(), &Sum::either},
       {measure("waiting_share", "waiting", Unit::percent).if_present(),
        [](const Sum& sum) { return collective_time(sum).share(&Time::wait); }},
       {times("shortest_s", "pure transfer"), [](const Sum& sum) { return median(sum.shortest); }},
       {measure("algbw_bytes_per_s", "algbw", Unit::bytes_per_second).if_present(),
        [](const Sum& sum) { return share_of(sum.bytes.value_or(0.0), sum.seconds_with_bytes); }},
       {times("spread_of_ends_s", "ends apart"),
        [](const Sum& sum) { return median(sum.spread_of_ends); }},
       {parameter("way", "way").if_present(), [](const Sum& sum) { return if_said(sum.way); }}});
}

Table fabric_table(const AttributionView& view) {
  if (view.fabric == nullptr) return {};
  return make_table<FabricRow>("fabric",
                               "Collectives against the curves of " + view.fabric->name,
                               view.fabric->rows,
                               {{parameter("collective", "collective"),
                                 [](const FabricRow& row) { return work_text(row.work); }},
                                {measure("calls", "calls", Unit::count), &FabricRow::calls},
                                {times("wait_s", "wait"), &FabricRow::wait},
                                {times("transfer_s", "transfer"), &FabricRow::transfer},
                                {times("expected_s", "by the curve"), &FabricRow::expected},
                                {measure("fabric_verdict", "verdict"), &FabricRow::verdict}});
}

Section collectives_section(const AttributionView& view) {
  Section section{"collectives", "Collectives: waiting and transfer"};
  const auto& attribution = view.attribution;
  if (attribution.unmatched_collectives > 0) {
    section.lead.push_back(fmt::format(
        "{} communication kernels have no partner in these recordings; their time is wait or "
        "transfer, undivided.",
        attribution.unmatched_collectives));
  }
  if (attribution.collectives.empty()) {
    section.lead.push_back(
        "No collective could be matched across ranks, so nothing can be said about waiting.");
    return section;
  }
  for (const auto& fabric : attribution.slow_fabric) section.list.push_back(sentence(fabric.found));
  section.tables = {kinds_table(view), fabric_table(view), single_table(view)};
  return section;
}

Section evidence_section(const AttributionView& view) {
  const Attribution& attribution = view.attribution;
  Section section{"evidence", "What this rests on", {}, said(attribution.remarks)};
  const auto& choice = attribution.step_choice;
  section.lead.push_back(fmt::format("Steps: {}{} found, {} not averaged.",
                                     choice.found ? sentence(choice.found) + " " : "",
                                     choice.steps,
                                     choice.excluded));
  section.lead.push_back(clocks_sentence(attribution.clocks));
  section.tables = {excluded_table(attribution),
                    clocks_table(attribution.clocks),
                    classes_table(attribution),
                    largest_table(attribution),
                    recordings_table(attribution),
                    losses_table(attribution)};
  return section;
}
}  // namespace scaleworth::report
