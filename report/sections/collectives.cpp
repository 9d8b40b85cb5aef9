// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/sections/communication_cells.h"
#include "report/sections/sections.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

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

}  // namespace scaleworth::report
