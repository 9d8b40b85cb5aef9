// SPDX-License-Identifier: Apache-2.0
/// Charts as Vega-Lite specifications: data and grammar, no drawing.
#pragma once

#include "report/render_options.h"
#include "src/core/units.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace scaleworth::report {
using Json = nlohmann::ordered_json;

/// Base units, null for what is not finite.
inline Json json_value(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
template <int S, int B, int F, int D>
Json json_value(Quantity<S, B, F, D> quantity) {
  return json_value(quantity.value());
}

struct Chart {
  std::string id;
  std::string section;           // whose tables it stands beside
  std::string title;             // states what the picture says
  std::string how_to_read = {};  // axes and marks in one or two sentences
  Json spec = nullptr;           // null: no picture, `missing` says why
  std::string missing = {};

  Chart without(std::string why) {
    missing = std::move(why);
    return *this;
  }
};

/// Soft roofs, ceilings of the memory levels, measured ladder, placed matrix products.
Chart roofline_chart(const model::Analysis& analysis);
/// The same of one GPU, with a roof for each format of its products.
Chart gpu_roofline_chart(const model::GpuResult& gpu);
/// From the datasheet's peak to the measured rate of the GPU's leading format, a bar per step.
Chart waterfall_chart(const model::GpuResult& gpu);
/// Bus bandwidth against message size with the chosen fit, per collective at the largest count.
Chart collectives_chart(const model::Analysis& analysis);
/// Time against message size of each way that NCCL was forced to take, with its line, the curve of
/// the fastest and what NCCL chose, per collective at the largest count.
Chart nccl_chart(const model::Analysis& analysis);
/// Step time of each rank at each count, split by the ledger's parts.
Chart steps_chart(const model::Analysis& analysis);
/// Strong-scaling speed-up with the ideal line and each law's curve and band.
Chart speedup_chart(const model::Analysis& analysis);
/// Cost per million tokens by count; says how to give a price when there is none.
Chart cost_chart(const model::Analysis& analysis);

/// All of them in page order, those of GPUs for the first of each model that has products, those of
/// the cores' and of NCCL's collectives for what was measured.
std::vector<Chart> make_charts(const model::Analysis& analysis);

// Horizontal bars split into parts that add up to their length.

struct StackedBars {
  std::vector<Json> rows;            // by `stacked_row`, bars from top to bottom
  std::vector<std::string> parts;    // from left to right
  std::vector<std::string> colours;  // of the parts
  std::string length;                // what a bar's length is, with its unit
  std::string bar;                   // what a bar is, for the tooltip: "rank"
  int bar_height = 30;               // pixels, with the gap to the next
};

/// Part number `order` of a bar: its length `value`, which is the part `share` of the whole bar.
Json stacked_row(
    const std::string& bar, const std::string& part, std::size_t order, double value, double share);

Json stacked_bars(StackedBars chart);
}  // namespace scaleworth::report
