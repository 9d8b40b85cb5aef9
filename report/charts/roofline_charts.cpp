// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"
#include "report/quantity.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/model/gpu.h"

namespace scaleworth::report {
namespace {
using namespace model;

/// min(peak, bandwidth x intensity).
struct Roof {
  ProductFormat format;
  FlopPerSecond peak;
  BytesPerSecond bandwidth;
};

/// What a picture shows, the roof of its title first.
struct Picture {
  std::vector<Roof> roofs;
  std::vector<MemoryLevel> levels;
  std::vector<PlacedGemm> gemms;
};

Json roof_rows(const Picture& shown) {
  Json rows = Json::array();
  for (const Roof& roof : shown.roofs) {
    rows.push_back({{"precision", word_of(roof.format)},
                    {"peak", json_value(roof.peak.value() * 1e-9)},
                    {"ridge", json_value(roof.peak / roof.bandwidth)}});
  }
  return rows;
}

Json level_rows(const Picture& shown) {
  Json rows = Json::array();
  for (const MemoryLevel& level : shown.levels) {
    const double rate = level.value.value.value();
    if (level.stream != shown.levels.front().stream || rate <= 0.0) continue;
    rows.push_back(
        {{"level", word_of(level.name) + " " + format_quantity(rate, Unit::bytes_per_second)},
         {"rate", json_value(rate * 1e-9)}});
  }
  return rows;
}

Json product_rows(const Picture& shown) {
  Json rows = Json::array();
  for (const PlacedGemm& gemm : shown.gemms) {
    rows.push_back({{"precision", word_of(gemm.format)},
                    {"intensity", json_value(gemm.intensity)},
                    {"rate", json_value(gemm.rate.value.value() * 1e-9)},
                    {"shape", family_of(gemm) + " " + shape_text(gemm.shape)},
                    {"fraction", json_value(gemm.fraction)}});
  }
  return rows;
}

/// No picture without a roof.
Chart chart_of(const Picture& shown, const std::string& section) {
  Chart chart{"roofline", section, "Roofline"};
  if (shown.roofs.empty())
    return chart.without("No roofline: compute or memory was not measured in this run.");
  const auto& [format, peak, bandwidth] = shown.roofs.front();
  chart.title =
      fmt::format("In {}, work below {} is bound by memory ({}), above it by compute ({})",
                  word_of(format),
                  format_quantity((peak / bandwidth).value(), Unit::flop_per_byte),
                  format_quantity(bandwidth.value(), Unit::bytes_per_second),
                  format_quantity(peak.value(), Unit::flop_per_second));
  chart.how_to_read = reading_note("chart roofline");
  chart.data = {{"kind", "roofline"},
                {"roofs", roof_rows(shown)},
                {"products", product_rows(shown)},
                {"levels", level_rows(shown)}};
  return chart;
}

constexpr std::size_t most_roofs = 6;  // colours that can be distinguished

bool has_roof(const Picture& shown, const ProductFormat& format) {
  return std::ranges::count(shown.roofs, format, &Roof::format) > 0;
}

void add_roof(const Roof& roof, Picture& shown) {
  if (!has_roof(shown, roof.format) && shown.roofs.size() < most_roofs) shown.roofs.push_back(roof);
}

/// What the largest measured number of workers reaches.
Picture all_workers(const RooflineResult& whole) {
  Picture shown{{}, whole.memory_levels, whole.gemms};
  std::erase_if(shown.gemms, below_largest(whole.gemms, &PlacedGemm::workers));
  std::erase_if(shown.levels, below_largest(whole.memory_levels, &MemoryLevel::workers));
  const int most = largest(whole.ceilings, &ComputeCeiling::workers);
  const MemoryLevel* memory = memory_rate(whole.memory_levels, most);
  for (const NumberFormat precision : {NumberFormat::fp32, NumberFormat::fp64}) {
    const ComputeCeiling* ceiling = fastest_ceiling(whole.ceilings, precision, most);
    if (ceiling && memory)
      add_roof({{precision}, ceiling->ceiling().value, memory->value.value}, shown);
  }
  return shown;
}

/// A format's roof is that of its fastest sustained product, else of the CUDA cores; bf16, by which
/// GPUs are compared, gives the title.
Picture shown_of(const GpuResult& gpu) {
  Picture shown{{}, gpu.roofline.memory_levels, gpu.roofline.gemms};
  std::erase_if(shown.levels,
                [](const MemoryLevel& level) { return level.stream.kernel != MemoryKernel::read; });
  if (const auto memory = memory_read_rate(gpu)) {
    for (const GpuFormat& format : gpu.formats) {
      const auto& gemm = format.best_shape ? format.best_shape : format.steady;
      if (gemm) add_roof({format.format, gemm->rate.value, *memory}, shown);
    }
    for (const ComputeCeiling& ceiling : gpu.roofline.ceilings)
      if (ceiling.isa == Isa::cuda_cores)
        add_roof({{ceiling.precision}, ceiling.ceiling().value, *memory}, shown);
  }
  std::stable_partition(shown.roofs.begin(), shown.roofs.end(), [](const Roof& roof) {
    return roof.format.precision == NumberFormat::bf16;
  });
  std::erase_if(shown.gemms, [&](const PlacedGemm& gemm) { return !has_roof(shown, gemm.format); });
  return shown;
}
}  // namespace

Chart roofline_chart(const Analysis& analysis) {
  return chart_of(all_workers(analysis.roofline.value_or(RooflineResult{})), "roofline");
}

Chart gpu_roofline_chart(const GpuResult& gpu) {
  Chart chart = chart_of(shown_of(gpu), "gpus");
  chart.id = fmt::format("roofline-gpu-{}", gpu.identity.ordinal);
  if (chart.data.is_null())
    return chart.without("No roofline: memory or products were not measured on this GPU.");
  chart.title = fmt::format("GPU {}: {}", gpu.identity.ordinal, chart.title);
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
                            format_quantity(waterfall.measured, Unit::flop_per_second),
                            format_quantity(waterfall.spec, Unit::flop_per_second));
  chart.how_to_read = "From the datasheet's peak (" + said(waterfall.basis) +
                      ") to the steady rate: each bar begins where the one above ended. The table "
                      "below names the evidence of every step.";
  Json steps = Json::array();
  for (const auto& one : waterfall.steps) {
    if (!one.change) continue;
    steps.push_back(
        {{"step", word_of(one.name)}, {"change", json_value(one.change->value() * 1e-12)}});
  }
  chart.data = {{"kind", "waterfall"},
                {"datasheet", json_value(waterfall.spec.value() * 1e-12)},
                {"measured", json_value(waterfall.measured.value() * 1e-12)},
                {"steps", std::move(steps)}};
  return chart;
}
}  // namespace scaleworth::report
