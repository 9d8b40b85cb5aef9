// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"
#include "report/table.h"
#include "report/words.h"
#include "src/model/collectives.h"

#include <cmath>
#include <set>

namespace scaleworth::report {
namespace {
using namespace model;

/// Those of the most ranks that fit.
template <class T, class Fits>
std::vector<const T*> of_most_ranks(const std::vector<T>& results, Fits fits) {
  std::vector<const T*> shown;
  for (const T& one : results) {
    if (!fits(one) || (!shown.empty() && one.ranks < shown.front()->ranks)) continue;
    if (!shown.empty() && one.ranks > shown.front()->ranks) shown.clear();
    shown.push_back(&one);
  }
  return shown;
}

std::vector<Json> point_rows(const std::vector<const CollectiveResult*>& shown) {
  std::vector<Json> rows;
  for (const auto* result : shown) {
    for (const auto& point : result->points) {
      const double gigabytes = point.bus_bandwidth.value() * 1e-9;
      const double time = point.time.value.value();
      rows.push_back({{"collective", word_of(result->collective)},
                      {"mode", word_of(result->mode)},
                      {"bytes", json_value(point.message)},
                      {"busbw", json_value(gigabytes)},
                      {"low", json_value(gigabytes * time / point.time.high().value())},
                      {"high", json_value(gigabytes * time / point.time.low().value())},
                      {"time", json_value(time * 1e6)},
                      {"size", format_quantity(point.message, Unit::bytes)}});
    }
  }
  return rows;
}

std::vector<Json> fit_rows(const std::vector<const CollectiveResult*>& shown) {
  constexpr int per_octave = 2;
  std::vector<Json> rows;
  for (const auto* result : shown) {
    const CollectivePoint& last = result->points.back();
    if (last.algorithm_bandwidth.value() <= 0.0 || result->fits.empty()) continue;
    const double factor = last.bus_bandwidth / last.algorithm_bandwidth;
    const double first = result->points.front().message.value();
    const double octaves = std::log2(last.message.value() / first);
    for (int i = 0; i <= static_cast<int>(octaves * per_octave); ++i) {
      const double bytes = first * std::exp2(static_cast<double>(i) / per_octave);
      const double time = evaluate(result->fits[result->chosen], Bytes(bytes)).value();
      rows.push_back({{"collective", word_of(result->collective)},
                      {"mode", word_of(result->mode)},
                      {"bytes", json_value(bytes)},
                      {"busbw", json_value(factor * bytes / time * 1e-9)}});
    }
  }
  return rows;
}

/// "Large all reduce messages move 2.71 GB/s over the bus; below 5.3 KiB latency rules".
std::string busbw_title(const CollectiveResult& result) {
  const CollectivePoint& last = result.points.back();
  std::string title = fmt::format("An {} of {} reaches {} bus bandwidth at {} ranks",
                                  word_of(result.collective),
                                  format_quantity(last.message, Unit::bytes),
                                  format_quantity(last.bus_bandwidth, Unit::bytes_per_second),
                                  result.ranks);
  // The size that takes as long at the largest one's rate as the smallest one takes in all.
  const Bytes half = last.algorithm_bandwidth * result.points.front().time.value;
  if (half >= Bytes(1.0)) {
    title += fmt::format("; below {} latency rules",
                         format_quantity(std::round(half.value()), Unit::bytes));
  }
  return title;
}

using Shown = std::vector<const AlgorithmResult*>;

// Kinds of rows.
constexpr const char* line_row = "line";
constexpr const char* curve_row = "curve";
constexpr const char* forced_row = "forced";
constexpr const char* choice_row = "choice";

/// Each collective whose ways were forced, at the largest rank count.
Shown with_lines(const std::vector<AlgorithmResult>& results) {
  Shown shown = of_most_ranks(results, [](const AlgorithmResult& result) {
    return !result.shared_gpu && !result.lines.empty();
  });
  std::set<Collective> known;
  std::erase_if(shown,
                [&](const auto* result) { return !known.insert(result->collective).second; });
  // The one that training waits for gives the title.
  std::stable_partition(shown.begin(), shown.end(), [](const auto* result) {
    return result->collective == Collective::all_reduce;
  });
  return shown;
}

Json row_of(const AlgorithmResult& result,
            const char* kind,
            const CollectivePoint& point,
            const Way& way) {
  return {{"kind", kind},
          {"collective", word_of(result.collective)},
          {"algorithm", way.algorithm.empty() ? "not recorded" : way.algorithm},
          {"protocol", way.protocol.empty() ? "not recorded" : way.protocol},
          {"bytes", json_value(point.message)},
          {"busbw", json_value(point.bus_bandwidth.value() * 1e-9)},
          {"time", json_value(point.time.value.value() * 1e6)},
          {"size", format_quantity(point.message, Unit::bytes)}};
}

CollectivePoint fitted(const AlgorithmResult& result, Bytes message, Seconds time) {
  CollectivePoint point;
  point.message = message;
  point.time.value = time;
  point.algorithm_bandwidth = message / time;
  point.bus_bandwidth = bus_factor(result.collective, result.ranks) * point.algorithm_bandwidth;
  return point;
}

/// Sizes between the least and the largest that was forced.
std::vector<Bytes> sizes_of(const AlgorithmResult& result) {
  constexpr double per_octave = 2.0;
  std::vector<Bytes> forced;
  for (const auto& row : nested(result.lines, &AlgorithmLine::points)) {
    const Bytes message = std::get<1>(row.levels)->message;
    if (message.value() > 0.0) forced.push_back(message);
  }
  std::vector<Bytes> sizes;
  if (forced.empty()) return sizes;
  const auto [least, most] = std::ranges::minmax(forced);
  const double steps = std::ceil(per_octave * std::log2(most / least));
  for (double i = 0.0; i <= steps; i += 1.0) {
    sizes.push_back(std::min(most, std::exp2(i / per_octave) * least));
  }
  return sizes;
}

void add_fits(const AlgorithmResult& result, std::vector<Json>& rows) {
  for (const Bytes size : sizes_of(result)) {
    for (const AlgorithmLine& line : result.lines) {
      const auto& segments = line.fit.segments;
      if (segments.empty() || size < segments.front().smallest || size > segments.back().largest) {
        continue;
      }
      const Seconds time = evaluate(line.fit, size);
      if (time.value() > 0.0) {
        rows.push_back(row_of(result, line_row, fitted(result, size, time), line));
      }
    }
    const auto least = system_time(result.lines, size);
    if (least && least->value() > 0.0) {
      rows.push_back(row_of(result, curve_row, fitted(result, size, *least), Way{}));
    }
  }
}

/// "NCCL's all reduce of 1 GiB: NVLS/Simple is the fastest of 6 ways, 472 GB/s bus bandwidth".
std::string title_of(const AlgorithmResult& result) {
  const AlgorithmRegime& last = result.regimes.back();
  const Bytes size = last.largest;
  const auto time = system_time(result.lines, size);
  std::string title = fmt::format("NCCL's {} of {} on {} ranks is fastest by {}/{}",
                                  word_of(result.collective),
                                  format_quantity(size, Unit::bytes),
                                  result.ranks,
                                  last.algorithm,
                                  last.protocol);
  if (time && time->value() > 0.0) {
    const Number rate = number(fitted(result, size, *time).bus_bandwidth);
    title += ", with " + format_quantity(rate, Unit::bytes_per_second) + " bus bandwidth";
  }
  return title;
}
}  // namespace

Chart collectives_chart(const Analysis& analysis) {
  Chart chart{"busbw", "collectives", "Bus bandwidth by message size"};
  const auto shown = of_most_ranks(
      analysis.collectives, [](const CollectiveResult& result) { return !result.points.empty(); });
  if (shown.empty())
    return chart.without("No bandwidth curves: no collective was measured in this run.");
  const auto named = std::ranges::find(
      shown, Collective::all_reduce, [](const auto* one) { return one->collective; });
  chart.title = busbw_title(named == shown.end() ? *shown.front() : **named);
  chart.how_to_read =
      fmt::format("At {} ranks. {}", shown.front()->ranks, reading_note("chart busbw"));
  chart.data = {{"kind", "busbw"}, {"points", point_rows(shown)}, {"fits", fit_rows(shown)}};
  return chart;
}

Chart nccl_chart(const Analysis& analysis) {
  Chart chart{"nccl", "collectives", "NCCL's ways by message size"};
  const Shown shown = with_lines(analysis.algorithms);
  if (shown.empty())
    return chart.without("No curves of NCCL's ways: it let none be forced, or ranks shared a GPU.");
  const AlgorithmResult& first = *shown.front();
  if (!first.regimes.empty()) chart.title = title_of(first);
  chart.how_to_read = fmt::format("On {} ranks. {}", first.ranks, reading_note("chart nccl"));
  std::vector<Json> rows;
  for (const AlgorithmResult* result : shown) {
    add_fits(*result, rows);
    for (const AlgorithmLine& line : result->lines) {
      for (const auto& point : line.points) {
        rows.push_back(row_of(*result, forced_row, point, line));
      }
    }
    for (const ChosenPoint& chosen : result->chosen) {
      rows.push_back(row_of(*result, choice_row, chosen.point, chosen));
    }
  }
  chart.data = {{"kind", "nccl"}, {"rows", std::move(rows)}};
  return chart;
}
}  // namespace scaleworth::report
