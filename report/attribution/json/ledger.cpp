// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/json/parts.h"
#include "report/names.h"

#include <algorithm>

namespace scaleworth::report {
namespace {

using attribution::LedgerPart;

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
  for (std::size_t i = 0; i < attribution::ledger_parts; ++i) {
    parts[attribution::ledger_part_key(static_cast<LedgerPart>(i))] = spread(ledger.parts[i]);
  }
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

}  // namespace

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
  for (std::size_t i = 0; i < attribution::ledger_parts; ++i) {
    json[attribution::ledger_part_key(static_cast<LedgerPart>(i))] = ledger.parts[i].count();
  }
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

}  // namespace scaleworth::report
