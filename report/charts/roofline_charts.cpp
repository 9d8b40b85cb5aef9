// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"
#include "report/names.h"
#include "report/quantity.h"
#include "report/run/run_report.h"

namespace scaleworth::report {
namespace {
using namespace model;

/// What the largest measured number of workers reaches.
RooflineResult all_workers(const RooflineResult& whole) {
  RooflineResult shown = whole;
  std::erase_if(shown.soft_roofs, below_largest(whole.soft_roofs, &SoftRoof::workers));
  std::erase_if(shown.gemms, below_largest(whole.gemms, &PlacedGemm::workers));
  std::erase_if(shown.memory_levels, below_largest(whole.memory_levels, &MemoryLevel::workers));
  return shown;
}

Json roof_rows(const RooflineResult& roofline) {
  Json rows = Json::array();
  for (const auto& roof : roofline.soft_roofs) {
    rows.push_back({{"precision", word_of(roof.format)},
                    {"peak", json_value(roof.peak.value.value() * 1e-9)},
                    {"bandwidth", json_value(roof.bandwidth.value.value() * 1e-9)},
                    {"ridge", json_value(roof.ridge.value)},
                    {"sharpness", json_value(roof.sharpness.value)}});
  }
  return rows;
}

Json ladder_rows(const RooflineResult& roofline) {
  Json rows = Json::array();
  for (const auto& roof : roofline.soft_roofs) {
    for (const auto& point : roof.points) {
      const Number rate = number(point.value);
      rows.push_back({{"precision", word_of(roof.format)},
                      {"intensity", json_value(point.at)},
                      {"rate", json_value(rate.value * 1e-9)},
                      {"low", json_value(rate.low() * 1e-9)},
                      {"high", json_value(rate.high() * 1e-9)}});
    }
  }
  return rows;
}

Json level_rows(const RooflineResult& roofline) {
  Json rows = Json::array();
  for (const auto& level : roofline.memory_levels) {
    const double rate = level.value.value.value();
    if (level.stream != roofline.memory_levels.front().stream || rate <= 0.0) continue;
    rows.push_back(
        {{"level",
          word_of(level.name) + " " + format_quantity(number(rate), Unit::bytes_per_second)},
         {"rate", json_value(rate * 1e-9)}});
  }
  return rows;
}

Json product_rows(const RooflineResult& roofline) {
  Json rows = Json::array();
  for (const auto& gemm : roofline.gemms) {
    rows.push_back({{"precision", word_of(gemm.format)},
                    {"intensity", json_value(gemm.intensity)},
                    {"rate", json_value(gemm.rate.value.value() * 1e-9)},
                    {"shape", family_of(gemm) + " " + shape_text(gemm.shape)},
                    {"fraction", json_value(gemm.fraction)}});
  }
  return rows;
}

/// Soft roofs with ceilings, ladders and products; no picture without a soft roof.
Chart chart_of(const RooflineResult& roofline, const std::string& section) {
  Chart chart{"roofline", section, ""};
  if (roofline.soft_roofs.empty()) {
    chart.title = "Roofline";
    chart.missing = "No roofline: the intensity ladder was not measured in this run.";
    return chart;
  }
  const RooflineResult shown = all_workers(roofline);
  const SoftRoof& roof = shown.soft_roofs.front();
  chart.title = fmt::format(
      "In {}, work below {} is bound by memory ({}), above it by compute ({})",
      word_of(roof.format),
      format_quantity(number(roof.ridge), Unit::flop_per_byte),
      format_quantity(number(roof.peak.value / roof.ridge.value), Unit::bytes_per_second),
      format_quantity(number(roof.peak), Unit::flop_per_second));
  chart.how_to_read = reading_note("chart roofline");
  chart.data = {{"kind", "roofline"},
                {"roofs", roof_rows(shown)},
                {"ladder", ladder_rows(shown)},
                {"products", product_rows(shown)},
                {"levels", level_rows(shown)}};
  return chart;
}

constexpr std::size_t most_roofs = 6;  // colours that can be distinguished
constexpr double sharp = 64.0;

bool has_roof(const RooflineResult& shown, const ProductFormat& format) {
  return std::ranges::count(shown.soft_roofs, format, &SoftRoof::format) > 0;
}

/// The format's roof: its fastest sustained product over the memory's read rate, with a corner.
void add_roof(const GpuFormat& format, BytesPerSecond memory, RooflineResult& shown) {
  if (has_roof(shown, format.format) || shown.soft_roofs.size() == most_roofs) return;
  const auto& gemm = format.best_shape ? format.best_shape : format.steady;
  if (!gemm) return;
  SoftRoof roof;
  roof.format = format.format;
  roof.peak = gemm->rate;
  roof.bandwidth.value = memory;
  roof.sharpness.value = sharp;
  roof.ridge.value = gemm->rate.value / memory;
  shown.soft_roofs.push_back(std::move(roof));
}

RooflineResult shown_roofline(const GpuResult& gpu) {
  RooflineResult shown = gpu.roofline;
  shown.soft_roofs.clear();
  std::erase_if(shown.memory_levels, [](const MemoryLevel& level) {
    return level.stream.kernel != MemoryKernel::read || level.name.known == MemoryLevelName::shared;
  });
  for (const auto& level : shown.memory_levels) {
    if (level.name.known != MemoryLevelName::memory) continue;
    for (const GpuFormat& format : gpu.formats) add_roof(format, level.value.value, shown);
  }
  // The format that GPUs are compared by gives the title.
  std::stable_partition(shown.soft_roofs.begin(), shown.soft_roofs.end(), [](const SoftRoof& roof) {
    return roof.format.precision == NumberFormat::bf16;
  });
  for (const SoftRoof& ladder : gpu.roofline.soft_roofs) {
    std::erase_if(shown.soft_roofs,
                  [&](const SoftRoof& roof) { return roof.format == ladder.format; });
    shown.soft_roofs.push_back(ladder);
  }
  std::erase_if(shown.gemms, [&](const PlacedGemm& gemm) { return !has_roof(shown, gemm.format); });
  return shown;
}
}  // namespace

Chart roofline_chart(const Analysis& analysis) {
  return chart_of(analysis.roofline.value_or(RooflineResult{}), "roofline");
}

Chart gpu_roofline_chart(const GpuResult& gpu) {
  Chart chart = chart_of(shown_roofline(gpu), "gpus");
  chart.id = fmt::format("roofline-gpu-{}", gpu.identity.ordinal);
  if (chart.data.is_null())
    return chart.without("No roofline: memory or products were not measured on this GPU.");
  chart.title = fmt::format("GPU {}: {}", gpu.identity.ordinal, chart.title);
  chart.how_to_read +=
      " Formats without a ladder have the roof of their fastest product and the memory's read "
      "rate.";
  return chart;
}

Chart waterfall_chart(const GpuResult& gpu) {
  Chart chart{fmt::format("waterfall-gpu-{}", gpu.identity.ordinal), "gpus", ""};
  const GpuFormat* format = leading_format(gpu, &GpuFormat::waterfall);
  if (format == nullptr) {
    chart.title = "Loss waterfall";
    chart.missing = "No loss waterfall: no peak is known of this GPU.";
    return chart;
  }
  const auto& waterfall = *format->waterfall;
  chart.title = fmt::format("GPU {}: {} products reach {} of {}",
                            gpu.identity.ordinal,
                            word_of(format->format),
                            format_quantity(number(waterfall.measured), Unit::flop_per_second),
                            format_quantity(number(waterfall.spec), Unit::flop_per_second));
  chart.how_to_read = "From the datasheet's peak (" + waterfall.basis +
                      ") to the steady rate: each bar begins where the one above ended. The table "
                      "below names the evidence of every step.";
  Json steps = Json::array();
  for (const auto& one : waterfall.steps) {
    if (!one.change) continue;
    steps.push_back({{"step", one.name}, {"change", json_value(one.change->value() * 1e-12)}});
  }
  chart.data = {{"kind", "waterfall"},
                {"datasheet", json_value(waterfall.spec.value() * 1e-12)},
                {"measured", json_value(waterfall.measured.value() * 1e-12)},
                {"steps", std::move(steps)}};
  return chart;
}
}  // namespace scaleworth::report
