// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/json_values.h"
#include "report/names.h"

#include <algorithm>
#include <optional>

namespace scaleworth::report {
namespace {
// An attribution as JSON, part by part: times in nanoseconds, null for absent.

inline Json json_time(const std::optional<attribution::Nanoseconds>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}

/// Per rank and over ranks, or null without steps.
Json json_averages(const AttributionView& view);
/// One step of one rank of `job`, as recorded.
Json json_ledger(const attribution::Attribution& job, const attribution::StepLedger& ledger);
Json json_culprits(const AttributionView& view);
Json json_efficiency(const attribution::Efficiency& efficiency);

using attribution::Culprit;

const char* recurrence_name(attribution::Recurrence recurrence) {
  switch (recurrence) {
    case attribution::Recurrence::one_rank:
      return "one rank";
    case attribution::Recurrence::rotating:
      return "rotating";
    case attribution::Recurrence::too_few:
      break;
  }
  return "too few steps";
}

Json cause_share(const attribution::CauseShare& share) {
  return {{"cause", attribution::late_cause_name(share.cause)},
          {"time_ns", share.time.count()},
          {"detail", json_note(share.detail)}};
}

Json culprit(const AttributionView& view, const Culprit& one) {
  return {{"rank", one.rank.index},
          {"waited_ns", one.waited.count()},
          {"exposed_ns", one.exposed.count()},
          {"exposed_per_step_ms", json_value(one.exposed_per_step_ms)},
          {"gpu_seconds", json_value(one.gpu_seconds)},
          {"share_of_gpu_time", json_value(share_of_gpu_time(view, one))},
          {"lost_usd_per_hour", json_value(lost_per_hour(view, one))},
          {"collectives", one.collectives},
          {"steps", one.steps},
          {"significant", one.significant},
          {"cause", attribution::late_cause_name(one.cause)},
          {"shares", json_array(one.shares, cause_share)},
          {"sentence", json_note(one.sentence)}};
}

/// Entries of the waiting matrix that are not zero.
Json matrix(const attribution::Attribution& job) {
  const auto& report = job.culprits;
  Json entries = Json::array();
  for (std::size_t i = 0; i < report.total.size(); ++i) {
    for (std::size_t j = 0; j < report.total[i].size(); ++j) {
      if (report.total[i][j].count() != 0) {
        entries.push_back({{"rank", rank_at(job, i).index},
                           {"waited_for", rank_at(job, j).index},
                           {"exposed_ns", report.exposed[i][j].count()},
                           {"total_ns", report.total[i][j].count()}});
      }
    }
  }
  return entries;
}

Json what_if(const attribution::Efficiency::WhatIf& one) {
  return {{"change", one.change},
          {"step_time_ns", one.step_time.count()},
          {"saved_ns", one.saved.count()}};
}

Json path_share(const attribution::Efficiency::PathShare& one) {
  return {{"rank", one.rank.index}, {"what", one.what}, {"time_ns", one.time.count()}};
}

Json json_culprits(const AttributionView& view) {
  const auto& report = view.attribution.culprits;
  return {{"abstention", json_note(report.abstention)},
          {"recurrence", recurrence_name(report.recurrence)},
          {"culprits",
           json_array(report.culprits, [&](const Culprit& one) { return culprit(view, one); })},
          {"matrix", matrix(view.attribution)}};
}

Json json_efficiency(const attribution::Efficiency& efficiency) {
  Json useful = Json::array();
  for (const auto time : efficiency.useful) useful.push_back(time.count());
  return {{"window", json_note(efficiency.window)},
          {"runtime_ns", efficiency.runtime.count()},
          {"parallel", json_value(efficiency.parallel)},
          {"load_balance", json_value(efficiency.load_balance)},
          {"serialization", json_value(efficiency.serialization)},
          {"host", json_value(efficiency.host)},
          {"dependency", json_value(efficiency.dependency)},
          {"transfer", json_value(efficiency.transfer)},
          {"useful_ns", useful},
          {"step_time_ns", efficiency.step_time.count()},
          {"replay_error", json_value(efficiency.replay_error)},
          {"what_if", json_array(efficiency.what_if, what_if)},
          {"critical_path", json_array(efficiency.critical_path, path_share)}};
}

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

namespace {

Json nanoseconds(double seconds) {
  return json_value(seconds * 1e9);
}

Json spread(const Spread& value) {
  return {{"mean_ns", nanoseconds(value.mean)},
          {"least_ns", nanoseconds(value.least)},
          {"most_ns", nanoseconds(value.most)}};
}

/// "data loading" as in a key: "data_loading_ns".
std::string key(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name + "_ns";
}

std::string class_key(std::size_t index) {
  return key(attribution::work_class_name(static_cast<attribution::WorkClass>(index)));
}

std::string cause_key(std::size_t index) {
  return key(attribution::host_cause_name(static_cast<attribution::HostCause>(index)));
}

Json averaged(const AveragedLedger& ledger) {
  Json parts = Json::object();
  for (const Part part : recording_parts) parts[part_key(part)] = spread(ledger.part(part));
  Json classes = Json::object();
  for (std::size_t i = 0; i < attribution::work_classes; ++i) {
    classes[class_key(i)] = nanoseconds(ledger.compute_by_class[i]);
  }
  Json causes = Json::object();
  for (std::size_t i = 0; i < attribution::host_causes; ++i) {
    causes[cause_key(i)] = nanoseconds(ledger.host_late_by_cause[i]);
  }
  return {{"rank", ledger.rank ? Json(ledger.rank->index) : Json(nullptr)},
          {"steps", ledger.steps},
          {"step", spread(ledger.step)},
          {"parts", parts},
          {"compute_by_class", classes},
          {"host_late_by_cause", causes},
          {"overlapped_transfer_ns", nanoseconds(ledger.overlapped_transfer)},
          {"overlapped_wait_ns", nanoseconds(ledger.overlapped_wait)},
          {"overlapped_copy_ns", nanoseconds(ledger.overlapped_copy)},
          {"communication_ns", nanoseconds(ledger.communication)}};
}

Json json_averages(const AttributionView& view) {
  if (!view.averages) return nullptr;
  return {{"mean", averaged(view.averages->mean)},
          {"ranks", json_array(view.averages->ranks, averaged)}};
}

Json json_ledger(const attribution::Attribution& job, const attribution::StepLedger& ledger) {
  Json json{{"step", ledger.step},
            {"rank", ledger.rank.index},
            {"start_ns", ledger.start.count()},
            {"end_ns", ledger.end.count()},
            {"excluded", json_note(ledger.excluded)}};
  for (const Part part : recording_parts) json[part_key(part)] = ledger.part(part).count();
  Json waited = Json::array();
  for (std::size_t place = 0; place < ledger.waited_for.size(); ++place) {
    if (ledger.waited_for[place].count() != 0) {
      waited.push_back(
          {{"rank", rank_at(job, place).index}, {"time_ns", ledger.waited_for[place].count()}});
    }
  }
  json["waited_for"] = waited;
  json["uncharged_wait_ns"] = ledger.uncharged_wait.count();
  return json;
}
}  // namespace
}  // namespace scaleworth::report
