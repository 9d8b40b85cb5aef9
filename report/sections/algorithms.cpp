// SPDX-License-Identifier: Apache-2.0
/// NCCL's collectives: its own choice, the fastest way at each size, and whose predictions hold.
#include "report/names.h"
#include "report/sections/communication_cells.h"
#include "report/sections/sections.h"

#include <algorithm>
#include <utility>

namespace scaleworth::report {
namespace {

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
  return algorithm.empty() ? "not told" : algorithm + "/" + protocol;
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

}  // namespace scaleworth::report
