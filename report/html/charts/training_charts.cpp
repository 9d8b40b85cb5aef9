// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/charts.h"
#include "report/html/charts/grammar.h"
#include "report/html/charts/stacked_bars.h"
#include "report/names.h"
#include "report/quantity.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::ScalingResult;
using model::ScalingRow;

/// Counts with more ranks are drawn as one bar, the mean.
constexpr int most_single_bars = 8;

struct PartColour {
  const char* part;
  const char* variable;
};
constexpr std::array part_colours{PartColour{"compute", "series-1"},
                                  PartColour{"optimizer", "series-6"},
                                  PartColour{"host", "series-5"},
                                  PartColour{"progress", "series-4"},
                                  PartColour{"exposed transfer", "series-2"},
                                  PartColour{"exposed wait", "series-3"},
                                  PartColour{"unattributed", "series-7"}};

void add_bar(std::vector<Json>& rows,
             const std::string& bar,
             const std::vector<model::StepShare>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    rows.push_back(
        stacked_row(bar, words(parts[i].part), i, as_milliseconds(parts[i].time), parts[i].share));
  }
}

std::vector<Json> bar_rows(const std::vector<ScalingResult>& scaling) {
  std::vector<Json> rows;
  for (const ScalingResult& result : scaling) {
    for (const ScalingRow& row : result.rows) {
      const std::string setting = result.mode + ", " + ranks_phrase(row.ranks);
      if (row.per_rank.empty() || row.ranks > most_single_bars) {
        add_bar(rows, row.ranks == 1 ? setting : setting + ", mean", row.shares);
        continue;
      }
      for (const auto& rank : row.per_rank) {
        const bool alone = row.per_rank.size() == 1;
        add_bar(rows, alone ? setting : fmt::format("{}, rank {}", setting, rank.rank), rank.parts);
      }
    }
  }
  return rows;
}

/// Distinct values of a text field in order of appearance.
std::vector<std::string> distinct(const std::vector<Json>& rows, const char* field) {
  std::vector<std::string> values;
  for (const Json& row : rows) {
    const auto value = row.at(field).get<std::string>();
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      values.push_back(value);
    }
  }
  return values;
}

std::vector<std::string> colours_of(const std::vector<std::string>& parts) {
  std::vector<std::string> colours;
  for (const std::string& part : parts) {
    const auto* known = std::find_if(part_colours.begin(),
                                     part_colours.end(),
                                     [&](const PartColour& one) { return part == one.part; });
    colours.push_back(known == part_colours.end() ? css("muted") : css(known->variable));
  }
  return colours;
}

Json steps_spec(std::vector<Json> rows) {
  StackedBars bars;
  bars.bars = distinct(rows, "bar");
  bars.parts = distinct(rows, "part");
  bars.colours = colours_of(bars.parts);
  bars.rows = std::move(rows);
  bars.length = "time of one step (ms)";
  bars.bar = "setting";
  return stacked_bars(std::move(bars));
}

/// What the step at the largest count is made of, in one sentence.
std::string steps_title(const ScalingRow& row) {
  const model::StepShare* compute = nullptr;
  const model::StepShare* largest_other = nullptr;
  for (const auto& share : row.shares) {
    if (share.part == "compute") {
      compute = &share;
    } else if (!largest_other || share.share > largest_other->share) {
      largest_other = &share;
    }
  }
  if (!compute || !largest_other) {
    return "Where each rank's step goes";
  }
  return fmt::format("At {} {} of the step is compute; {} takes {}",
                     ranks_phrase(row.ranks),
                     format_quantity(number(compute->share), Unit::percent),
                     words(largest_other->part),
                     format_quantity(number(largest_other->share), Unit::percent));
}

}  // namespace

Chart steps_chart(const model::Analysis& analysis) {
  Chart chart{"steps", "training", "Where each rank's step goes", "", nullptr, ""};
  auto rows = bar_rows(analysis.scaling);
  if (rows.empty()) {
    chart.missing = "No step bars: no training step was attributed in this run.";
    return chart;
  }
  for (const ScalingResult& result : analysis.scaling) {
    if (result.mode == "strong" && !result.rows.empty()) {
      chart.title = steps_title(result.rows.back());
    }
  }
  chart.how_to_read =
      "One bar per rank; its length is the step, its colours are the parts of the ledger. Strong "
      "scaling: bars should halve when ranks double; weak: they should stay as long. Exposed "
      "transfer and wait are what communication adds; unequal bars of one count show a straggler.";
  chart.spec = steps_spec(std::move(rows));
  return chart;
}

}  // namespace scaleworth::report
