// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/charts.h"
#include "report/html/charts/grammar.h"
#include "report/quantity.h"
#include "src/model/gpu/gemm/products.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::GpuFormat;
using model::GpuResult;
using model::RooflineResult;
using model::SoftRoof;

constexpr std::size_t most_roofs = 6;  // colours that can be told apart
constexpr double sharp = 64.0;

std::string format_name(const GpuFormat& format) {
  return model::format_text(format.precision, format.fast_accumulation);
}

/// bf16, else the first with a waterfall.
const GpuFormat* leading(const GpuResult& gpu) {
  const GpuFormat* first = nullptr;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.waterfall) {
      continue;
    }
    if (format.precision == "bf16") {
      return &format;
    }
    first = first == nullptr ? &format : first;
  }
  return first;
}

Json bar(const std::string& step, FlopPerSecond from, FlopPerSecond to, const char* kind) {
  return {{"step", step},
          {"from", json_value(std::min(from, to).value() * 1e-12)},
          {"to", json_value(std::max(from, to).value() * 1e-12)},
          {"change", json_value((to - from).value() * 1e-12)},
          {"kind", kind}};
}

std::vector<Json> bars(const model::LossWaterfall& waterfall) {
  const FlopPerSecond zero(0.0);
  std::vector<Json> rows{bar("datasheet", zero, waterfall.spec, "rate")};
  FlopPerSecond rate = waterfall.spec;
  for (const auto& step : waterfall.steps) {
    if (!step.change) {
      continue;
    }
    const FlopPerSecond after = rate + *step.change;
    rows.push_back(bar(step.name, rate, after, after < rate ? "loss" : "gain"));
    rate = after;
  }
  rows.push_back(bar("measured", zero, waterfall.measured, "rate"));
  return rows;
}

Json waterfall_spec(const model::LossWaterfall& waterfall) {
  const std::vector<Json> rows = bars(waterfall);
  Json spec = chart_spec(34 * static_cast<int>(rows.size()));
  spec["data"] = inline_data(rows);
  spec["mark"] = {{"type", "bar"}, {"height", 20}};
  Json step{{"field", "step"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}};
  step["axis"] = {{"labelLimit", 220}};
  spec["encoding"] = {{"y", step},
                      {"x", linear_channel("from", "rate (TFLOP/s)")},
                      {"x2", end_of("to")},
                      {"color",
                       colour_channel("kind",
                                      "",
                                      {"rate", "loss", "gain"},
                                      {series_colours[0], series_colours[2], series_colours[1]})},
                      {"tooltip",
                       {tooltip("step", "step"),
                        tooltip("change", "change (TFLOP/s)", "+.4~g"),
                        tooltip("to", "up to (TFLOP/s)", ".4~g")}}};
  return spec;
}

/// The format's roof: its fastest sustained product over the memory's read rate, with a corner.
void add_roof(const GpuFormat& format, BytesPerSecond memory, RooflineResult& shown) {
  const bool known =
      std::any_of(shown.soft_roofs.begin(), shown.soft_roofs.end(), [&](const SoftRoof& roof) {
        return roof.precision == format_name(format);
      });
  if (known || shown.soft_roofs.size() == most_roofs) {
    return;
  }
  const auto& gemm = format.best_shape ? format.best_shape : format.steady;
  if (!gemm) {
    return;
  }
  SoftRoof roof;
  roof.precision = format_name(format);
  roof.peak = gemm->rate;
  roof.bandwidth.value = memory;
  roof.sharpness.value = sharp;
  roof.ridge.value = gemm->rate.value / memory;
  shown.soft_roofs.push_back(std::move(roof));
}

RooflineResult shown_roofline(const GpuResult& gpu) {
  RooflineResult shown = gpu.roofline;
  shown.soft_roofs.clear();
  std::erase_if(shown.memory_levels, [](const model::MemoryLevel& level) {
    return level.kernel != "read" || level.label == "shared";
  });
  for (const auto& level : shown.memory_levels) {
    if (level.label != "memory") {
      continue;
    }
    for (const GpuFormat& format : gpu.formats) {
      add_roof(format, level.rate.value, shown);
    }
  }
  // The format that GPUs are compared by gives the title.
  std::stable_partition(shown.soft_roofs.begin(), shown.soft_roofs.end(), [](const SoftRoof& roof) {
    return roof.precision == "bf16";
  });
  for (const SoftRoof& ladder : gpu.roofline.soft_roofs) {
    std::erase_if(shown.soft_roofs,
                  [&](const SoftRoof& roof) { return roof.precision == ladder.precision; });
    shown.soft_roofs.push_back(ladder);
  }
  std::erase_if(shown.gemms, [&](const model::PlacedGemm& gemm) {
    return std::none_of(shown.soft_roofs.begin(),
                        shown.soft_roofs.end(),
                        [&](const SoftRoof& roof) { return roof.precision == gemm.precision; });
  });
  return shown;
}

}  // namespace

Chart gpu_roofline_chart(const GpuResult& gpu) {
  Chart chart = chart_of(shown_roofline(gpu), "gpus");
  chart.id = fmt::format("roofline-gpu-{}", gpu.identity.ordinal);
  if (chart.spec.is_null()) {
    chart.missing = "No roofline: memory or products were not measured on this GPU.";
    return chart;
  }
  chart.title = fmt::format("GPU {}: {}", gpu.identity.ordinal, chart.title);
  chart.how_to_read +=
      " Formats without a ladder have the roof of their fastest product and the memory's read "
      "rate.";
  return chart;
}

Chart waterfall_chart(const GpuResult& gpu) {
  Chart chart{fmt::format("waterfall-gpu-{}", gpu.identity.ordinal), "gpus", "", "", nullptr, ""};
  const GpuFormat* format = leading(gpu);
  if (format == nullptr) {
    chart.title = "Loss waterfall";
    chart.missing =
        "No loss waterfall: no peak is known of this GPU; give its dense bf16 peak with --peak.";
    return chart;
  }
  const auto& waterfall = *format->waterfall;
  chart.title = fmt::format("GPU {}: {} products reach {} of {}",
                            gpu.identity.ordinal,
                            format_name(*format),
                            format_quantity(number(waterfall.measured), Unit::flop_per_second),
                            format_quantity(number(waterfall.spec), Unit::flop_per_second));
  chart.how_to_read = "From the datasheet's peak (" + waterfall.basis +
                      ") to the steady rate: each bar begins where the one above ended. The table "
                      "below names the evidence of every step.";
  chart.spec = waterfall_spec(waterfall);
  return chart;
}

}  // namespace scaleworth::report
