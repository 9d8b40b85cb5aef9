// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/json/parts.h"

namespace scaleworth::report {
namespace {

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

}  // namespace

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

}  // namespace scaleworth::report
