// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_document.h"
#include "report/attribution/json/parts.h"
#include "report/attribution/verdict.h"

namespace scaleworth::report {
namespace {

using attribution::Attribution;

Json recording(const attribution::RankRecording& one) {
  Json losses = Json::object();
  for (const auto& [what, amount] : one.losses) losses[what] = amount;
  return {{"rank", one.rank.index},
          {"file", one.file},
          {"where", json_note(one.where)},
          {"rank_from", json_note(one.rank_from)},
          {"device_events", one.device_events},
          {"host_events", one.host_events},
          {"losses", losses}};
}

Json steps(const AttributionView& view) {
  const auto& choice = view.attribution.step_choice;
  return {{"source", json_note(choice.source)},
          {"sentence", json_note(choice.sentence)},
          {"found", choice.steps},
          {"excluded", choice.excluded},
          {"averages_are_of_excluded_steps", view.averages && view.averages->only_excluded}};
}

Json clock(const attribution::ClockReport::RankClock& one) {
  return {{"rank", one.rank.index},
          {"offset_ns", one.offset.count()},
          {"drift_ppm", json_value(one.drift_ppm)},
          {"residual_p50_ns", json_time(one.residual_p50)},
          {"residual_p95_ns", json_time(one.residual_p95)},
          {"matches", one.matches}};
}

Json clocks(const attribution::ClockReport& report) {
  return {{"comparable", report.comparable},
          {"reason", json_note(report.reason)},
          {"method", json_note(report.method)},
          {"error_ns", report.error.count()},
          {"causality_violations", report.causality_violations},
          {"ranks", json_array(report.ranks, clock)}};
}

Json class_time(const attribution::ClassifiedTime& one) {
  Json largest = Json::array();
  for (const auto& [name, time] : one.largest) {
    largest.push_back({{"name", name}, {"time_ns", time.count()}});
  }
  return {{"class", attribution::work_class_name(one.work_class)},
          {"kernels", one.kernels},
          {"time_ns", one.time.count()},
          {"largest", largest}};
}

/// Per network operation: they run side by side.
Json nccl_use(const std::optional<attribution::NcclUse>& use) {
  if (!use) return nullptr;
  return {{"network_operations", use->operations},
          {"sent_bytes", use->sent_bytes},
          {"operation_ns", use->mean(use->duration).count()},
          {"gpu_wait_ns", use->mean(use->gpu_wait).count()},
          {"peer_wait_ns", use->mean(use->peer_wait).count()},
          {"network_wait_ns", use->mean(use->network_wait).count()},
          {"channels_apart_ns",
           use->channels_apart ? Json(use->channels_apart->count()) : Json(nullptr)}};
}

Json collective(const attribution::CollectiveWait& one) {
  Json participants = Json::array();
  for (const auto& part : one.participants) {
    participants.push_back({{"rank", part.rank.index},
                            {"start_ns", part.start.count()},
                            {"end_ns", part.end.count()},
                            {"wait_ns", part.wait.count()},
                            {"transfer_ns", part.transfer.count()},
                            {"nccl", nccl_use(part.nccl)}});
  }
  return {{"kind", attribution::collective_kind_name(one.kind)},
          {"group", json_note(one.group)},
          {"step", one.step < 0 ? Json(nullptr) : Json(one.step)},
          {"index", one.index},
          {"size_bytes", one.bytes ? Json(*one.bytes) : Json(nullptr)},
          {"algorithm", json_note(one.algorithm)},
          {"protocol", json_note(one.protocol)},
          {"channels", one.channels ? Json(*one.channels) : Json(nullptr)},
          {"last_arriver", one.last_arriver ? Json(one.last_arriver->index) : Json(nullptr)},
          {"spread_of_starts_ns", one.spread_of_starts.count()},
          {"spread_of_ends_ns", one.spread_of_ends.count()},
          {"shortest_ns", one.shortest.count()},
          {"participants", participants}};
}

Json collectives(const Attribution& attribution) {
  Json listed = Json::array();
  for (const std::size_t i : listed_collectives(attribution)) {
    listed.push_back(collective(attribution.collectives[i]));
  }
  return {{"matched", attribution.collectives.size()},
          {"unmatched_kernels", attribution.unmatched_collectives},
          {"listed", listed}};
}

const char* answer_name(Answer answer) {
  return answer == Answer::yes ? "no straggler" : answer == Answer::no ? "straggler" : "not known";
}

Json verdict(const AttributionView& view) {
  const Verdict judged = judge_attribution(view);
  return {{"answer", answer_name(judged.answer)},
          {"headline", judged.headline},
          {"lines", judged.lines}};
}

}  // namespace

std::string attribution_json(const AttributionView& view) {
  const Attribution& attribution = view.attribution;
  const auto& price = view.options.price_per_gpu;
  const Json json{
      {"schema_version", attribution_schema_version},
      {"kind", "scaleworth attribution"},
      {"tool_version", json_note(view.options.tool_version)},
      {"git_revision", json_note(view.options.git_revision)},
      {"input", json_note(view.options.input)},
      {"price_usd_per_gpu_hour", price ? json_value(price->value() * 3600.0) : Json(nullptr)},
      {"verdict", verdict(view)},
      {"remarks", attribution.remarks},
      {"steps", steps(view)},
      {"averages", json_averages(view)},
      {"ledger",
       json_array(attribution.ledger,
                  [&](const auto& ledger) { return json_ledger(attribution, ledger); })},
      {"culprits", json_culprits(view)},
      {"collectives", collectives(attribution)},
      {"efficiency",
       attribution.efficiency ? json_efficiency(*attribution.efficiency) : Json(nullptr)},
      {"efficiency_reason", json_note(attribution.efficiency_reason)},
      {"clocks", clocks(attribution.clocks)},
      {"classes", json_array(attribution.classes, class_time)},
      {"recordings", json_array(attribution.recordings, recording)},
      {"job_ranks",
       {{"at_least", attribution.job_size.at_least}, {"told", attribution.job_size.told}}}};
  // Names from recordings may be in any encoding; a replacement character beats an exception.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace scaleworth::report
