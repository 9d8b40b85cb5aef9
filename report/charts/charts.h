// SPDX-License-Identifier: Apache-2.0
/// Charts as data: the Vega-Lite grammar of each kind is in report/html/bundle.
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
  /// `kind`, a function of report/html/bundle/charts.js, and what its comment asks for; null: no
  /// picture, `missing` says why. Null in place of a number: the row is not drawn.
  Json data = nullptr;
  std::string missing = {};
  bool leads = false;  // stands at the head of the page

  Chart without(std::string why) {
    missing = std::move(why);
    return *this;
  }
};

/// Roofs by measured ceilings and memory, memory levels, placed matrix products.
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
/// Step time of each rank at each count, split by the ledger's parts; of strong scaling the
/// decision's speed-up with the ideal line and the bill, each with the laws' curves and bands.
std::vector<Chart> scaling_charts(const model::Analysis& analysis);

/// All of them in page order, those of GPUs for the first of each model that has products, those of
/// the cores' and of NCCL's collectives for what was measured.
std::vector<Chart> make_charts(const model::Analysis& analysis);

// Horizontal bars split into parts that add up to their length.

/// A part of a bar: its length `value`, which is the part `share` of the whole bar. What has the
/// same `link` in other charts ("rank 3", "8 ranks") is highlighted together with it.
Json stacked_row(const std::string& bar,
                 const std::string& link,
                 const std::string& part,
                 double value,
                 double share);
/// Bars from top to bottom; `length` says with its unit what their length is, `bar` what one is.
Json stacked_bars(std::vector<Json> rows, const std::string& length, const char* bar);
/// Bars of one part: rows of "bar" and "value".
Json plain_bars(std::vector<Json> rows, const char* bar, const std::string& value);
/// A line through the points of each series: rows of "series", "x" and "value".
Json line_data(std::vector<Json> rows, const char* x, const std::string& y);
}  // namespace scaleworth::report
