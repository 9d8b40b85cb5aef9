// SPDX-License-Identifier: Apache-2.0
#include "src/core/run/status.h"

#include <array>

#include <fmt/format.h>

namespace scaleworth {
namespace {

constexpr std::array all_statuses{
    ProbeStatus::pending, ProbeStatus::measured, ProbeStatus::skipped, ProbeStatus::failed};

std::string points_kept(const ProbeRecord& probe) {
  const std::size_t count = probe.points.size();
  return fmt::format("{} point{} kept", count, count == 1 ? "" : "s");
}

}  // namespace

const char* probe_status_name(ProbeStatus status) {
  switch (status) {
    case ProbeStatus::pending:
      return "pending";
    case ProbeStatus::measured:
      return "measured";
    case ProbeStatus::skipped:
      return "skipped";
    case ProbeStatus::failed:
      return "failed";
  }
  return "unknown";
}

std::optional<ProbeStatus> probe_status(std::string_view name) {
  for (const ProbeStatus status : all_statuses) {
    if (name == probe_status_name(status)) return status;
  }
  return std::nullopt;
}

std::vector<std::string> missing(const Run& run) {
  std::vector<std::string> sentences;
  if (!run.interruption.empty()) {
    sentences.push_back("the run ended early: " + run.interruption);
  } else if (!run.complete) {
    sentences.push_back("the run did not finish: it was killed, or it is still going on");
  }
  for (const ProbeRecord& probe : run.probes) {
    if (probe.status == ProbeStatus::pending && probe.points.empty()) {
      sentences.push_back(probe.name + " was asked for and not reached");
    } else if (probe.status == ProbeStatus::pending) {
      sentences.push_back(fmt::format("{} was cut short, {}", probe.name, points_kept(probe)));
    } else if (probe.status == ProbeStatus::failed) {
      sentences.push_back(
          fmt::format("{} failed, {}: {}", probe.name, points_kept(probe), probe.reason));
    }
  }
  return sentences;
}

}  // namespace scaleworth
