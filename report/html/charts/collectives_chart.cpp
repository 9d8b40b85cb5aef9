// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/charts.h"
#include "report/html/charts/grammar.h"
#include "report/names.h"
#include "report/quantity.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::CollectiveResult;

/// Time that the chosen fit gives for a message, in seconds; absent outside its segments.
std::optional<double> fitted_time(const CollectiveResult& result, double bytes) {
  if (result.chosen >= result.fits.size()) {
    return std::nullopt;
  }
  for (const auto& segment : result.fits[result.chosen].segments) {
    if (bytes >= segment.smallest.value() && bytes <= segment.largest.value()) {
      return segment.alpha.value.value() + segment.beta.value.value() * bytes +
             segment.sqrt_coefficient * std::sqrt(bytes);
    }
  }
  return std::nullopt;
}

std::vector<Json> point_rows(const std::vector<const CollectiveResult*>& shown) {
  std::vector<Json> rows;
  for (const auto* result : shown) {
    for (const auto& point : result->points) {
      const double gigabytes = point.bus_bandwidth.value() * 1e-9;
      const double time = point.time.value.value();
      const auto interval =
          point.time.interval.value_or(Interval<Seconds>{point.time.value, point.time.value});
      rows.push_back({{"collective", words(result->collective)},
                      {"mode", words(result->mode)},
                      {"bytes", json_value(point.message)},
                      {"busbw", json_value(gigabytes)},
                      {"low", json_value(gigabytes * time / interval.high.value())},
                      {"high", json_value(gigabytes * time / interval.low.value())},
                      {"time", json_value(time * 1e6)},
                      {"size", format_quantity(number(point.message), Unit::bytes)}});
    }
  }
  return rows;
}

std::vector<Json> fit_rows(const std::vector<const CollectiveResult*>& shown) {
  constexpr int per_octave = 2;
  std::vector<Json> rows;
  for (const auto* result : shown) {
    if (result->points.empty() || result->points.back().algorithm_bandwidth.value() <= 0.0) {
      continue;
    }
    const double factor =
        result->points.back().bus_bandwidth / result->points.back().algorithm_bandwidth;
    const double first = result->points.front().message.value();
    const double octaves = std::log2(result->points.back().message.value() / first);
    for (int i = 0; i <= static_cast<int>(octaves * per_octave); ++i) {
      const double bytes = first * std::exp2(static_cast<double>(i) / per_octave);
      if (const auto time = fitted_time(*result, bytes)) {
        rows.push_back({{"collective", words(result->collective)},
                        {"mode", words(result->mode)},
                        {"bytes", json_value(bytes)},
                        {"busbw", json_value(factor * bytes / *time * 1e-9)}});
      }
    }
  }
  return rows;
}

double largest_message(const std::vector<const CollectiveResult*>& shown) {
  double largest = 8.0;
  for (const auto* result : shown) {
    for (const auto& point : result->points) {
      largest = std::max(largest, point.message.value());
    }
  }
  return largest;
}

Json busbw_spec(const std::vector<const CollectiveResult*>& shown) {
  std::vector<std::string> order;
  for (const auto* result : shown) {
    const std::string name = words(result->collective);
    if (std::find(order.begin(), order.end(), name) == order.end()) {
      order.push_back(name);
    }
  }
  std::vector<Json> rows = point_rows(shown);
  const Range range = range_of(rows, "busbw");
  // A facet takes one data set, so fitted values are rows of their own kind.
  for (Json row : fit_rows(shown)) {
    row["fit"] = true;
    rows.push_back(std::move(row));
  }
  const Json tips{tooltip("collective", "collective"),
                  tooltip("mode", "mode"),
                  tooltip("size", "message"),
                  tooltip("time", "time (us)", ".3~g"),
                  tooltip("busbw", "busbw (GB/s)", ".3~g")};
  const auto only = [](const char* test) { return Json::array({{{"filter", test}}}); };
  Json spec = chart_spec(190);
  spec.erase("width");
  spec.erase("height");
  spec.erase("autosize");
  spec["data"] = {{"values", rows}};
  spec["facet"] = {
      {"field", "collective"}, {"type", "nominal"}, {"title", nullptr}, {"sort", order}};
  spec["columns"] = 3;
  spec["spec"] = {
      {"width", 285},
      {"height", 190},
      {"encoding",
       {{"x", size_channel("bytes", "message", largest_message(shown))},
        {"y", log_channel("busbw", "bus bandwidth (GB/s)", range.low / 1.5, range.high * 1.5)},
        {"color", colour_channel("mode", "", {"isolated", "back to back"}, series_colours)}}},
      {"layer",
       {{{"transform", only("datum.fit")}, {"mark", {{"type", "line"}, {"strokeWidth", 1.5}}}},
        {{"transform", only("!datum.fit")},
         {"mark", {{"type", "rule"}, {"strokeWidth", 1.5}}},
         {"encoding", {{"y", end_of("low")}, {"y2", end_of("high")}}}},
        {{"transform", only("!datum.fit")},
         {"mark", {{"type", "point"}, {"filled", true}, {"size", 36}, {"opacity", 1}}},
         {"encoding", {{"tooltip", tips}}}}}}};
  return spec;
}

/// "Large all reduce messages move 2.71 GB/s over the bus; below 5.3 KiB latency rules".
std::string busbw_title(const CollectiveResult& result) {
  const std::string rate =
      format_quantity(number(result.points.back().bus_bandwidth), Unit::bytes_per_second);
  std::string title =
      fmt::format("An {} of {} reaches {} bus bandwidth at {} ranks",
                  words(result.collective),
                  format_quantity(number(result.points.back().message), Unit::bytes),
                  rate,
                  result.ranks);
  if (result.chosen < result.fits.size() && !result.fits[result.chosen].segments.empty()) {
    const auto& segments = result.fits[result.chosen].segments;
    const double half = segments.front().alpha.value / segments.back().beta.value / Bytes(1.0);
    if (std::isfinite(half) && half > 0.0) {
      title += fmt::format("; below {} latency rules",
                           format_quantity(number(std::round(half)), Unit::bytes));
    }
  }
  return title;
}

}  // namespace

Chart collectives_chart(const model::Analysis& analysis) {
  Chart chart{"busbw", "collectives", "Bus bandwidth by message size", "", nullptr, ""};
  int most = 0;
  for (const auto& result : analysis.collectives) {
    most = result.points.empty() ? most : std::max(most, result.ranks);
  }
  std::vector<const CollectiveResult*> shown;
  for (const auto& result : analysis.collectives) {
    if (result.ranks == most && !result.points.empty()) {
      shown.push_back(&result);
    }
  }
  if (shown.empty()) {
    chart.missing = "No bandwidth curves: no collective was measured in this run.";
    return chart;
  }
  const auto named = std::find_if(shown.begin(), shown.end(), [](const auto* result) {
    return result->collective == "all_reduce";
  });
  chart.title = busbw_title(named == shown.end() ? *shown.front() : **named);
  chart.how_to_read = fmt::format(
      "Message size (right) against bus bandwidth (up), both logarithmic, at {} ranks. Dots: "
      "measured, with 95 % intervals; lines: the chosen fit. The slope on the left is latency, the "
      "plateau on the right is bandwidth; dots away from the line are sizes that the fit misses.",
      most);
  chart.spec = busbw_spec(shown);
  return chart;
}

}  // namespace scaleworth::report
