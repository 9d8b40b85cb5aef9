// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/sections/sections.h"
#include "report/summary/parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::ScalingLaw;
using model::ScalingResult;

/// The law that has a curve: the prediction from measured parts before a fit.
const ScalingLaw* shown_law(const ScalingResult& result) {
  const ScalingLaw* shown = nullptr;
  for (const ScalingLaw& law : result.laws) {
    if (!law.curve.empty() && (!shown || law.prediction)) {
      shown = &law;
    }
  }
  return shown;
}

const model::CurvePoint* point_at(const ScalingLaw& law, int ranks) {
  const auto found = std::find_if(law.curve.begin(), law.curve.end(), [ranks](const auto& point) {
    return point.ranks == ranks;
  });
  return found == law.curve.end() ? nullptr : &*found;
}

/// The largest measured count, then doublings up to the fastest.
std::vector<int> counts_of(const ScalingResult& result, const ScalingLaw& law) {
  std::vector<int> counts;
  const int end = law.fastest.value_or(law.curve.back().ranks);
  const int start = result.rows.empty() ? 1 : result.rows.back().ranks;
  for (int ranks = start; ranks <= std::max(end, start); ranks *= 2) {
    counts.push_back(ranks);
  }
  if (end > counts.back()) {
    counts.push_back(end);
  }
  return counts;
}

void add_columns(Table& table,
                 const ScalingResult& result,
                 const ScalingLaw& law,
                 const std::vector<int>& counts) {
  const bool priced = law.curve.front().cost_per_million_tokens.has_value();
  table.columns.push_back(measure("step", result.mode + " step", Unit::seconds));
  table.columns.push_back(measure("efficiency", "efficiency", Unit::percent));
  if (priced) {
    table.columns.push_back(measure("cost", "per Mtoken", Unit::dollars));
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto* point = point_at(law, counts[i]);
    auto& cells = table.rows[i].cells;
    cells.push_back(point ? Cell{number(point->step)} : Cell{});
    cells.push_back(point ? Cell{number(point->efficiency)} : Cell{});
    if (priced) {
      const bool known = point && point->cost_per_million_tokens;
      cells.push_back(
          known ? Cell{in_proportion(point->cost_per_million_tokens->value(), point->step)}
                : Cell{});
    }
  }
}

/// "K* (strong): 1 rank"; the fitted law's parameters when they are known.
std::string law_note(const ScalingResult& result) {
  std::string note;
  for (const ScalingLaw& law : result.laws) {
    if (law.serial && law.coherency) {
      note += fmt::format(" Fitted {} law: s = {}, c = {}.",
                          result.mode,
                          quantity_or_absent(law.serial, Unit::plain),
                          quantity_or_absent(law.coherency, Unit::plain));
    }
    if (law.cost_optimal && law.prediction) {
      note += fmt::format(" K* ({}): {}", result.mode, ranks_phrase(*law.cost_optimal));
      const auto& range = law.cost_optimal_range;
      note += range && range->low < range->high ? fmt::format(" [{}, {}].", range->low, range->high)
                                                : std::string(".");
    }
  }
  return note;
}

}  // namespace

Section worth_summary(const model::Analysis& analysis) {
  Section section{"worth", "", {}, {}, {}};
  Table table{"worth", "", {parameter("ranks", "Outlook")}, {}, {}};
  std::vector<int> counts;
  std::string note;
  bool extrapolated = false;
  for (const ScalingResult& result : analysis.scaling) {
    const ScalingLaw* law = shown_law(result);
    if (!law) {
      continue;
    }
    if (counts.empty()) {
      counts = counts_of(result, *law);
      note = law->prediction ? "Prediction from measured parts" : "Fitted law";
      for (const int ranks : counts) {
        const auto* point = point_at(*law, ranks);
        const bool beyond = point && point->extrapolated;
        extrapolated = extrapolated || beyond;
        table.rows.push_back({{ranks_phrase(ranks) + (beyond ? " *" : "")}, false});
      }
    }
    add_columns(table, result, *law, counts);
  }
  if (table.rows.empty()) {
    return section;
  }
  note += extrapolated ? "; * extrapolated." : ".";
  for (const ScalingResult& result : analysis.scaling) {
    note += law_note(result);
  }
  table.notes.push_back(note);
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace scaleworth::report
