// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/analysis.h"
#include "src/model/comparison.h"

#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace scaleworth::model {
namespace {
void add_together(const GpusTogether& together, RunFindings& findings) {
  const GpuPace& slowest = *find_in(together.paces, together.slowest, &GpuPace::ordinal);
  const bool even = std::ranges::none_of(together.paces, &GpuPace::slow);
  findings.results.emplace_back(even ? FindingId::gpus_even : FindingId::gpus_spread,
                                together.paces.size(),
                                word_of(together.precision),
                                together.spread,
                                together.slowest,
                                slowest.together);
  for (const GpuPace& pace : together.paces) {
    if (!pace.slow) continue;
    if (pace.cause.empty())
      findings.results.emplace_back(FindingId::gpu_slow, pace.ordinal, *pace.of_others);
    else
      findings.results.emplace_back(
          FindingId::gpu_slow_because, pace.ordinal, *pace.of_others, pace.cause);
  }
}

void add_losses(const GpuResult& gpu, RunFindings& findings) {
  const GpuFormat* format = leading_format(gpu, &GpuFormat::steady);
  if (format == nullptr || !format->waterfall) return;
  const LossWaterfall& waterfall = *format->waterfall;
  constexpr double notable = 0.01;  // of the datasheet's rate: one per cent
  std::vector<Finding> losses;      // those, and unknown ones, in their order
  for (const WaterfallStep& step : waterfall.steps) {
    if (!step.change) {
      losses.emplace_back(FindingId::gpu_loss_unknown, scaleworth::word_of(step.name));
    } else if (const double share = *step.change / waterfall.spec; std::abs(share) >= notable) {
      losses.emplace_back(FindingId::gpu_loss, scaleworth::word_of(step.name), 100.0 * share);
    }
  }
  findings.results.emplace_back(FindingId::gpu_reaches,
                                gpu.identity.ordinal,
                                word_of(format->format),
                                waterfall.measured.value() * 1e-12,
                                waterfall.spec.value() * 1e-12,
                                waterfall.basis,
                                losses);
}

/// What tables show, and what the verdict states of strong scaling, is not repeated.
void add_law(const ScalingResult& scaling, const ScalingLaw& law, RunFindings& findings) {
  const char* mode = word_of(scaling.mode);
  if (law.not_identifiable) {
    if (scaling.rows.size() < 2) return;  // one count has no law
    findings.warnings.emplace_back(
        law.prediction ? FindingId::prediction_not_identifiable : FindingId::law_not_identifiable,
        mode,
        *law.not_identifiable);
  } else if (law.prediction && !law.reproduces_measured) {
    findings.warnings.emplace_back(FindingId::prediction_misses, mode, law.residual);
  } else if (law.serial && law.coherency) {
    findings.results.emplace_back(FindingId::law_fitted, mode, *law.serial, *law.coherency);
  }
}

void add_run_warnings(const Run& run, RunFindings& findings) {
  if (!run.complete) {
    if (!run.interruption)
      findings.warnings.emplace_back(FindingId::run_ended_early);
    else
      findings.warnings.emplace_back(FindingId::run_not_complete, *run.interruption);
  }
  for (const ProbeRecord& probe : run.probes) {
    if (probe.status == ProbeStatus::pending) {
      findings.warnings.emplace_back(FindingId::probe_not_reached, probe.name);
    } else if (probe.status == ProbeStatus::failed) {  // one skipped stands under "not measured"
      if (!probe.reason)
        findings.warnings.emplace_back(FindingId::probe_failed, probe.name);
      else
        findings.warnings.emplace_back(FindingId::probe_failed_because, probe.name, *probe.reason);
    }
    // Of an import they are what its reader found: a late rank, lost records.
    if (run.suite == "import")
      std::ranges::copy(probe.warnings, std::back_inserter(findings.results));
  }
}

/// Repeats so far apart are of two states of a machine, or of two machines: their mean is of none.
void add_differing_runs(const Run& run, RunFindings& findings) {
  constexpr double apart = 0.2;  // standard deviation over median, of a quarter of the settings
  for (const ProbeRecord& probe : run.probes) {
    std::map<Setting, Series> pooled;
    for (const Point& point : probe.points) {
      const auto number = point.setting.count(Parameter::run);
      for (const Metric name : {Metric::wall_s, Metric::time_s, Metric::step_s}) {
        if (!point.samples.contains(name)) continue;
        const Series times = usable_times(point, name);
        Series& all = pooled[point.setting.without({Parameter::run})];
        for (std::size_t i = 0; i < times.size(); ++i)
          all.add(times[i], number ? static_cast<int>(*number) : times.run(i));
      }
    }
    std::vector<double> between;
    for (const auto& [setting, times] : pooled)
      if (const auto spread = run_spread(times))
        between.push_back(spread->between_sd / *median(spread->medians));
    const auto beyond = std::ranges::count_if(between, [](double one) { return one > apart; });
    if (beyond == 0 || 4 * beyond < std::ssize(between)) continue;
    findings.unreliable.emplace_back(FindingId::runs_differ, probe.name, std::ranges::max(between));
  }
}

/// Of all CPUs, what programs beside ours used, where that is told.
std::optional<double> notable_other_load(const Run& run) {
  constexpr double notable = 0.05;
  const auto others = number_fact(run, "load_during_run", "other_cpu_fraction");
  return others && *others > notable ? others : std::nullopt;
}

/// Programs beside ours, as the machine counted them.
void add_other_programs(const Run& run, const Analysis& analysis, RunFindings& findings) {
  if (const auto others = notable_other_load(run))
    findings.unreliable.emplace_back(FindingId::other_programs, *others);
  constexpr double notable_stops = 0.05;  // of the quota's periods
  const double throttled = number_fact(run, "load_during_run", "throttled_fraction").value_or(0.0);
  if (throttled > notable_stops)
    findings.unreliable.emplace_back(FindingId::quota_stopped,
                                     number_fact(run, "limits", "cpu_quota_cpus").value_or(0.0),
                                     throttled);
  for (const GpuResult& gpu : analysis.gpus) {
    const int ordinal = gpu.identity.ordinal;
    // None known is no program.
    if (number_fact(run, fmt::format("gpu {}", ordinal), "foreign_processes") > 0.0)
      findings.unreliable.emplace_back(FindingId::gpu_shared, ordinal);
  }
}

/// A node or a way between nodes that holds up all others, and what it costs a step.
void add_slow_links(const Run& run, const Analysis& analysis, RunFindings& findings) {
  const auto name = [&](int node) {
    const std::string number = fmt::format("node {}", node);
    const std::string known = text_fact(run, "nodes", number);
    return known.empty() ? number : known;
  };
  // A ring goes at the pace of its slowest link.
  Seconds exposed;
  for (const ScalingResult& scaling : analysis.scaling) {
    if (scaling.mode != BatchScaling::strong || scaling.rows.empty()) continue;
    const DecisionRow& last = scaling.rows.back();
    if (last.trained.ledger)
      exposed = last.trained.ledger->mean.share(Part::exposed_transfer) * last.time.value;
  }
  std::vector<SlowLink> links = slow_links(run);
  const std::size_t found = links.size();
  // Where the cores are shared a pair is slow for that too: only the slowest is told.
  const bool crowded = found > 1 && notable_other_load(run);
  if (crowded) links = {*std::ranges::max_element(links, {}, &SlowLink::times)};
  for (const SlowLink& slow : links) {
    const Finding who = slow.other
                            ? Finding(FindingId::link_between, name(slow.node), name(*slow.other))
                            : Finding(FindingId::node_with_all, name(slow.node));
    const Seconds cost = (1.0 - 1.0 / slow.times) * exposed;
    std::vector<Finding> more;
    if (cost > Seconds(0.0)) more.emplace_back(FindingId::slow_link_costs, cost.value());
    if (crowded) more.emplace_back(FindingId::slowest_of_crowded, found);
    findings.unreliable.emplace_back(FindingId::slow_link, who, slow.times, more);
  }
}

void add_contention(const RooflineResult& roofline, RunFindings& findings) {
  const auto contended = std::ranges::count_if(roofline.ceilings, &ComputeCeiling::contended);
  double least_share = 1.0;
  for (const ComputeCeiling& ceiling : roofline.ceilings)
    if (ceiling.contended) least_share = std::min(least_share, ceiling.cpu_share.value_or(1.0));
  if (contended == 0) return;
  // One ceiling that lost a little leaves the others right.
  const bool much = least_share < 0.9 || 4 * contended > std::ssize(roofline.ceilings);
  (much ? findings.unreliable : findings.warnings)
      .emplace_back(FindingId::cores_contended, contended, roofline.ceilings.size(), least_share);
}

void add_mode_warnings(const ScalingResult& scaling, int workers, RunFindings& findings) {
  const char* mode = word_of(scaling.mode);
  const DecisionRow& last = scaling.rows.back();
  const bool comparable = scaling.mode == BatchScaling::strong && scaling.rows.size() > 1;
  const auto warn = [&](FindingId id, const auto&... values) {
    findings.warnings.emplace_back(id, values...);
  };
  if (comparable && !scaling.quality.held && scaling.quality.note)
    warn(FindingId::quality_not_shown, *scaling.quality.note);
  if (scaling.slowed) warn(FindingId::mode_slowed, mode, *scaling.slowed);
  if (workers > 0 && last.count > workers)
    warn(FindingId::ranks_share_workers, last.count, workers, mode);
  for (const DecisionRow& row : scaling.rows) {
    const auto efficiency = decided(row, &DecisionRow::efficiency);
    if (efficiency && efficiency->interval && efficiency->interval->low > 1.0)
      warn(FindingId::mode_superlinear, mode, row.count, *efficiency);
    if (row.trained.mfu_measured.value_or(0.0) > 1.0 || row.trained.mfu_peak.value_or(0.0) > 1.0)
      warn(FindingId::step_above_peak, mode, row.count);
  }
}

void add_sample_warnings(const Run& run, RunFindings& findings) {
  std::ptrdiff_t all = 0;
  std::ptrdiff_t unsteady = 0;
  std::vector<Finding> by_probe;
  for (const ProbeRecord& probe : run.probes) {
    const auto steady =
        std::ranges::count_if(probe.points, &std::vector<Finding>::empty, &Point::warnings);
    const auto here = std::ssize(probe.points) - steady;
    const auto settings =
        std::ssize(probe.points) - std::ranges::count_if(probe.points, adds_to_another);
    all += settings;
    unsteady += here;
    if (here > 0) by_probe.emplace_back(FindingId::unsteady_of_probe, probe.name, here, settings);
  }
  if (unsteady > 0)
    findings.warnings.emplace_back(FindingId::samples_unsteady, unsteady, all, by_probe);
}

void add_limits(const GpuIdentity& gpu, RunFindings& findings) {
  constexpr double as_built = 0.995;  // NVML gives whole milliwatts, tools whole watts
  if (gpu.power_limit_w && gpu.default_power_limit_w &&
      *gpu.power_limit_w < as_built * *gpu.default_power_limit_w)
    findings.warnings.emplace_back(
        FindingId::gpu_capped, gpu.ordinal, *gpu.power_limit_w, *gpu.default_power_limit_w);
  if (gpu.mig) findings.warnings.emplace_back(FindingId::gpu_is_slice, gpu.ordinal);
}

/// Heat and brakes are faults of the machine; a power cap is how it is built.
void add_throttling(const GpuResult& gpu, RunFindings& findings) {
  constexpr double notable = 0.05;
  std::set<ClockReason> seen;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady) continue;
    for (const auto& [reason, share] : format.steady->conditions.slowdown_reasons) {
      if (reason == ClockReason::power_cap || share < notable || !seen.insert(reason).second)
        continue;
      findings.warnings.emplace_back(FindingId::gpu_throttled,
                                     gpu.identity.ordinal,
                                     word_of(reason),
                                     share,
                                     word_of(format.format));
    }
  }
}

/// What the steady products of some formats lack.
void add_lacks(const GpuResult& gpu, RunFindings& findings) {
  struct Lack {
    bool (*lacks)(const GpuGemm&);
    FindingId id;
  };
  const std::array lacks{
      Lack{[](const GpuGemm& gemm) { return !gemm.conditions.clock_hz; }, FindingId::gpu_no_clock},
      Lack{[](const GpuGemm& gemm) { return !gemm.conditions.power_w; }, FindingId::gpu_no_power},
      Lack{[](const GpuGemm& gemm) { return !gemm.against; },
           gpu.identity.datasheet ? FindingId::gpu_no_peak : FindingId::gpu_no_datasheet}};
  for (const Lack& lack : lacks) {
    const std::string formats = listed(gpu.formats, [&](const GpuFormat& format) {
      return format.steady && lack.lacks(*format.steady) ? word_of(format.format) : "";
    });
    const std::string& name = gpu.identity.name;
    if (!formats.empty())
      findings.warnings.emplace_back(
          lack.id, gpu.identity.ordinal, formats, name.empty() ? "this GPU" : name);
  }
}

void add_mixed_models(const std::vector<GpuResult>& gpus, RunFindings& findings) {
  std::set<std::string> names;
  for (const GpuResult& gpu : gpus) names.insert(gpu.identity.name);
  if (names.size() > 1)
    findings.warnings.emplace_back(FindingId::gpus_mixed, names.size(), listed(names));
}
}  // namespace

RunFindings run_findings(const Run& run, const Analysis& analysis) {
  RunFindings findings;
  if (const WrongResults wrong = wrong_results(run); wrong.settings > 0)
    findings.unreliable.emplace_back(FindingId::results_wrong, wrong.settings, wrong.of);
  // A slow GPU sets the pace of all that follows.
  if (analysis.gpus_together) add_together(*analysis.gpus_together, findings);
  for (const GpuResult& gpu : analysis.gpus) add_losses(gpu, findings);
  for (const ScalingResult& scaling : analysis.scaling)
    if (!scaling.rows.empty())
      for (const ScalingLaw& law : scaling.laws) add_law(scaling, law, findings);
  add_run_warnings(run, findings);
  // The tool that ends early, or the job around it, may have failed.
  if (std::ranges::any_of(run.probes, cut_short))
    findings.unreliable.emplace_back(FindingId::import_cut_short);
  add_differing_runs(run, findings);
  add_slow_links(run, analysis, findings);
  add_other_programs(run, analysis, findings);
  // What the machine can do in parallel: as many workers as the compute probe ran at once.
  int workers = 0;
  if (analysis.roofline)
    for (const ComputeCeiling& ceiling : analysis.roofline->ceilings)
      workers = std::max(workers, ceiling.workers);
  for (const ScalingResult& scaling : analysis.scaling)
    if (!scaling.rows.empty()) add_mode_warnings(scaling, workers, findings);
  if (analysis.roofline) add_contention(*analysis.roofline, findings);
  add_sample_warnings(run, findings);
  add_mixed_models(analysis.gpus, findings);
  for (const GpuResult& gpu : analysis.gpus) {
    add_limits(gpu.identity, findings);
    add_throttling(gpu, findings);
    add_lacks(gpu, findings);
    for (const Finding& warning : gpu.warnings)
      findings.warnings.emplace_back(FindingId::of_gpu, gpu.identity.ordinal, warning);
  }
  return findings;
}
}  // namespace scaleworth::model
