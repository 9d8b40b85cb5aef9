// SPDX-License-Identifier: Apache-2.0
#include "src/core/run/fields.h"
#include "src/model/findings/sentences.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

void doubt(std::vector<Finding>& findings, std::string text) {
  findings.push_back({std::move(text), true});
}

std::string because(const std::string& reason) {
  return reason.empty() ? "no reason recorded" : reason;
}

void add_run_doubts(const Run& run, std::vector<Finding>& findings) {
  if (!run.complete) {
    doubt(findings,
          fmt::format(
              "The run is not complete: {}.",
              run.interruption.empty() ? "it ended before the last probe" : run.interruption));
  }
  for (const ProbeRecord& probe : run.probes) {
    if (probe.status == ProbeStatus::failed) {
      doubt(findings, fmt::format("{} failed: {}.", probe.name, because(probe.reason)));
    } else if (probe.status == ProbeStatus::skipped) {
      doubt(findings, fmt::format("{} was skipped: {}.", probe.name, because(probe.reason)));
    } else if (probe.status == ProbeStatus::pending) {
      doubt(findings, fmt::format("{} was not reached.", probe.name));
    }
  }
}

void add_contention(const RooflineResult& roofline, std::vector<Finding>& findings) {
  std::size_t contended = 0;
  double least_share = 1.0;
  for (const ComputeCeiling& ceiling : roofline.ceilings) {
    if (!ceiling.contended) continue;
    ++contended;
    least_share = std::min(least_share, ceiling.cpu_share.value_or(1.0));
  }
  if (contended == 0) return;
  doubt(findings,
        fmt::format("{} of {} compute ceilings were contended: the workers had as little as {:.0f} "
                    "% of their cores; wall-clock numbers of this run are too low.",
                    contended,
                    roofline.ceilings.size(),
                    100.0 * least_share));
}

/// Most workers that the compute probe ran at once: what the machine can do in parallel.
int parallel_workers(const Analysis& analysis) {
  int workers = 0;
  if (!analysis.roofline) return workers;
  for (const ComputeCeiling& ceiling : analysis.roofline->ceilings) {
    workers = std::max(workers, ceiling.workers);
  }
  return workers;
}

void add_mode_doubts(const ScalingResult& scaling, int workers, std::vector<Finding>& findings) {
  const ScalingRow& last = scaling.rows.back();
  const bool comparable = scaling.mode == "strong" && scaling.rows.size() > 1;
  if (comparable && !scaling.quality_held) {
    doubt(findings, fmt::format("Quality is not shown to be equal: {}.", scaling.quality_note));
  }
  if (scaling.cause && !scaling.cause_note.empty()) {
    doubt(findings, fmt::format("In {} scaling {}.", scaling.mode, scaling.cause_note));
  }
  if (workers > 0 && last.ranks > workers) {
    doubt(findings,
          fmt::format("{} ranks share {} workers: the {} loss at that count is the machine's size, "
                      "not the program's.",
                      last.ranks,
                      workers,
                      scaling.mode));
  }
  for (const ScalingRow& row : scaling.rows) {
    if (row.efficiency && row.efficiency->interval && row.efficiency->interval->low > 1.0) {
      doubt(findings,
            fmt::format("{} scaling is superlinear at {}: efficiency {} %; caches, or a baseline "
                        "that was disturbed.",
                        scaling.mode,
                        ranks_text(row.ranks),
                        estimate_text(*row.efficiency, 100.0)));
    }
    if (row.mfu_measured.value_or(0.0) > 1.0 || row.mfu_peak.value_or(0.0) > 1.0) {
      doubt(findings,
            fmt::format("The {} step at {} is above its peak: the peak is too low or was measured "
                        "under load.",
                        scaling.mode,
                        ranks_text(row.ranks)));
    }
  }
}

void add_sample_doubts(const Run& run, std::vector<Finding>& findings) {
  std::size_t all = 0;
  std::size_t doubtful = 0;
  std::string by_probe;
  for (const ProbeRecord& probe : run.probes) {
    const auto here = std::count_if(probe.points.begin(),
                                    probe.points.end(),
                                    [](const Point& point) { return !point.warnings.empty(); });
    all += probe.points.size();
    doubtful += static_cast<std::size_t>(here);
    if (here == 0) continue;
    by_probe += fmt::format(
        "{}{} {} of {}", by_probe.empty() ? "" : ", ", probe.name, here, probe.points.size());
  }
  if (doubtful == 0) return;
  doubt(findings,
        fmt::format("{} of {} settings have doubtful samples (drift, two modes or contention): {}.",
                    doubtful,
                    all,
                    by_probe));
}

}  // namespace

void add_doubts(const Run& run, const Analysis& analysis, std::vector<Finding>& findings) {
  add_run_doubts(run, findings);
  for (const ScalingResult& scaling : analysis.scaling) {
    if (!scaling.rows.empty()) add_mode_doubts(scaling, parallel_workers(analysis), findings);
  }
  if (analysis.roofline) add_contention(*analysis.roofline, findings);
  add_sample_doubts(run, findings);
}

}  // namespace scaleworth::model
