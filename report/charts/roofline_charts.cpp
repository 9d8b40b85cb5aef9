// SPDX-License-Identifier: Apache-2.0
#include "report/charts/chart_grammar.h"
#include "report/names.h"
#include "report/quantity.h"
#include "report/run/run_report.h"

#include <cmath>

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

/// Intensities that hold every measured point, half an octave wider.
Range intensities(const RooflineResult& roofline) {
  Range range{0.05, 64.0};
  for (const auto& roof : roofline.soft_roofs) {
    for (const auto& point : roof.points) {
      range.low = std::min(range.low, point.intensity.value() / std::sqrt(2.0));
      range.high = std::max(range.high, point.intensity.value() * std::sqrt(2.0));
    }
  }
  for (const auto& gemm : roofline.gemms) {
    range.high = std::max(range.high, gemm.intensity.value() * std::sqrt(2.0));
  }
  return range;
}

double highest_peak(const RooflineResult& roofline) {
  double peak = 0.0;
  for (const auto& roof : roofline.soft_roofs) peak = std::max(peak, roof.peak.value.value());
  return peak;
}

/// 1/P(I)^p = 1/peak^p + 1/(bandwidth I)^p, in FLOP/s.
double soft_rate(const SoftRoof& roof, double intensity) {
  const double p = roof.sharpness.value;
  const double memory = roof.bandwidth.value.value() * intensity / roof.peak.value.value();
  return roof.peak.value.value() * std::pow(1.0 + std::pow(memory, -p), -1.0 / p);
}

std::vector<Json> roof_rows(const RooflineResult& roofline, Range range, bool soft) {
  constexpr int steps = 64;
  std::vector<Json> rows;
  for (const auto& roof : roofline.soft_roofs) {
    for (int i = 0; i <= steps; ++i) {
      const double x = range.low * std::pow(range.high / range.low, double(i) / steps);
      const double hard = roof.peak.value.value() * std::min(1.0, x / roof.ridge.value.value());
      rows.push_back({{"precision", roof.precision},
                      {"intensity", json_value(x)},
                      {"rate", json_value((soft ? soft_rate(roof, x) : hard) * 1e-9)}});
    }
  }
  return rows;
}

std::vector<Json> point_rows(const RooflineResult& roofline) {
  std::vector<Json> rows;
  for (const auto& roof : roofline.soft_roofs) {
    for (const auto& point : roof.points) {
      const Number rate = number(point.rate);
      rows.push_back({{"precision", roof.precision},
                      {"intensity", json_value(point.intensity)},
                      {"rate", json_value(rate.value * 1e-9)},
                      {"low", json_value(rate.low() * 1e-9)},
                      {"high", json_value(rate.high() * 1e-9)}});
    }
  }
  return rows;
}

/// The bandwidth ceilings of the memory levels, each up to the highest peak.
std::vector<Json> level_rows(const RooflineResult& roofline, Range range, bool labels) {
  std::vector<Json> rows;
  const double peak = highest_peak(roofline);
  const std::string kernel =
      roofline.memory_levels.empty() ? "" : roofline.memory_levels.front().kernel;
  for (const auto& level : roofline.memory_levels) {
    const double rate = level.rate.value.value();
    if (level.kernel != kernel || rate <= 0.0) continue;
    const std::string label =
        fmt::format("{} {}", level.label, format_quantity(number(rate), Unit::bytes_per_second));
    for (const double x : {range.low, peak / rate}) {
      rows.push_back({{"level", label}, {"intensity", x}, {"rate", json_value(rate * x * 1e-9)}});
      if (labels) break;
    }
  }
  return rows;
}

std::vector<Json> gemm_rows(const RooflineResult& roofline) {
  std::vector<Json> rows;
  for (const auto& gemm : roofline.gemms) {
    rows.push_back({{"precision", gemm.precision},
                    {"intensity", json_value(gemm.intensity)},
                    {"rate", json_value(gemm.rate.value.value() * 1e-9)},
                    {"shape", gemm.family + " " + shape_text({gemm.m, gemm.n, gemm.k, gemm.batch})},
                    {"fraction", json_value(gemm.fraction)}});
  }
  return rows;
}

Json line_layer(std::vector<Json> rows, const Json& mark) {
  return {{"data", inline_data(std::move(rows))}, {"mark", mark}};
}

/// The measured ladder and the matrix products.
Json point_layers(const RooflineResult& roofline) {
  const Json ladder = inline_data(point_rows(roofline));
  const Json tips{tooltip("precision", "precision"),
                  tooltip("intensity", "FLOP/B", ".3~g"),
                  tooltip("rate", "GFLOP/s", ".3~g")};
  Json product_tips = tips;
  product_tips.insert(product_tips.begin(), tooltip("shape", "matrix product"));
  product_tips.push_back(tooltip("fraction", "of its roof", ".1%"));
  const Json diamond{{"type", "point"},
                     {"shape", "diamond"},
                     {"filled", false},
                     {"size", 130},
                     {"strokeWidth", 2},
                     {"opacity", 1}};
  return {layer(ladder, {{"type", "rule"}, {"strokeWidth", 1.5}}, interval_ends()),
          layer(ladder, dot_mark(45), {{"tooltip", tips}}),
          layer(inline_data(gemm_rows(roofline)), diamond, {{"tooltip", product_tips}})};
}

Json roofline_spec(const RooflineResult& roofline) {
  const Range range = intensities(roofline);
  const auto precisions = mapped(roofline.soft_roofs, &SoftRoof::precision);
  // Room above the peak for points that beat it.
  const double lowest = std::min(range_of(roof_rows(roofline, range, true), "rate").low,
                                 range_of(level_rows(roofline, range, true), "rate").low) /
                        1.3;
  const double highest = highest_peak(roofline) * 1.5e-9;
  // Of a line of slope 1 in a plot of these logarithmic ranges.
  const std::string angle = fmt::format("-atan2(height * {}, width * {}) * 180 / PI",
                                        std::log10(range.high / range.low),
                                        std::log10(highest / lowest));
  const Json grey{{"value", css("muted")}};
  const Json text{{"type", "text"},
                  {"align", "left"},
                  {"baseline", "bottom"},
                  {"dx", 14},
                  {"dy", -2},
                  {"fontSize", 11},
                  {"angle", {{"expr", angle}}}};
  const Json roofs{layer(inline_data(level_rows(roofline, range, false)),
                         line_mark(1, {2, 3}),
                         {{"detail", end_of("level")}, {"color", grey}}),
                   layer(inline_data(level_rows(roofline, range, true)),
                         text,
                         {{"text", end_of("level")}, {"color", grey}}),
                   line_layer(roof_rows(roofline, range, false), line_mark(1, {6, 4})),
                   line_layer(roof_rows(roofline, range, true), line_mark(2))};
  return layered_spec(
      400,
      log_channel("intensity", "arithmetic intensity (FLOP/B)", range.low, range.high),
      log_channel("rate", "rate (GFLOP/s)", lowest, highest),
      colour_channel("precision", precisions, series_colours),
      {roofs, point_layers(roofline)});
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
      roof.precision,
      format_quantity(number(roof.ridge), Unit::flop_per_byte),
      format_quantity(number(roof.peak.value / roof.ridge.value), Unit::bytes_per_second),
      format_quantity(number(roof.peak), Unit::flop_per_second));
  chart.how_to_read =
      "Each kernel sits at its FLOPs per byte moved (right) and its rate (up), both logarithmic. "
      "Solid: the fitted soft roof; dashed: the ideal roof of its peak and the memory; dots: "
      "the measured intensity ladder with 95 % intervals; diamonds: library matrix products; "
      "dotted: bandwidth of each memory level. A point far below its roof leaves speed unused.";
  chart.spec = roofline_spec(shown);
  return chart;
}

constexpr std::size_t most_roofs = 6;  // colours that can be distinguished
constexpr double sharp = 64.0;

Json waterfall_spec(const LossWaterfall& waterfall) {
  std::vector<Json> rows;
  const auto add = [&](const auto& name, FlopPerSecond from, FlopPerSecond to, const char* kind) {
    rows.push_back({{"step", name},
                    {"from", json_value(std::min(from, to).value() * 1e-12)},
                    {"to", json_value(std::max(from, to).value() * 1e-12)},
                    {"change", json_value((to - from).value() * 1e-12)},
                    {"kind", kind}});
  };
  const FlopPerSecond zero(0.0);
  FlopPerSecond rate = waterfall.spec;
  add("datasheet", zero, rate, "rate");
  for (const auto& one : waterfall.steps) {
    if (!one.change) continue;
    const FlopPerSecond after = rate + *one.change;
    add(one.name, rate, after, after < rate ? "loss" : "gain");
    rate = after;
  }
  add("measured", zero, waterfall.measured, "rate");
  const int height = 34 * static_cast<int>(rows.size());
  Json step{{"field", "step"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}};
  step["axis"] = {{"labelLimit", 220}};
  const std::vector<std::string> colours{series_colours[0], series_colours[2], series_colours[1]};
  return chart_spec(height,
                    std::move(rows),
                    {{"type", "bar"}, {"height", 20}},
                    {{"y", step},
                     {"x", linear_channel("from", "rate (TFLOP/s)")},
                     {"x2", end_of("to")},
                     {"color", colour_channel("kind", {"rate", "loss", "gain"}, colours)},
                     {"tooltip",
                      {tooltip("step", "step"),
                       tooltip("change", "change (TFLOP/s)", "+.4~g"),
                       tooltip("to", "up to (TFLOP/s)", ".4~g")}}});
}

bool has_roof(const RooflineResult& shown, const std::string& precision) {
  return std::ranges::count(shown.soft_roofs, precision, &SoftRoof::precision) > 0;
}

/// The format's roof: its fastest sustained product over the memory's read rate, with a corner.
void add_roof(const GpuFormat& format, BytesPerSecond memory, RooflineResult& shown) {
  if (has_roof(shown, format_of(format)) || shown.soft_roofs.size() == most_roofs) return;
  const auto& gemm = format.best_shape ? format.best_shape : format.steady;
  if (!gemm) return;
  SoftRoof roof;
  roof.precision = format_of(format);
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
    return level.kernel != "read" || level.label == "shared";
  });
  for (const auto& level : shown.memory_levels) {
    if (level.label != "memory") continue;
    for (const GpuFormat& format : gpu.formats) add_roof(format, level.rate.value, shown);
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
  std::erase_if(shown.gemms,
                [&](const PlacedGemm& gemm) { return !has_roof(shown, gemm.precision); });
  return shown;
}
}  // namespace

Chart roofline_chart(const Analysis& analysis) {
  return chart_of(analysis.roofline.value_or(RooflineResult{}), "roofline");
}

Chart gpu_roofline_chart(const GpuResult& gpu) {
  Chart chart = chart_of(shown_roofline(gpu), "gpus");
  chart.id = fmt::format("roofline-gpu-{}", gpu.identity.ordinal);
  if (chart.spec.is_null())
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
    chart.missing =
        "No loss waterfall: no peak is known of this GPU; give its dense bf16 peak with --peak.";
    return chart;
  }
  const auto& waterfall = *format->waterfall;
  chart.title = fmt::format("GPU {}: {} products reach {} of {}",
                            gpu.identity.ordinal,
                            format_of(*format),
                            format_quantity(number(waterfall.measured), Unit::flop_per_second),
                            format_quantity(number(waterfall.spec), Unit::flop_per_second));
  chart.how_to_read = "From the datasheet's peak (" + waterfall.basis +
                      ") to the steady rate: each bar begins where the one above ended. The table "
                      "below names the evidence of every step.";
  chart.spec = waterfall_spec(waterfall);
  return chart;
}
}  // namespace scaleworth::report
