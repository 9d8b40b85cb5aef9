// SPDX-License-Identifier: Apache-2.0
#include "src/model/findings/sentences.h"
#include "src/model/gpu/gemm/products.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::model {
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
  const RidgeBatch* told = nullptr;
  for (const RidgeBatch& batch : gpu.ridge_batches) {
    const bool whole = batch.layer == "all layers" || told == nullptr;
    if (batch.precision == "bf16" && whole) told = &batch;
  }
  if (told == nullptr) return;
  const std::string what = fmt::format("GPU {}: in bf16, {}", gpu.identity.ordinal, told->layer);
  findings.push_back(
      {told->tokens
           ? fmt::format("{} are bound by memory below {:.0f} tokens.", what, *told->tokens)
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

}  // namespace scaleworth::model
