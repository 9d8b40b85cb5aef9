// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/grammar.h"
#include "report/mfu/serving/serving_view.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::report {
namespace {

constexpr int height = 300;

struct Series {
  std::string name;
  double (*value)(const inference::ServedBatch&);
};

/// One line per series against the batch; the value's axis is left to `chart`.
Json lines_spec(const ServingView& view, const std::vector<Series>& lines) {
  std::vector<Json> rows;
  std::vector<std::string> names;
  for (const Series& one : lines) {
    names.push_back(one.name);
    for (const auto& served : view.answer.batches) {
      rows.push_back(
          {{"batch", served.point.batch}, {"value", one.value(served)}, {"series", one.name}});
    }
  }
  Json spec = chart_spec(height);
  spec["data"] = inline_data(std::move(rows));
  spec["mark"] = {{"type", "line"}, {"point", true}};
  spec["encoding"] = {
      {"x", doubling_channel("batch", "batch")},
      {"color", colour_channel("series", "", names, series_colours)},
      {"tooltip",
       {tooltip("series", "which"), tooltip("batch", "batch"), tooltip("value", "value", ".4g")}}};
  return spec;
}

double cost_of(const inference::ServedBatch& one) {
  return one.cost->per_million_output.value();
}

/// Decades around the costs, for a batch of one costs a hundred times that of the largest.
Json cost_spec(const ServingView& view) {
  Json spec = lines_spec(view, {{"at full load", cost_of}});
  double low = cost_of(view.answer.batches.front());
  double high = low;
  for (const auto& one : view.answer.batches) {
    low = std::min(low, cost_of(one));
    high = std::max(high, cost_of(one));
  }
  constexpr double room = 1.2;
  spec["encoding"]["y"] =
      low > 0.0 ? log_channel("value", "USD per million output tokens", low / room, high * room)
                : linear_channel("value", "USD per million output tokens");
  return spec;
}

}  // namespace

std::vector<Chart> serving_charts(const ServingView& view) {
  Chart rate{"throughput",
             "batches",
             "Output tokens per second against the batch",
             "Where the line bends, a larger batch mostly makes each request slower. At most: what "
             "no server exceeds at the batch.",
             nullptr,
             ""};
  rate.spec = lines_spec(
      view,
      {{"prompts and steps in turn",
        [](const inference::ServedBatch& one) { return one.point.output_tokens_per_s; }},
       {"at most",
        [](const inference::ServedBatch& one) { return one.point.ceiling_output_tokens_per_s; }}});
  rate.spec["encoding"]["y"] = linear_channel("value", "output tokens/s");
  Chart cost{"cost",
             "batches",
             "Cost of a million output tokens against the batch",
             "At full load; divide by the utilisation for the load there is.",
             nullptr,
             ""};
  if (view.question.rate) {
    cost.spec = cost_spec(view);
  } else {
    cost.missing = "No costs: give --price in USD per GPU and hour.";
  }
  return {rate, cost};
}

}  // namespace scaleworth::report
