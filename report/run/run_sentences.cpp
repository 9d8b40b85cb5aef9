// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/collectives.h"
#include "src/model/comparison.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <array>
#include <cmath>
#include <map>
#include <set>

namespace scaleworth::report {
namespace {
using namespace model;

struct Findings {
  std::vector<Finding> list;

  template <class... Values>
  void result(fmt::format_string<Values...> sentence, Values&&... values) {
    list.push_back({fmt::format(sentence, std::forward<Values>(values)...)});
  }
  template <class... Values>
  void warning(fmt::format_string<Values...> sentence, Values&&... values) {
    list.push_back({fmt::format(sentence, std::forward<Values>(values)...), true});
  }
  /// A warning that the verdict begins with, a sentence without its capital and its full stop.
  template <class... Values>
  void doubt(fmt::format_string<Values...> sentence, Values&&... values) {
    const std::string text = fmt::format(sentence, std::forward<Values>(values)...);
    list.push_back({capitalised(text) + ".", true, text, "run again on an idle machine"});
  }
};

void add_together(const GpusTogether& together, Findings& findings) {
  const auto slowest = std::ranges::find(together.paces, together.slowest, &GpuPace::ordinal);
  findings.result(
      "{} at once: {} products spread by {:.1f} %{}; GPU {} sets the pace with {}.",
      together.paces.size() == 2 ? "Both GPUs" : fmt::format("All {} GPUs", together.paces.size()),
      word_of(together.precision),
      100.0 * together.spread,
      std::ranges::none_of(together.paces, &GpuPace::slow) ? ", up to 5 % is normal" : "",
      together.slowest,
      format_quantity(slowest->together, Unit::flop_per_second));
  for (const GpuPace& pace : together.paces)
    if (pace.slow)
      findings.result(
          "GPU {} is slow, {} of the others' rate: {}.",
          pace.ordinal,
          format_quantity(*pace.of_others, Unit::percent),
          pace.cause.empty() ? "unexplained, its clock does not account for it" : pace.cause);
}

void add_losses(const GpuResult& gpu, Findings& findings) {
  const GpuFormat* format = leading_format(gpu, &GpuFormat::steady);
  if (format == nullptr || !format->waterfall) return;
  const LossWaterfall& waterfall = *format->waterfall;
  // The steps that take or give at least one per cent, or a share unknown, in their order.
  const auto loss = [&](const WaterfallStep& step) -> std::string {
    if (!step.change) return step.name + " n/a";
    const double share = *step.change / waterfall.spec;
    return std::abs(share) < 0.01 ? "" : fmt::format("{} {:+.0f} %", step.name, 100.0 * share);
  };
  findings.result("GPU {}: {} products reach {:.0f} of {:.0f} TFLOP/s ({}): {}.",
                  gpu.identity.ordinal,
                  word_of(format->format),
                  waterfall.measured.value() * 1e-12,
                  waterfall.spec.value() * 1e-12,
                  waterfall.basis,
                  listed(waterfall.steps, loss));
}

void add_law(const ScalingResult& scaling, const ScalingLaw& law, Findings& findings) {
  if (!law.not_identifiable.empty()) {
    if (scaling.rows.size() < 2) return;  // one count has no law
    findings.warning("{} ({} scaling) is not identifiable: {}.",
                     law.prediction ? "The prediction" : "The scaling law",
                     word_of(scaling.mode),
                     law.not_identifiable);
  } else if (law.prediction && !law.reproduces_measured) {
    findings.warning(
        "The prediction from the measured parts ({} scaling) misses the measured counts by {:.1f} "
        "% (root mean square), more than its range: use it with care.",
        word_of(scaling.mode),
        100.0 * law.residual);
  } else if (law.serial && law.coherency) {
    findings.result("Fitted {} law: contention s = {}, coherency c = {}.",
                    word_of(scaling.mode),
                    format_quantity(*law.serial, Unit::plain),
                    format_quantity(*law.coherency, Unit::plain));
  }
}

/// The law, and for weak scaling the cause. What tables show, and what the verdict states of strong
/// scaling, is not repeated.
void add_scaling_results(const ScalingResult& scaling, Findings& findings) {
  if (scaling.rows.empty()) return;
  const auto& decision = scaling.decision;
  if (scaling.mode == BatchScaling::weak && decision) {
    const RenderOptions options;
    const DecideView view{*decision, options};
    for (const std::string& line : {cause_line(view), straggler_line(view)})
      if (!line.empty()) findings.result("Weak scaling: {}", line);
  }
  for (const ScalingLaw& law : scaling.laws) add_law(scaling, law, findings);
}

void add_run_warnings(const Run& run, Findings& findings) {
  if (!run.complete) {
    findings.warning(
        "The run is not complete: {}.",
        run.interruption.empty() ? "it ended before the last probe" : run.interruption);
  }
  for (const ProbeRecord& probe : run.probes) {
    const std::string reason = probe.reason.empty() ? "no reason recorded" : probe.reason;
    if (probe.status == ProbeStatus::pending) {
      findings.warning("{} was not reached.", probe.name);
    } else if (probe.status == ProbeStatus::failed) {  // one skipped stands under "not measured"
      findings.warning("{} failed: {}.", probe.name, reason);
    }
    // Of an import they are what its reader found: a late rank, lost records.
    if (run.suite == "import")
      for (const std::string& warning : probe.warnings)
        findings.result("{}.", capitalised(warning));
  }
}

/// Repeats so far apart are of two states of a machine, or of two machines: their mean is of none.
void add_differing_runs(const Run& run, Findings& findings) {
  constexpr double apart = 0.2;  // standard deviation over median, of a quarter of the settings
  for (const ProbeRecord& probe : run.probes) {
    std::map<Setting, Series> pooled;
    for (const Point& point : probe.points) {
      const auto number = point.setting.count(Parameter::run);
      for (const Metric name : {Metric::wall_s, Metric::time_s, Metric::step_s}) {
        if (!point.samples.contains(name)) continue;
        const Series times = model::usable_times(point, name);
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
    findings.doubt("runs of {} differ by up to {:.0f} % (standard deviation)",
                   probe.name,
                   100.0 * std::ranges::max(between));
    findings.list.back().again = "look at each run alone";
  }
}

/// The tool that ends early, or the job around it, may have failed.
void add_cut_imports(const Run& run, Findings& findings) {
  if (std::ranges::none_of(run.probes, cut_short)) return;
  findings.doubt("the imported output is cut short or damaged");
  findings.list.back().again = "import the whole output";
}

/// Of all CPUs, what programs beside ours used, where that is told.
std::optional<double> notable_other_load(const Run& run) {
  constexpr double notable = 0.05;
  const auto others = number_fact(run, "load_during_run", "other_cpu_fraction");
  return others && *others > notable ? others : std::nullopt;
}

/// Programs beside ours, as the machine counted them.
void add_other_programs(const Run& run, const Analysis& analysis, Findings& findings) {
  if (const auto others = notable_other_load(run))
    findings.doubt("other programs used {:.0f} % of the CPUs during the run", 100.0 * *others);
  constexpr double notable_stops = 0.05;  // of the quota's periods
  const double throttled = number_fact(run, "load_during_run", "throttled_fraction").value_or(0.0);
  if (throttled > notable_stops) {
    findings.doubt("a CPU quota of {:.3g} CPUs stopped the program in {:.0f} % of its periods",
                   number_fact(run, "limits", "cpu_quota_cpus").value_or(0.0),
                   100.0 * throttled);
  }
  for (const GpuResult& gpu : analysis.gpus) {
    const int ordinal = gpu.identity.ordinal;
    // None known is no program.
    if (number_fact(run, fmt::format("gpu {}", ordinal), "foreign_processes") > 0.0)
      findings.doubt("another program was on GPU {} when the run began", ordinal);
  }
}

/// A node or a way between nodes that holds up all others, and what it costs a step.
void add_slow_links(const Run& run, const Analysis& analysis, Findings& findings) {
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
  std::vector<model::SlowLink> links = model::slow_links(run);
  const std::size_t found = links.size();
  std::string crowded;
  // Where the cores are shared a pair is slow for that too: only the slowest is told.
  if (found > 1 && notable_other_load(run)) {
    links = {*std::ranges::max_element(links, {}, &model::SlowLink::times)};
    crowded = fmt::format(", the slowest of {}, while others used the cores", found);
  }
  for (const model::SlowLink& slow : links) {
    const Seconds cost = (1.0 - 1.0 / slow.times) * exposed;
    findings.doubt(
        "{} is {:.3g} times slower than usual{}{}",
        slow.other ? fmt::format("the link between {} and {}", name(slow.node), name(*slow.other))
                   : fmt::format("{}, with every partner,", name(slow.node)),
        slow.times,
        cost > Seconds(0.0) ? fmt::format(", about {} of each step", time_text(cost)) : "",
        crowded);
  }
}

void add_contention(const RooflineResult& roofline, Findings& findings) {
  const auto contended = std::ranges::count_if(roofline.ceilings, &ComputeCeiling::contended);
  double least_share = 1.0;
  for (const ComputeCeiling& ceiling : roofline.ceilings) {
    if (ceiling.contended) least_share = std::min(least_share, ceiling.cpu_share.value_or(1.0));
  }
  if (contended == 0) return;
  const std::string text = fmt::format(
      "other work held the cores in {} of {} compute ceilings and left them as little as {:.0f} %",
      contended,
      roofline.ceilings.size(),
      100.0 * least_share);
  // One ceiling that lost a little leaves the others right.
  if (least_share < 0.9 || 4 * contended > std::ssize(roofline.ceilings))
    findings.doubt("{}", text);
  else
    findings.warning("{}.", capitalised(text));
}

void add_mode_warnings(const ScalingResult& scaling, int workers, Findings& findings) {
  const DecisionRow& last = scaling.rows.back();
  const bool comparable = scaling.mode == BatchScaling::strong && scaling.rows.size() > 1;
  if (comparable && !scaling.quality_held) {
    findings.warning("Quality is not shown to be equal: {}.", scaling.quality_note);
  }
  if (!scaling.slowed.empty())
    findings.warning("In {} scaling {}.", word_of(scaling.mode), scaling.slowed);
  if (workers > 0 && last.count > workers) {
    findings.warning(
        "{} ranks share {} workers: the {} loss at that count is the machine's size, not the "
        "program's.",
        last.count,
        workers,
        word_of(scaling.mode));
  }
  for (const DecisionRow& row : scaling.rows) {
    const auto efficiency = decided(row, &DecisionRow::efficiency);
    if (efficiency && efficiency->interval && efficiency->interval->low > 1.0) {
      findings.warning(
          "{} scaling is superlinear at {}: efficiency {}; caches, or a baseline that was "
          "disturbed.",
          word_of(scaling.mode),
          counted(row.count, "rank"),
          format_quantity(*efficiency, Unit::percent));
    }
    if (row.trained.mfu_measured.value_or(0.0) > 1.0 || row.trained.mfu_peak.value_or(0.0) > 1.0) {
      findings.warning(
          "The {} step at {} is above its peak: the peak is too low or was measured under load.",
          word_of(scaling.mode),
          counted(row.count, "rank"));
    }
  }
}

void add_sample_warnings(const Run& run, Findings& findings) {
  std::size_t all = 0;
  std::ptrdiff_t unsteady = 0;
  const auto unsteady_of = [&](const ProbeRecord& probe) -> std::string {
    const auto steady =
        std::ranges::count_if(probe.points, &std::vector<std::string>::empty, &Point::warnings);
    const auto here = std::ssize(probe.points) - steady;
    const auto settings =
        std::ssize(probe.points) - std::ranges::count_if(probe.points, adds_to_another);
    all += static_cast<std::size_t>(settings);
    unsteady += here;
    if (here == 0) return "";
    return fmt::format("{} {} of {}", probe.name, here, settings);
  };
  const std::string by_probe = listed(run.probes, unsteady_of);
  if (unsteady == 0) return;
  findings.warning("{} of {} settings have unsteady samples (drift, two modes or contention): {}.",
                   unsteady,
                   all,
                   by_probe);
}

void add_limits(const GpuIdentity& gpu, Findings& findings) {
  if (gpu.power_limit_w && gpu.default_power_limit_w &&
      *gpu.power_limit_w < 0.995 * *gpu.default_power_limit_w) {
    findings.warning(
        "GPU {}: its power limit is {:.0f} W, below the default of {:.0f} W: its rates are those "
        "of a capped GPU.",
        gpu.ordinal,
        *gpu.power_limit_w,
        *gpu.default_power_limit_w);
  }
  if (gpu.mig) {
    findings.warning(
        "GPU {} is a MIG slice: clock and power are shared with other slices, and the datasheet's "
        "peaks are those of the whole GPU.",
        gpu.ordinal);
  }
}

/// Heat and brakes are faults of the machine; a power cap is how it is built.
void add_throttling(const GpuResult& gpu, Findings& findings) {
  constexpr double notable = 0.05;
  std::set<ClockReason> seen;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady) continue;
    for (const auto& [reason, share] : format.steady->conditions.slowdown_reasons) {
      if (reason == ClockReason::power_cap || share < notable || !seen.insert(reason).second)
        continue;
      findings.warning(
          "GPU {}: {} held its clock down in {:.0f} % of the readings of the steady {} product.",
          gpu.identity.ordinal,
          word_of(reason),
          100.0 * share,
          word_of(format.format));
    }
  }
}

/// What the steady products of some formats lack.
void add_lacks(const GpuResult& gpu, Audience audience, Findings& findings) {
  struct Lack {
    bool (*lacks)(const GpuGemm&);
    const char* sentence;  // of the GPU's number, the formats and the GPU's name
  };
  const std::array lacks{
      Lack{[](const GpuGemm& gemm) { return !gemm.conditions.clock_hz; },
           "GPU {0}: no clock was recorded with the steady {1} products: their loss cannot be "
           "divided."},
      Lack{[](const GpuGemm& gemm) { return !gemm.conditions.power_w; },
           "GPU {0}: no power was recorded with the steady {1} products: whether a cap held the "
           "clock down is not known."},
      Lack{[](const GpuGemm& gemm) { return !gemm.against; },
           gpu.identity.datasheet ? "GPU {0}: the datasheet of {2} has no peak for {1}."
                                  : "GPU {0}: no datasheet of {2} is known, so no percentage of a "
                                    "peak is printed; {3}."}};
  const std::string name = gpu.identity.name.empty() ? "this GPU" : gpu.identity.name;
  const char* remedy =
      words_for(audience, "give its dense bf16 peak with --peak", "its dense bf16 peak is needed");
  for (const Lack& lack : lacks) {
    const std::string formats = listed(gpu.formats, [&](const GpuFormat& format) {
      return format.steady && lack.lacks(*format.steady) ? word_of(format.format) : "";
    });
    if (formats.empty()) continue;
    findings.warning(fmt::runtime(lack.sentence), gpu.identity.ordinal, formats, name, remedy);
  }
}

void add_mixed_models(const std::vector<GpuResult>& gpus, Findings& findings) {
  std::set<std::string> names;
  for (const GpuResult& gpu : gpus) names.insert(gpu.identity.name);
  if (names.size() < 2) return;
  findings.warning("The GPUs are of {} models ({}): the slowest sets the pace of a common step.",
                   names.size(),
                   fmt::join(names, ", "));
}
}  // namespace

std::vector<Finding> findings_of(const Run& run, const Analysis& analysis, Audience audience) {
  Findings findings;
  if (const model::WrongResults wrong = model::wrong_results(run); wrong.settings > 0) {
    findings.doubt("{} of {} measured settings have wrong results", wrong.settings, wrong.of);
    findings.list.back().again = "look for faulty hardware or a broken build";
  }
  // A slow GPU sets the pace of all that follows.
  if (analysis.gpus_together) add_together(*analysis.gpus_together, findings);
  for (const GpuResult& gpu : analysis.gpus) add_losses(gpu, findings);
  for (const ScalingResult& scaling : analysis.scaling) add_scaling_results(scaling, findings);
  add_run_warnings(run, findings);
  add_cut_imports(run, findings);
  add_differing_runs(run, findings);
  add_slow_links(run, analysis, findings);
  add_other_programs(run, analysis, findings);
  // What the machine can do in parallel: as many workers as the compute probe ran at once.
  const int workers =
      analysis.roofline ? largest(analysis.roofline->ceilings, &ComputeCeiling::workers) : 0;
  for (const ScalingResult& scaling : analysis.scaling) {
    if (!scaling.rows.empty()) add_mode_warnings(scaling, workers, findings);
  }
  if (analysis.roofline) add_contention(*analysis.roofline, findings);
  add_sample_warnings(run, findings);
  add_mixed_models(analysis.gpus, findings);
  for (const GpuResult& gpu : analysis.gpus) {
    add_limits(gpu.identity, findings);
    add_throttling(gpu, findings);
    add_lacks(gpu, audience, findings);
    for (const std::string& warning : gpu.warnings) {
      findings.warning("GPU {}: {}.", gpu.identity.ordinal, warning);
    }
  }
  return std::move(findings.list);
}
}  // namespace scaleworth::report
