// SPDX-License-Identifier: Apache-2.0
#include "report/json_values.h"
#include "report/names.h"
#include "report/run/run_report.h"
#include "report/table.h"
#include "src/model/analysis.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
/// 1/beta; absent where beta is not positive, without interval where its interval reaches zero.
Cell asymptotic_bandwidth(const model::CommunicationSegment& segment) {
  Number beta = number(segment.beta);
  if (beta.value <= 0.0) {
    return {};
  }
  if (beta.interval && beta.interval->low <= 0.0) {
    beta.interval.reset();
  }
  return transform_decreasing(beta, [](double b) { return 1.0 / b; });
}

/// A bandwidth is an amount over the time: it carries the time's interval.
Number bandwidth(BytesPerSecond rate, const Estimate<Seconds>& time) {
  const Bytes amount = rate * time.value;
  return transform_decreasing(time, [amount](Seconds t) { return (amount / t).value(); });
}

using model::CollectiveResult;
using Collectives = std::vector<CollectiveResult>;

int most_ranks(const Collectives& collectives) {
  int most = 0;
  for (const auto& result : collectives) {
    most = std::max(most, result.ranks);
  }
  return most;
}

const model::CommunicationFit* chosen_fit(const CollectiveResult& result) {
  return result.chosen < result.fits.size() && !result.fits[result.chosen].segments.empty()
             ? &result.fits[result.chosen]
             : nullptr;
}

Table fits(const Collectives& collectives) {
  Table table{"collective_fits",
              "Cost of a collective: t(n) = alpha + beta n",
              {parameter("collective", "collective"),
               parameter("mode", "mode"),
               parameter("ranks", "ranks", Unit::count),
               measure("form", "form"),
               measure("alpha", "alpha", Unit::seconds),
               measure("inverse_beta", "1/beta", Unit::bytes_per_second),
               measure("held_out_error", "held-out error", Unit::percent)},
              {},
              {"Alpha is of the smallest sizes, 1/beta of the largest (in message bytes, not bus "
               "bytes). Held-out error: mean error on sizes left out of the fit, a plain mean "
               "without interval. The form with the least held-out error is chosen."}};
  const int most = most_ranks(collectives);
  for (const auto& result : collectives) {
    const bool detail = result.ranks < most;
    const auto* fit = chosen_fit(result);
    Row row{{words(result.collective), words(result.mode), count_cell(result.ranks)}, detail};
    if (fit) {
      row.cells.insert(row.cells.end(),
                       {fit->form,
                        number(fit->segments.front().alpha),
                        asymptotic_bandwidth(fit->segments.back()),
                        cell_or_absent(fit->held_out_error)});
    } else {
      row.cells.insert(row.cells.end(), {std::string("none fitted"), Cell{}, Cell{}, Cell{}});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The two modes of one collective at one rank count.
struct Pair {
  const CollectiveResult* isolated = nullptr;
  const CollectiveResult* back_to_back = nullptr;
};

using Pairs = std::vector<std::pair<const CollectiveResult*, Pair>>;

Pairs pairs(const Collectives& collectives) {
  Pairs result;
  for (const auto& one : collectives) {
    if (one.points.empty()) {
      continue;
    }
    auto found = std::find_if(result.begin(), result.end(), [&](const auto& entry) {
      return entry.first->collective == one.collective && entry.first->ranks == one.ranks;
    });
    if (found == result.end()) {
      found = result.insert(result.end(), {&one, Pair{}});
    }
    (one.mode == "isolated" ? found->second.isolated : found->second.back_to_back) = &one;
  }
  return result;
}

/// Sizes that all collectives share are said once, below the table.
void hide_common_sizes(Table& table, const Pairs& all) {
  const auto same = [&](const auto& entry) {
    const auto& first = all.front().first->points;
    const auto& points = entry.first->points;
    return points.front().message == first.front().message &&
           points.back().message == first.back().message;
  };
  if (all.empty() || !std::all_of(all.begin(), all.end(), same)) {
    return;
  }
  const auto& points = all.front().first->points;
  for (Column& column : table.columns) {
    column.detail = column.id == "smallest_bytes" || column.id == "largest_bytes";
  }
  table.notes.push_back(fmt::format("Time of {}, bus bandwidth (busbw) of {}.",
                                    format_quantity(number(points.front().message), Unit::bytes),
                                    format_quantity(number(points.back().message), Unit::bytes)));
}

Table ends(const Collectives& collectives) {
  Table table{
      "collective_ends",
      "Isolated against back to back",
      {parameter("collective", "collective"),
       parameter("ranks", "ranks", Unit::count),
       parameter("smallest_bytes", "smallest", Unit::bytes),
       measure("latency_isolated", "time isolated", Unit::seconds),
       measure("latency_back_to_back", "back to back", Unit::seconds),
       parameter("largest_bytes", "largest", Unit::bytes),
       measure("busbw_isolated", "busbw isolated", Unit::bytes_per_second),
       measure("busbw_back_to_back", "back to back", Unit::bytes_per_second)},
      {},
      {"Isolated: one operation between barriers, the latency a program sees. Back to back: "
       "many operations in a row, divided; calls overlap across ranks. Two different "
       "numbers."}};
  const auto all = pairs(collectives);
  hide_common_sizes(table, all);
  const int most = most_ranks(collectives);
  for (const auto& [any, pair] : all) {
    const auto time = [](const CollectiveResult* result) -> Cell {
      return result ? Cell{number(result->points.front().time)} : Cell{};
    };
    const auto busbw = [](const CollectiveResult* result) -> Cell {
      return result
                 ? Cell{bandwidth(result->points.back().bus_bandwidth, result->points.back().time)}
                 : Cell{};
    };
    table.rows.push_back({{words(any->collective),
                           count_cell(any->ranks),
                           number(any->points.front().message),
                           time(pair.isolated),
                           time(pair.back_to_back),
                           number(any->points.back().message),
                           busbw(pair.isolated),
                           busbw(pair.back_to_back)},
                          any->ranks < most});
  }
  return table;
}

Table segments(const Collectives& collectives) {
  Table table{"collective_segments",
              "Every fitted form and segment",
              {parameter("collective", "collective"),
               parameter("mode", "mode"),
               parameter("ranks", "ranks", Unit::count),
               parameter("form", "form"),
               parameter("smallest_bytes", "from", Unit::bytes),
               parameter("largest_bytes", "to", Unit::bytes),
               measure("alpha", "alpha", Unit::seconds),
               measure("inverse_beta", "1/beta", Unit::bytes_per_second),
               measure("sqrt_coefficient", "s per sqrt(byte)"),
               measure("held_out_error", "held-out error", Unit::percent),
               measure("median_residual", "residual", Unit::percent)},
              {},
              {}};
  for (const auto& result : collectives) {
    for (const auto& fit : result.fits) {
      for (const auto& segment : fit.segments) {
        table.rows.push_back({{words(result.collective),
                               words(result.mode),
                               count_cell(result.ranks),
                               fit.form,
                               number(segment.smallest),
                               number(segment.largest),
                               number(segment.alpha),
                               asymptotic_bandwidth(segment),
                               number(segment.sqrt_coefficient),
                               cell_or_absent(fit.held_out_error),
                               number(fit.median_residual)},
                              true});
      }
    }
  }
  return table;
}

Table points(const Collectives& collectives) {
  Table table{"collective_points",
              "Every size",
              {parameter("collective", "collective"),
               parameter("mode", "mode"),
               parameter("ranks", "ranks", Unit::count),
               parameter("message_bytes", "message", Unit::bytes),
               measure("time", "time", Unit::seconds),
               measure("algbw", "algbw", Unit::bytes_per_second),
               measure("busbw", "busbw", Unit::bytes_per_second)},
              {},
              {}};
  table.columns[4].own_scale = true;
  for (const auto& result : collectives) {
    for (const auto& point : result.points) {
      table.rows.push_back({{words(result.collective),
                             words(result.mode),
                             count_cell(result.ranks),
                             number(point.message),
                             number(point.time),
                             bandwidth(point.algorithm_bandwidth, point.time),
                             bandwidth(point.bus_bandwidth, point.time)},
                            true});
    }
  }
  return table;
}
}  // namespace

Section collectives_section(const Collectives& collectives,
                            const std::vector<model::AlgorithmResult>& algorithms) {
  Section section{"collectives", "Collectives: what communication costs", {}, {}, {}};
  if (!collectives.empty()) {
    section.tables = {
        fits(collectives), ends(collectives), segments(collectives), points(collectives)};
  }
  for (Table& table : algorithm_tables(algorithms)) {
    section.tables.push_back(std::move(table));
  }
  return section;
}

namespace {
// NCCL's collectives: its own choice, the fastest way at each size, and whose predictions hold.

using model::AlgorithmLine;
using model::AlgorithmResult;
using Results = std::vector<AlgorithmResult>;

constexpr const char* shared_note =
    "Ranks that share a GPU: plumbing only, no figure is one of an interconnect.";

bool any_shared(const Results& results) {
  return std::any_of(
      results.begin(), results.end(), [](const auto& result) { return result.shared_gpu; });
}

/// Isolated calls out of place with plain buffers: what the others are compared with.
bool is_plain(const AlgorithmResult& result) {
  return result.mode == "isolated" && !result.in_place && !result.registered;
}

bool is_whole(const AlgorithmResult& result) {
  return result.topology == "all ranks";
}

std::string way_name(const std::string& algorithm, const std::string& protocol) {
  return algorithm.empty() ? "unavailable" : algorithm + "/" + protocol;
}

std::string call_name(const AlgorithmResult& result) {
  std::string name = words(result.mode);
  if (result.in_place) {
    name += ", in place";
  }
  if (result.registered) {
    name += ", registered";
  }
  return name;
}

/// The columns that name a result, and their cells.
std::vector<Column> naming_columns() {
  return {parameter("what", "ranks that take part"),
          parameter("collective", "collective"),
          parameter("ranks", "ranks", Unit::count)};
}
std::vector<Cell> naming_cells(const AlgorithmResult& result) {
  return {(result.shared_gpu ? "sharing a GPU: " : "") + result.topology,
          words(result.collective),
          count_cell(result.ranks)};
}

Table make_table(std::string id, std::string title, const std::vector<Column>& columns) {
  Table table{std::move(id), std::move(title), naming_columns(), {}, {}};
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  return table;
}

void add_row(Table& table,
             const AlgorithmResult& result,
             const std::vector<Cell>& cells,
             bool detail) {
  Row row{naming_cells(result), detail};
  row.cells.insert(row.cells.end(), cells.begin(), cells.end());
  table.rows.push_back(std::move(row));
}

Cell wire_cell(const model::ChosenPoint& chosen) {
  if (!chosen.wire_bandwidth) {
    return {};
  }
  return bandwidth(*chosen.wire_bandwidth, chosen.point.time);
}

Table choices(const Results& results) {
  Table table = make_table("nccl_choice",
                           "NCCL's own choice, isolated calls",
                           {measure("latency", "time of smallest", Unit::seconds),
                            measure("largest_bytes", "largest", Unit::bytes),
                            measure("busbw", "busbw of largest", Unit::bytes_per_second),
                            measure("wire_bandwidth", "through a port", Unit::bytes_per_second),
                            measure("ran", "ran")});
  table.notes = {
      "busbw counts bytes as a ring would send them; a switch that reduces (NVLS) sends "
      "fewer, so busbw can exceed the link. Through a port: the bytes that the algorithm "
      "which ran really sends, over the same time."};
  if (any_shared(results)) {
    table.notes.push_back(shared_note);
  }
  for (const AlgorithmResult& result : results) {
    if (!is_plain(result) || result.chosen.empty()) {
      continue;
    }
    const model::ChosenPoint& last = result.chosen.back();
    const bool link = !result.shared_gpu;
    add_row(table,
            result,
            {number(result.chosen.front().point.time),
             number(last.point.message),
             link ? Cell{bandwidth(last.point.bus_bandwidth, last.point.time)} : Cell{},
             link ? wire_cell(last) : Cell{},
             way_name(last.algorithm, last.protocol)},
            false);
  }
  return table;
}

const AlgorithmLine* line_of(const AlgorithmResult& result, const model::AlgorithmRegime& regime) {
  const auto found =
      std::find_if(result.lines.begin(), result.lines.end(), [&](const AlgorithmLine& line) {
        return line.algorithm == regime.algorithm && line.protocol == regime.protocol;
      });
  return found != result.lines.end() && !found->fit.segments.empty() ? &*found : nullptr;
}

Table regimes(const Results& results) {
  Table table = make_table("nccl_regimes",
                           "The fastest way by size: minimum over the measured lines",
                           {parameter("smallest_bytes", "from", Unit::bytes),
                            parameter("largest_bytes", "to", Unit::bytes),
                            parameter("form", "way"),
                            measure("alpha", "alpha", Unit::seconds),
                            measure("inverse_beta", "1/beta", Unit::bytes_per_second)});
  table.columns[3].own_scale = true;
  table.columns[4].own_scale = true;
  table.notes = {
      "Each way was forced and fitted by t(n) = alpha + beta n; a boundary is where two "
      "lines cross."};
  for (const AlgorithmResult& result : results) {
    for (const model::AlgorithmRegime& regime : result.regimes) {
      const AlgorithmLine* line = line_of(result, regime);
      if (line == nullptr) {
        continue;
      }
      const model::CommunicationSegment& segment = line->fit.segments.front();
      add_row(table,
              result,
              {number(regime.smallest),
               number(regime.largest),
               way_name(regime.algorithm, regime.protocol),
               number(segment.alpha),
               asymptotic_bandwidth(segment)},
              !is_whole(result));
    }
  }
  return table;
}

Table predictions(const Results& results) {
  Table table = make_table("nccl_predictions",
                           "Whose prediction holds",
                           {measure("held_out_error", "system curve's error", Unit::percent),
                            measure("library_error", "NCCL's own error", Unit::percent)});
  table.notes = {
      "Mean |predicted / measured - 1| of NCCL's own choice at sizes at which no way was "
      "forced: plain means without interval. NCCL's prediction is the one by which it "
      "chooses, recorded by a tuner plugin."};
  for (const AlgorithmResult& result : results) {
    if (!result.held_out_error && !result.library_error) {
      continue;
    }
    add_row(table,
            result,
            {cell_or_absent(result.held_out_error), cell_or_absent(result.library_error)},
            !is_whole(result));
  }
  return table;
}

Table lines(const Results& results) {
  Table table = make_table("nccl_lines",
                           "Every forced way",
                           {parameter("form", "way"),
                            measure("alpha", "alpha", Unit::seconds),
                            measure("inverse_beta", "1/beta", Unit::bytes_per_second),
                            measure("held_out_error", "held-out error", Unit::percent),
                            measure("median_residual", "residual", Unit::percent),
                            measure("library_error", "NCCL's own error", Unit::percent)});
  for (const AlgorithmResult& result : results) {
    for (const AlgorithmLine& line : result.lines) {
      if (line.fit.segments.empty()) {
        continue;
      }
      const model::CommunicationSegment& segment = line.fit.segments.front();
      add_row(table,
              result,
              {way_name(line.algorithm, line.protocol),
               number(segment.alpha),
               asymptotic_bandwidth(segment),
               cell_or_absent(line.fit.held_out_error),
               number(line.fit.median_residual),
               cell_or_absent(line.library_error)},
              true);
    }
  }
  return table;
}

Table points(const Results& results) {
  Table table = make_table("nccl_points",
                           "Every size of NCCL's own choice",
                           {parameter("mode", "call"),
                            parameter("message_bytes", "message", Unit::bytes),
                            measure("time", "time", Unit::seconds),
                            measure("algbw", "algbw", Unit::bytes_per_second),
                            measure("busbw", "busbw", Unit::bytes_per_second),
                            measure("wire_bandwidth", "through a port", Unit::bytes_per_second),
                            measure("ran", "ran"),
                            measure("library_prediction", "NCCL predicted", Unit::seconds)});
  for (const std::size_t column : {4U, 5U, 10U}) {
    table.columns[column].own_scale = true;
  }
  for (const AlgorithmResult& result : results) {
    for (const model::ChosenPoint& chosen : result.chosen) {
      const model::CollectivePoint& point = chosen.point;
      const bool link = !result.shared_gpu;
      add_row(table,
              result,
              {call_name(result),
               number(point.message),
               number(point.time),
               bandwidth(point.algorithm_bandwidth, point.time),
               link ? Cell{bandwidth(point.bus_bandwidth, point.time)} : Cell{},
               link ? wire_cell(chosen) : Cell{},
               way_name(chosen.algorithm, chosen.protocol),
               cell_or_absent(chosen.library_prediction)},
              true);
    }
  }
  return table;
}
}  // namespace

std::vector<Table> algorithm_tables(const Results& results) {
  std::vector<Table> tables;
  if (results.empty()) {
    return tables;
  }
  for (Table (*make)(const Results&) : {&choices, &regimes, &predictions, &lines, &points}) {
    Table table = make(results);
    if (!table.rows.empty()) {
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

namespace {
Json way(const std::string& algorithm, const std::string& protocol) {
  return {{"algorithm", json_note(algorithm)}, {"protocol", json_note(protocol)}};
}

Json chosen(const model::ChosenPoint& value) {
  return {{"message_bytes", json_value(value.point.message)},
          {"time_s", json_value(value.point.time)},
          {"algbw_bytes_per_s", json_value(value.point.algorithm_bandwidth)},
          {"busbw_bytes_per_s", json_value(value.point.bus_bandwidth)},
          {"wire_bytes_per_s", json_value(value.wire_bandwidth)},
          {"ran", way(value.algorithm, value.protocol)},
          {"library_prediction_s", json_value(value.library_prediction)},
          {"fastest_line_s", json_value(value.fastest_line)}};
}

Json line(const model::AlgorithmLine& value) {
  Json json = way(value.algorithm, value.protocol);
  const bool fitted = !value.fit.segments.empty();
  json["alpha_s"] = fitted ? json_value(value.fit.segments.front().alpha) : Json(nullptr);
  json["beta_s_per_byte"] = fitted ? json_value(value.fit.segments.front().beta) : Json(nullptr);
  json["held_out_error"] = json_value(value.fit.held_out_error);
  json["library_error"] = json_value(value.library_error);
  json["points"] = json_array(value.points, [](const model::CollectivePoint& point) {
    return Json{{"message_bytes", json_value(point.message)}, {"time_s", json_value(point.time)}};
  });
  return json;
}

Json regime(const model::AlgorithmRegime& value) {
  Json json = way(value.algorithm, value.protocol);
  json["smallest_bytes"] = json_value(value.smallest);
  json["largest_bytes"] = json_value(value.largest);
  return json;
}
}  // namespace

Json json_algorithms(const model::AlgorithmResult& result) {
  return {{"topology", result.topology},
          {"collective", result.collective},
          {"mode", result.mode},
          {"ranks", result.ranks},
          {"in_place", result.in_place},
          {"registered", result.registered},
          {"shared_gpu", result.shared_gpu},
          {"held_out_error", json_value(result.held_out_error)},
          {"library_error", json_value(result.library_error)},
          {"regimes", json_array(result.regimes, regime)},
          {"lines", json_array(result.lines, line)},
          {"chosen", json_array(result.chosen, chosen)}};
}

namespace {
Json point(const model::CollectivePoint& value) {
  return {{"message_bytes", json_value(value.message)},
          {"time_s", json_value(value.time)},
          {"algbw_bytes_per_s", json_value(value.algorithm_bandwidth)},
          {"busbw_bytes_per_s", json_value(value.bus_bandwidth)}};
}

Json segment(const model::CommunicationSegment& value) {
  return {{"smallest_bytes", json_value(value.smallest)},
          {"largest_bytes", json_value(value.largest)},
          {"alpha_s", json_value(value.alpha)},
          {"beta_s_per_byte", json_value(value.beta)},
          {"sqrt_coefficient_s_per_sqrt_byte", json_value(value.sqrt_coefficient)}};
}

Json fit(const model::CommunicationFit& value) {
  return {{"form", value.form},
          {"segments", json_array(value.segments, segment)},
          {"held_out_error", json_value(value.held_out_error)},
          {"median_residual", json_value(value.median_residual)}};
}
}  // namespace

Json json_collective(const model::CollectiveResult& collective) {
  const bool any = collective.chosen < collective.fits.size();
  return {{"collective", collective.collective},
          {"mode", collective.mode},
          {"ranks", collective.ranks},
          {"chosen_form", any ? Json(collective.fits[collective.chosen].form) : Json(nullptr)},
          {"fits", json_array(collective.fits, fit)},
          {"points", json_array(collective.points, point)}};
}
}  // namespace scaleworth::report
