// SPDX-License-Identifier: Apache-2.0
#include "src/model/findings/sentences.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::model {
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

}  // namespace scaleworth::model
