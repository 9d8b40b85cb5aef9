// SPDX-License-Identifier: Apache-2.0
#include "src/model/analysis.h"

#include "src/core/files/run_names.h"
#include "src/core/run.h"
#include "src/model/collectives.h"
#include "src/model/decision/decision.h"
#include "src/model/findings.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::model {
namespace {
/// Results, then warnings. Results: scaling and its cause, cost, law or prediction, MFU, ceilings,
/// communication. Warnings: a run that ended early, probes skipped or failed, losses that differ,
/// contention, more ranks than workers, a rank slowed on purpose, rates above their peak.
/// Every sentence follows from `run` and `analysis` alone; what is not known has none.
std::vector<Finding> findings_of(const Run& run, const Analysis& analysis) {
  std::vector<Finding> findings;
  // A slow GPU sets the pace of all that follows.
  add_gpu_results(analysis, findings);
  for (const ScalingResult& scaling : analysis.scaling) add_scaling_results(scaling, findings);
  add_utilisation(analysis, findings);
  add_step_variants(run, findings);
  add_machine_results(analysis, findings);
  add_warnings(run, analysis, findings);
  add_gpu_warnings(analysis, findings);
  return findings;
}

/// The all-reduce of one rank count as measured there, of others carried over from the largest
/// measured count. Isolated operations: a bucket is waited for, not pipelined behind the next.
AllReduceTime all_reduce_time(const std::vector<CollectiveResult>& collectives) {
  std::map<int, AllReduceModel> models;
  for (const CollectiveResult& result : collectives) {
    if (result.collective != "all_reduce" || result.mode != "isolated") continue;
    if (auto model = all_reduce_model(result)) models.insert_or_assign(result.ranks, *model);
  }
  if (models.empty()) return nullptr;
  return [models = std::move(models)](Bytes bytes, int ranks) -> std::optional<Estimate<Seconds>> {
    const auto measured = models.find(ranks);
    const AllReduceModel& model =
        measured != models.end() ? measured->second : models.rbegin()->second;
    return model.predict(ranks, bytes).time;
  };
}
}  // namespace

Analysis analyse(const Run& run, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.assumptions = options;
  analysis.roofline = analyse_roofline(run);
  analysis.gpus =
      analyse_gpus(run, options.datasheets ? *options.datasheets : gpu_catalogue(), options);
  analysis.gpus_together = compare_gpus(run, analysis.gpus, options.peak_per_rank);
  analysis.collectives = analyse_collectives(run);
  analysis.algorithms = analyse_algorithms(run);
  const std::vector<ComputeCeiling> none;
  analysis.scaling = analyse_scaling(run,
                                     options,
                                     analysis.roofline ? analysis.roofline->ceilings : none,
                                     all_reduce_time(analysis.collectives));
  add_gpu_utilisation(run, analysis.gpus, analysis.scaling);
  analysis.findings = findings_of(run, analysis);
  return analysis;
}

namespace {
void add_warning(std::vector<Finding>& findings, std::string text) {
  findings.push_back({std::move(text), true});
}

std::string because(const std::string& reason) {
  return reason.empty() ? "no reason recorded" : reason;
}

void add_run_warnings(const Run& run, std::vector<Finding>& findings) {
  if (!run.complete) {
    add_warning(findings,
                fmt::format("The run is not complete: {}.",
                            run.interruption.empty() ? "it ended before the last probe"
                                                     : run.interruption));
  }
  for (const ProbeRecord& probe : run.probes) {
    if (probe.status == ProbeStatus::failed) {
      add_warning(findings, fmt::format("{} failed: {}.", probe.name, because(probe.reason)));
    } else if (probe.status == ProbeStatus::skipped) {
      add_warning(findings, fmt::format("{} was skipped: {}.", probe.name, because(probe.reason)));
    } else if (probe.status == ProbeStatus::pending) {
      add_warning(findings, fmt::format("{} was not reached.", probe.name));
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
  add_warning(
      findings,
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

void add_mode_warnings(const ScalingResult& scaling, int workers, std::vector<Finding>& findings) {
  const ScalingRow& last = scaling.rows.back();
  const bool comparable = scaling.mode == "strong" && scaling.rows.size() > 1;
  if (comparable && !scaling.quality_held) {
    add_warning(findings,
                fmt::format("Quality is not shown to be equal: {}.", scaling.quality_note));
  }
  if (!scaling.slowed.empty()) {
    add_warning(findings, fmt::format("In {} scaling {}.", scaling.mode, scaling.slowed));
  }
  if (workers > 0 && last.ranks > workers) {
    add_warning(
        findings,
        fmt::format("{} ranks share {} workers: the {} loss at that count is the machine's size, "
                    "not the program's.",
                    last.ranks,
                    workers,
                    scaling.mode));
  }
  for (const ScalingRow& row : scaling.rows) {
    if (row.efficiency && row.efficiency->interval && row.efficiency->interval->low > 1.0) {
      add_warning(
          findings,
          fmt::format("{} scaling is superlinear at {}: efficiency {} %; caches, or a baseline "
                      "that was disturbed.",
                      scaling.mode,
                      ranks_text(row.ranks),
                      estimate_text(*row.efficiency, 100.0)));
    }
    if (row.mfu_measured.value_or(0.0) > 1.0 || row.mfu_peak.value_or(0.0) > 1.0) {
      add_warning(
          findings,
          fmt::format("The {} step at {} is above its peak: the peak is too low or was measured "
                      "under load.",
                      scaling.mode,
                      ranks_text(row.ranks)));
    }
  }
}

void add_sample_warnings(const Run& run, std::vector<Finding>& findings) {
  std::size_t all = 0;
  std::size_t unsteady = 0;
  std::string by_probe;
  for (const ProbeRecord& probe : run.probes) {
    const auto here = std::count_if(probe.points.begin(),
                                    probe.points.end(),
                                    [](const Point& point) { return !point.warnings.empty(); });
    all += probe.points.size();
    unsteady += static_cast<std::size_t>(here);
    if (here == 0) continue;
    by_probe += fmt::format(
        "{}{} {} of {}", by_probe.empty() ? "" : ", ", probe.name, here, probe.points.size());
  }
  if (unsteady == 0) return;
  add_warning(
      findings,
      fmt::format("{} of {} settings have unsteady samples (drift, two modes or contention): {}.",
                  unsteady,
                  all,
                  by_probe));
}
}  // namespace

void add_warnings(const Run& run, const Analysis& analysis, std::vector<Finding>& findings) {
  add_run_warnings(run, findings);
  for (const ScalingResult& scaling : analysis.scaling) {
    if (!scaling.rows.empty()) add_mode_warnings(scaling, parallel_workers(analysis), findings);
  }
  if (analysis.roofline) add_contention(*analysis.roofline, findings);
  add_sample_warnings(run, findings);
}

namespace {
void add_limits(const GpuIdentity& gpu, std::vector<Finding>& findings) {
  if (gpu.power_limit_w && gpu.default_power_limit_w &&
      *gpu.power_limit_w < 0.995 * *gpu.default_power_limit_w) {
    add_warning(
        findings,
        fmt::format("GPU {}: its power limit is {:.0f} W, below the default of {:.0f} W: its rates "
                    "are those of a capped GPU.",
                    gpu.ordinal,
                    *gpu.power_limit_w,
                    *gpu.default_power_limit_w));
  }
  if (gpu.mig) {
    add_warning(
        findings,
        fmt::format("GPU {} is a MIG slice: clock and power are shared with other slices, and the "
                    "datasheet's peaks are those of the whole GPU.",
                    gpu.ordinal));
  }
}

/// Heat and brakes are faults of the machine; a power cap is how it is built.
void add_throttling(const GpuResult& gpu, std::vector<Finding>& findings) {
  constexpr double notable = 0.05;
  std::set<std::string> seen;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady) continue;
    for (const auto& [reason, share] : format.steady->conditions.slowdown_reasons) {
      if (reason == "power cap" || share < notable || !seen.insert(reason).second) continue;
      add_warning(
          findings,
          fmt::format("GPU {}: {} held its clock down in {:.0f} % of the readings of the steady {} "
                      "product.",
                      gpu.identity.ordinal,
                      reason,
                      100.0 * share,
                      format_text(format.precision, format.fast_accumulation)));
    }
  }
}

void add_missing_telemetry(const GpuResult& gpu, std::vector<Finding>& findings) {
  std::vector<std::string> without_power;
  std::vector<std::string> without_clock;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady) continue;
    const std::string name = format_text(format.precision, format.fast_accumulation);
    if (!format.steady->conditions.power_w) without_power.push_back(name);
    if (!format.steady->conditions.clock_hz) without_clock.push_back(name);
  }
  if (!without_clock.empty()) {
    add_warning(
        findings,
        fmt::format("GPU {}: no clock was recorded with the steady {} products: their loss cannot "
                    "be divided.",
                    gpu.identity.ordinal,
                    fmt::join(without_clock, ", ")));
  }
  if (!without_power.empty()) {
    add_warning(
        findings,
        fmt::format("GPU {}: no power was recorded with the steady {} products: whether a cap held "
                    "the clock down is not known.",
                    gpu.identity.ordinal,
                    fmt::join(without_power, ", ")));
  }
}

void add_unknown_peaks(const GpuResult& gpu, std::vector<Finding>& findings) {
  std::vector<std::string> formats;
  for (const GpuFormat& format : gpu.formats) {
    if (format.steady && !format.steady->against) {
      formats.push_back(format_text(format.precision, format.fast_accumulation));
    }
  }
  if (formats.empty()) return;
  const std::string name = gpu.identity.name.empty() ? "this GPU" : gpu.identity.name;
  add_warning(
      findings,
      gpu.identity.datasheet
          ? fmt::format("GPU {}: the datasheet of {} has no peak for {}.",
                        gpu.identity.ordinal,
                        name,
                        fmt::join(formats, ", "))
          : fmt::format(
                "GPU {}: no datasheet of {} is known, so no percentage of a peak is printed; "
                "give its dense bf16 peak with --peak.",
                gpu.identity.ordinal,
                name));
}

void add_mixed_models(const std::vector<GpuResult>& gpus, std::vector<Finding>& findings) {
  std::set<std::string> names;
  for (const GpuResult& gpu : gpus) names.insert(gpu.identity.name);
  if (names.size() < 2) return;
  add_warning(
      findings,
      fmt::format("The GPUs are of {} models ({}): the slowest sets the pace of a common step.",
                  names.size(),
                  fmt::join(names, ", ")));
}
}  // namespace

void add_gpu_warnings(const Analysis& analysis, std::vector<Finding>& findings) {
  add_mixed_models(analysis.gpus, findings);
  for (const GpuResult& gpu : analysis.gpus) {
    add_limits(gpu.identity, findings);
    add_throttling(gpu, findings);
    add_missing_telemetry(gpu, findings);
    add_unknown_peaks(gpu, findings);
    for (const std::string& warning : gpu.warnings) {
      add_warning(findings, fmt::format("GPU {}: {}.", gpu.identity.ordinal, warning));
    }
  }
}
}  // namespace scaleworth::model
