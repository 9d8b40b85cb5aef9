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

void add_ceiling(const RooflineResult& roofline, std::vector<Finding>& findings) {
  for (const char* precision : {"fp32", "fp64"}) {
    const ComputeCeiling* ceiling = best_ceiling(roofline, precision);
    if (ceiling == nullptr) continue;
    const auto& rate = ceiling->contended ? ceiling->cpu_rate : ceiling->wall_rate;
    findings.push_back({fmt::format("{} workers reach {} GFLOP/s {} with {} FMA{}.",
                                    ceiling->workers,
                                    estimate_text(plain(rate), 1e-9),
                                    precision,
                                    ceiling->isa,
                                    ceiling->contended ? " per second of their CPU time" : ""),
                        false});
  }
}

void add_memory(const RooflineResult& roofline, std::vector<Finding>& findings) {
  if (const MemoryLevel* memory = main_memory(roofline)) {
    findings.push_back({fmt::format("Memory gives {} workers {} GB/s ({}).",
                                    memory->workers,
                                    estimate_text(plain(memory->rate), 1e-9),
                                    memory->kernel),
                        false});
  }
  for (const SoftRoof& roof : roofline.soft_roofs) {
    findings.push_back({fmt::format("Ridge point ({}, {} workers): {} FLOP/byte.",
                                    roof.precision,
                                    roof.workers,
                                    estimate_text(plain(roof.ridge), 1.0)),
                        false});
  }
}

void add_communication(const std::vector<CollectiveResult>& collectives,
                       std::vector<Finding>& findings) {
  for (const CollectiveResult& result : collectives) {
    if (result.collective != "all_reduce" || result.mode != "isolated") continue;
    if (result.chosen >= result.fits.size() || result.fits[result.chosen].segments.empty()) {
      continue;
    }
    const CommunicationFit& fit = result.fits[result.chosen];
    const CommunicationSegment& large = fit.segments.back();
    std::string text =
        fmt::format("All-reduce over {} ({} form): {} us + {} ns per KB up to {:.3g} MB",
                    ranks_text(result.ranks),
                    fit.form,
                    estimate_text(plain(large.alpha), 1e6),
                    estimate_text(plain(large.beta), 1e12),
                    large.largest.value() * 1e-6);
    if (fit.held_out_error) {
      text += fmt::format("; error on sizes left out {:.1f} %", 100.0 * *fit.held_out_error);
    }
    findings.push_back({text + ".", false});
  }
}

}  // namespace

void add_machine_results(const Analysis& analysis, std::vector<Finding>& findings) {
  if (analysis.roofline) {
    add_ceiling(*analysis.roofline, findings);
    add_memory(*analysis.roofline, findings);
  }
  add_communication(analysis.collectives, findings);
}

}  // namespace scaleworth::model
