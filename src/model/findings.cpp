// SPDX-License-Identifier: Apache-2.0
#include "src/model/findings.h"

#include "src/core/files/run_names.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"
#include "src/model/transformer/utilisation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

namespace scaleworth::model {
std::string ranks_text(int ranks) {
  return fmt::format("{} {}", ranks, ranks == 1 ? "rank" : "ranks");
}

std::string estimate_text(const Estimate<double>& estimate, double scale) {
  if (!estimate.interval) return fmt::format("{:.3g}", estimate.value * scale);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]",
                     estimate.value * scale,
                     estimate.interval->low * scale,
                     estimate.interval->high * scale);
}

std::string time_text(Seconds time) {
  if (time.value() >= 1.0) return fmt::format("{:.3g} s", time.value());
  if (time.value() >= 1e-3) return fmt::format("{:.3g} ms", as_milliseconds(time));
  if (time.value() >= 1e-6) return fmt::format("{:.3g} us", as_microseconds(time));
  return fmt::format("{:.3g} ns", time.value() * 1e9);
}

std::string size_text(Bytes size) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  double amount = size.value();
  std::size_t unit = 0;
  while (amount >= 1024.0 && unit + 1 < units.size()) {
    amount /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.3g} {}", amount, units[unit]);
}

std::string workers_text(int workers) {
  return fmt::format("{} {}", workers, workers == 1 ? "worker" : "workers");
}

namespace {
/// As estimate_text, without an interval that the printed digits do not show.
std::string short_text(const Estimate<double>& estimate, double scale) {
  const auto digits = [scale](double value) { return fmt::format("{:.3g}", value * scale); };
  const bool shown =
      estimate.interval && digits(estimate.interval->low) != digits(estimate.interval->high);
  return shown ? estimate_text(estimate, scale) : digits(estimate.value);
}

std::string rate_text(const Estimate<FlopPerSecond>& rate) {
  return short_text(transform(rate, [](FlopPerSecond value) { return value.value(); }), 1e-12) +
         " TFLOP/s";
}

/// The format that the node is compared by: bf16, else the first.
const GpuFormat* leading(const GpuResult& gpu) {
  const GpuFormat* first = nullptr;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady) continue;
    if (format.precision == "bf16") return &format;
    if (first == nullptr) first = &format;
  }
  return first;
}

void add_together(const GpusTogether& together, std::vector<Finding>& findings) {
  const auto slow = static_cast<int>(std::count_if(
      together.paces.begin(), together.paces.end(), [](const GpuPace& one) { return one.slow; }));
  const auto slowest =
      std::find_if(together.paces.begin(), together.paces.end(), [&](const GpuPace& pace) {
        return pace.ordinal == together.slowest;
      });
  findings.push_back({fmt::format(
      "{} at once: {} products spread by {:.1f} %{}; GPU {} sets the pace with {}.",
      together.paces.size() == 2 ? "Both GPUs" : fmt::format("All {} GPUs", together.paces.size()),
      together.precision,
      100.0 * together.spread,
      slow == 0 ? ", up to 5 % is normal" : "",
      together.slowest,
      rate_text(slowest->together))});
  for (const GpuPace& pace : together.paces) {
    if (!pace.slow) continue;
    findings.push_back({fmt::format(
        "GPU {} is slow, {} % of the others' rate: {}.",
        pace.ordinal,
        short_text(*pace.of_others, 100.0),
        pace.cause.empty() ? "unexplained, its clock does not account for it" : pace.cause)});
  }
}

/// The steps that take or give at least one per cent, or a share unknown, in their order.
std::string losses_text(const LossWaterfall& waterfall) {
  std::string text;
  for (const WaterfallStep& step : waterfall.steps) {
    const auto share =
        step.change ? std::optional(*step.change / waterfall.spec) : std::optional<double>();
    if (share && std::abs(*share) < 0.01) continue;
    text += fmt::format("{}{} {}",
                        text.empty() ? "" : ", ",
                        step.name,
                        share ? fmt::format("{:+.0f} %", 100.0 * *share) : "n/a");
  }
  return text;
}

void add_losses(const GpuResult& gpu, std::vector<Finding>& findings) {
  const GpuFormat* format = leading(gpu);
  if (format == nullptr || !format->waterfall) return;
  const LossWaterfall& waterfall = *format->waterfall;
  findings.push_back({fmt::format("GPU {}: {} products reach {:.0f} of {:.0f} TFLOP/s ({}): {}.",
                                  gpu.identity.ordinal,
                                  format_text(format->precision, format->fast_accumulation),
                                  waterfall.measured.value() * 1e-12,
                                  waterfall.spec.value() * 1e-12,
                                  waterfall.basis,
                                  losses_text(waterfall))});
}

/// What is kept when about as many multiprocessors are taken as a collective takes.
void add_contention(const GpuResult& gpu, std::vector<Finding>& findings) {
  constexpr int usual_collective = 16;
  const ContentionPoint* nearest = nullptr;
  for (const ContentionPoint& point : gpu.contention) {
    const auto distance = [&](const ContentionPoint& other) {
      const int held = gpu.contention.front().multiprocessors - other.multiprocessors;
      return std::abs(held - usual_collective);
    };
    if (point.multiprocessors == gpu.contention.front().multiprocessors) continue;
    if (nearest == nullptr || distance(point) < distance(*nearest)) nearest = &point;
  }
  if (nearest == nullptr) return;
  findings.push_back(
      {fmt::format("GPU {}: while a collective holds {} of {} multiprocessors, {} products keep {} "
                   "% of their rate.",
                   gpu.identity.ordinal,
                   gpu.contention.front().multiprocessors - nearest->multiprocessors,
                   gpu.contention.front().multiprocessors,
                   nearest->precision,
                   short_text(nearest->of_all, 100.0))});
}

void add_ridge(const GpuResult& gpu, std::vector<Finding>& findings) {
  const RidgeBatch* shown = nullptr;
  for (const RidgeBatch& batch : gpu.ridge_batches) {
    const bool whole = batch.layer == "all layers" || shown == nullptr;
    if (batch.precision == "bf16" && whole) shown = &batch;
  }
  if (shown == nullptr) return;
  const std::string what = fmt::format("GPU {}: in bf16, {}", gpu.identity.ordinal, shown->layer);
  findings.push_back(
      {shown->tokens
           ? fmt::format("{} are bound by memory below {:.0f} tokens.", what, *shown->tokens)
           : fmt::format("{} stay bound by memory at any number of tokens.", what)});
}

void add_cost(const GpuResult& gpu, std::vector<Finding>& findings) {
  if (!gpu.cost) return;
  std::string text;
  if (gpu.cost->per_exaflop) {
    text += fmt::format(
        "${:.3g} per EFLOP ({}, steady)", gpu.cost->per_exaflop->value(), gpu.cost->precision);
  }
  if (gpu.cost->per_terabyte) {
    text += fmt::format("{}${:.3g} per TB read from memory",
                        text.empty() ? "" : ", ",
                        gpu.cost->per_terabyte->value());
  }
  findings.push_back({fmt::format("GPU {} costs {}.", gpu.identity.ordinal, text), false, true});
}
}  // namespace

void add_gpu_results(const Analysis& analysis, std::vector<Finding>& findings) {
  if (analysis.gpus_together) add_together(*analysis.gpus_together, findings);
  for (const GpuResult& gpu : analysis.gpus) {
    add_losses(gpu, findings);
    add_contention(gpu, findings);
    add_ridge(gpu, findings);
    add_cost(gpu, findings);
  }
}

namespace {
const ComputeCeiling* best_ceiling(const RooflineResult& roofline, const std::string& precision) {
  const ComputeCeiling* best = nullptr;
  for (const ComputeCeiling& ceiling : roofline.ceilings) {
    if (ceiling.precision != precision) continue;
    if (best == nullptr || ceiling.workers > best->workers ||
        (ceiling.workers == best->workers && ceiling.wall_rate.value > best->wall_rate.value)) {
      best = &ceiling;
    }
  }
  return best;
}

const MemoryLevel* main_memory(const RooflineResult& roofline) {
  const MemoryLevel* best = nullptr;
  for (const MemoryLevel& level : roofline.memory_levels) {
    if (level.label != "memory") continue;
    if (best == nullptr || level.workers > best->workers ||
        (level.workers == best->workers && level.rate.value > best->rate.value)) {
      best = &level;
    }
  }
  return best;
}

template <class T>
Estimate<double> plain(const Estimate<T>& estimate) {
  return transform(estimate, [](T value) { return value.value(); });
}

std::string ceilings_text(const RooflineResult& roofline) {
  std::string text;
  for (const char* precision : {"fp32", "fp64"}) {
    const ComputeCeiling* ceiling = best_ceiling(roofline, precision);
    if (ceiling == nullptr) continue;
    const auto& rate = ceiling->ceiling();
    text += fmt::format("{}{} GFLOP/s {} ({} FMA{})",
                        text.empty() ? workers_text(ceiling->workers) + " reach " : ", ",
                        estimate_text(plain(rate), 1e-9),
                        precision,
                        ceiling->isa,
                        ceiling->contended ? ", per second of CPU time" : "");
  }
  return text;
}

void add_rates(const RooflineResult& roofline, std::vector<Finding>& findings) {
  std::string text = ceilings_text(roofline);
  if (const MemoryLevel* memory = main_memory(roofline)) {
    text += text.empty() ? "" : "; ";
    text += fmt::format("memory gives {} {} GB/s ({})",
                        workers_text(memory->workers),
                        estimate_text(plain(memory->rate), 1e-9),
                        memory->kernel);
  }
  if (!text.empty()) findings.push_back({text + ".", false, true});
}

void add_ridges(const RooflineResult& roofline, std::vector<Finding>& findings) {
  std::string text;
  for (const SoftRoof& roof : roofline.soft_roofs) {
    text += fmt::format("{}{} {} with {}",
                        text.empty() ? "Ridge points in FLOP/B, memory-bound below: " : ", ",
                        roof.precision,
                        estimate_text(plain(roof.ridge), 1.0),
                        workers_text(roof.workers));
  }
  if (!text.empty()) findings.push_back({text + ".", false, true});
}

/// The isolated all-reduce among the most ranks; absent without a fit whose time grows with size.
const CollectiveResult* widest_all_reduce(const std::vector<CollectiveResult>& collectives) {
  const CollectiveResult* widest = nullptr;
  for (const CollectiveResult& result : collectives) {
    if (result.collective != "all_reduce" || result.mode != "isolated") continue;
    if (result.chosen >= result.fits.size()) continue;
    const auto& segments = result.fits[result.chosen].segments;
    if (segments.empty() || segments.back().beta.value.value() <= 0.0) continue;
    if (widest == nullptr || result.ranks > widest->ranks) widest = &result;
  }
  return widest;
}

void add_communication(const std::vector<CollectiveResult>& collectives,
                       std::vector<Finding>& findings) {
  const CollectiveResult* result = widest_all_reduce(collectives);
  if (result == nullptr) return;
  const CommunicationFit& fit = result->fits[result->chosen];
  std::string text = fmt::format(
      "All-reduce over {}: {} for the smallest messages, {:.2g} GB/s of message for those up to {} "
      "({} form)",
      ranks_text(result->ranks),
      time_text(fit.segments.front().alpha.value),
      1e-9 / fit.segments.back().beta.value.value(),
      size_text(fit.segments.back().largest),
      fit.form);
  if (fit.held_out_error) {
    text += fmt::format("; error on sizes left out {:.1f} %", 100.0 * *fit.held_out_error);
  }
  findings.push_back({text + ".", false, true});
}
}  // namespace

void add_machine_results(const Analysis& analysis, std::vector<Finding>& findings) {
  if (analysis.roofline) {
    add_rates(*analysis.roofline, findings);
    add_ridges(*analysis.roofline, findings);
  }
  add_communication(analysis.collectives, findings);
}

namespace {
std::string dollars_text(Dollars amount) {
  // Three digits as a person writes money, without an exponent.
  const double size = std::abs(amount.value());
  const int decimals =
      size > 0.0 ? std::max(2, 2 - static_cast<int>(std::floor(std::log10(size)))) : 2;
  return fmt::format("${:.{}f}", amount.value(), decimals);
}

std::string weak_sentence(const ScalingResult& scaling) {
  const ScalingRow& first = scaling.rows.front();
  const ScalingRow& last = scaling.rows.back();
  return fmt::format("Weak scaling from {} to {}: efficiency {} %, a step takes {} instead of {}.",
                     ranks_text(first.ranks),
                     last.ranks,
                     estimate_text(*last.efficiency, 100.0),
                     time_text(last.step.value),
                     time_text(first.step.value));
}

std::string mixture_text(const ScalingCause& cause) {
  std::string text;
  for (const auto& [part, share] : cause.mixture) {
    // Below half a per cent a part would be printed as 0 %.
    if (share < 0.005) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", part, 100.0 * share);
  }
  return text;
}

std::string cause_sentence(const ScalingResult& scaling) {
  const decide::Decision& decision = *scaling.decision;
  const ScalingCause& cause = *decision.cause;
  return cause.owner.empty()
             ? fmt::format("No single part explains 80 % of the {} loss at {} ranks: {}.",
                           scaling.mode,
                           decision.cause_count,
                           mixture_text(cause))
             : fmt::format("The {} loss at {} ranks is {}: it explains {:.0f} %.",
                           scaling.mode,
                           decision.cause_count,
                           cause.owner,
                           100.0 * cause.explained);
}

std::string straggler_sentence(const decide::Straggler& straggler) {
  return fmt::format("At {} the others wait for rank {}, {} per step in all.",
                     ranks_text(straggler.count),
                     straggler.rank,
                     time_text(straggler.cost));
}

std::string plateau_text(const std::vector<int>& plateau) {
  std::string text;
  for (const int ranks : plateau) text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks);
  return text;
}

/// Per million tokens: the fastest count's cost above the cheapest's.
Dollars price_of_speed(const ScalingResult& scaling) {
  const decide::Decision& decision = *scaling.decision;
  const auto cost = [&](int count) { return *decision.row(count).cost_per_work * 1e6; };
  return cost(decision.choice->fastest) - cost(decision.choice->cheapest);
}

std::string cost_sentence(const ScalingResult& scaling) {
  const CostChoice& cost = *scaling.decision->choice;
  std::string text = fmt::format(
      "Cheapest measured count ({} scaling): {}", scaling.mode, ranks_text(cost.cheapest));
  for (const ScalingRow& row : scaling.rows) {
    if (row.ranks == cost.cheapest && row.cost_per_million_tokens) {
      text += fmt::format(" at {} per million tokens", dollars_text(*row.cost_per_million_tokens));
    }
  }
  if (cost.plateau.size() > 1) {
    text +=
        fmt::format(" (no more expensive within 1 % or the error: {})", plateau_text(cost.plateau));
  }
  text += cost.fastest == cost.cheapest ? ", which is also the fastest."
                                        : fmt::format("; the fastest, {}, costs {} more.",
                                                      ranks_text(cost.fastest),
                                                      dollars_text(price_of_speed(scaling)));
  if (cost.price_cancels) {
    text += " Without a price per hour of wall clock this choice is the same at every price.";
  }
  return text;
}

/// "fastest at 8 ranks", or that the curve still improves at its end.
std::string fastest_text(const ScalingLaw& law) {
  const int end = law.curve.back().ranks;
  return *law.fastest == end && end > 1
             ? fmt::format("more ranks help up to the end of the curve, {}", ranks_text(end))
             : fmt::format("fastest at {}", ranks_text(*law.fastest));
}

std::string fitted_sentence(const ScalingResult& scaling, const ScalingLaw& law) {
  return fmt::format("Fitted {} law: contention s = {}, coherency c = {}; {}{}.",
                     scaling.mode,
                     estimate_text(*law.serial, 1.0),
                     estimate_text(*law.coherency, 1.0),
                     fastest_text(law),
                     law.curve[*law.fastest - 1].extrapolated ? " (extrapolated)" : "");
}

std::string predicted_sentence(const ScalingResult& scaling, const ScalingLaw& law) {
  const int most = scaling.rows.back().ranks;
  std::string text = fmt::format(
      "Predicted from the measured parts ({} scaling): {}", scaling.mode, fastest_text(law));
  if (law.cost_optimal) {
    text += fmt::format(", cheapest at {}", ranks_text(*law.cost_optimal));
    if (law.cost_optimal_range && law.cost_optimal_range->low < law.cost_optimal_range->high) {
      text += fmt::format(" [{}, {}]", law.cost_optimal_range->low, law.cost_optimal_range->high);
    }
  }
  text += *law.fastest > most || law.cost_optimal.value_or(0) > most
              ? fmt::format("; beyond {} is extrapolated.", ranks_text(most))
              : ".";
  if (!law.reproduces_measured) {
    text += fmt::format(
        " It misses the measured counts by {:.1f} % (root mean square), more than "
        "its range: use it with care.",
        100.0 * law.residual);
  }
  return text;
}

void add_law(const ScalingResult& scaling, const ScalingLaw& law, std::vector<Finding>& findings) {
  if (!law.not_identifiable.empty()) {
    findings.push_back({fmt::format("{} ({} scaling) is not identifiable: {}.",
                                    law.prediction ? "The prediction" : "The scaling law",
                                    scaling.mode,
                                    law.not_identifiable),
                        true});
  } else if (law.prediction && law.fastest) {
    const bool warning = !law.reproduces_measured;
    if (scaling.mode != "strong" || warning) {
      findings.push_back({predicted_sentence(scaling, law), warning, true});
    }
  } else if (law.serial && law.coherency && law.fastest) {
    findings.push_back({fitted_sentence(scaling, law), false});
  }
}
}  // namespace

void add_scaling_results(const ScalingResult& scaling, std::vector<Finding>& findings) {
  if (scaling.rows.empty()) return;
  const ScalingRow& last = scaling.rows.back();
  const auto& decision = scaling.decision;
  if (scaling.mode == "weak") {
    if (scaling.rows.size() > 1 && last.efficiency) {
      findings.push_back({weak_sentence(scaling), false, true});
    }
    if (decision && decision->cause) {
      findings.push_back({cause_sentence(scaling), false});
    } else if (decision && !decision->no_cause.empty()) {
      findings.push_back(
          {fmt::format("No cause of the {} loss: {}.", scaling.mode, decision->no_cause), false});
    }
    if (decision && decision->straggler) {
      findings.push_back({straggler_sentence(*decision->straggler), false});
    }
  }
  if (decision && decision->choice) findings.push_back({cost_sentence(scaling), false});
  for (const ScalingLaw& law : scaling.laws) add_law(scaling, law, findings);
}

void add_utilisation(const Analysis& analysis, std::vector<Finding>& findings) {
  std::string text;
  std::string basis;
  for (const ScalingResult& scaling : analysis.scaling) {
    if (scaling.rows.empty() || !scaling.rows.back().mfu_measured) continue;
    const ScalingRow& last = scaling.rows.back();
    text += fmt::format("{}{:.1f} % ({} scaling, {})",
                        text.empty() ? "MFU " : ", ",
                        100.0 * *last.mfu_measured,
                        scaling.mode,
                        ranks_text(last.ranks));
    basis = last.mfu_basis;
  }
  if (!text.empty()) {
    findings.push_back({text + " of the measured ceiling: " + basis + ".", false, true});
  }
}

namespace {
const Point* variant_point(const ProbeRecord& probe, const std::string& variant) {
  for (const Point& point : probe.points) {
    if (text_parameter(point, fields::variant) != variant) continue;
    return series(point, fields::step_s).empty() ? nullptr : &point;
  }
  return nullptr;
}

std::optional<std::string> ratio_text(const ProbeRecord& probe, const std::string& variant) {
  const Point* plain = variant_point(probe, "launched");
  const Point* other = variant_point(probe, variant);
  if (plain == nullptr || other == nullptr) return std::nullopt;
  const Estimate<double> times = ratio(median_estimate(series(*other, fields::step_s)),
                                       median_estimate(series(*plain, fields::step_s)));
  if (!times.interval) return fmt::format("{:.4f}", times.value);
  return fmt::format(
      "{:.4f} [{:.4f}, {:.4f}]", times.value, times.interval->low, times.interval->high);
}
}  // namespace

void add_step_variants(const Run& run, std::vector<Finding>& findings) {
  const ProbeRecord* probe = find_probe(run, fields::step_variants);
  if (probe == nullptr) return;
  if (const auto graphs = ratio_text(*probe, "graphs")) {
    findings.push_back({"A step replayed from CUDA graphs takes " + *graphs +
                        " times as long as one launched kernel by kernel."});
  }
  if (const auto traced = ratio_text(*probe, "traced")) {
    findings.push_back({"Tracing by CUPTI makes a step " + *traced + " times as long."});
  }
}
}  // namespace scaleworth::model
