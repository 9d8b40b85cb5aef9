// SPDX-License-Identifier: Apache-2.0
#include "report/document_parts.h"
#include "report/names.h"
#include "report/sections/sections.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using Scaling = std::vector<model::ScalingResult>;

Table laws(const Scaling& scaling) {
  Table table{"scaling_laws",
              "Laws and predictions",
              {parameter("mode", "scaling"),
               parameter("law", "law"),
               measure("kind", "kind"),
               measure("serial", "s"),
               measure("coherency", "c"),
               measure("residual", "misses counts by", Unit::percent),
               measure("fastest_ranks", "fastest at", Unit::count),
               measure("cost_optimal_ranks", "K*", Unit::count)},
              {},
              {}};
  for (const auto& result : scaling) {
    for (const auto& law : result.laws) {
      Cell optimum;
      if (law.cost_optimal) {
        Number ranks = number(static_cast<double>(*law.cost_optimal));
        if (const auto& range = law.cost_optimal_range) {
          ranks.interval =
              Interval<double>{static_cast<double>(range->low), static_cast<double>(range->high)};
        }
        optimum = ranks;
      }
      table.rows.push_back({{result.mode,
                             law.name,
                             std::string(law.prediction ? "prediction" : "fit"),
                             cell_or_absent(law.serial),
                             cell_or_absent(law.coherency),
                             law.curve.empty() ? Cell{} : Cell{number(law.residual)},
                             law.fastest ? count_cell(*law.fastest) : Cell{},
                             optimum}});
      if (!law.basis.empty()) {
        table.notes.push_back(fmt::format("{}, {}: {}", result.mode, law.name, law.basis));
      }
      if (!law.not_identifiable.empty()) {
        table.notes.push_back(fmt::format(
            "{}, {}: s and c are absent, {}", result.mode, law.name, law.not_identifiable));
      }
    }
  }
  table.notes.push_back(
      "K* is the count with the least cost per token. Misses counts by: root mean square over the "
      "measured counts, without interval.");
  return table;
}

Cell cost_cell(const std::optional<Dollars>& cost, const Estimate<Seconds>& step) {
  return cost ? Cell{in_proportion(cost->value(), step)} : Cell{};
}

/// The short formats show powers of two, the optima and every measured count.
bool is_landmark(const model::ScalingResult& result, const model::ScalingLaw& law, int ranks) {
  return std::has_single_bit(static_cast<unsigned>(ranks)) || law.fastest == ranks ||
         law.cost_optimal == ranks ||
         std::any_of(result.rows.begin(), result.rows.end(), [ranks](const auto& row) {
           return row.ranks == ranks;
         });
}

Table curve(const Scaling& scaling) {
  Table table{"scaling_curve",
              "Curve by rank count",
              {parameter("mode", "scaling"),
               parameter("law", "law"),
               parameter("ranks", "ranks", Unit::count),
               measure("step_time", "step", Unit::seconds),
               measure("efficiency", "efficiency", Unit::percent),
               measure("cost_per_million_tokens", "cost per million tokens", Unit::dollars),
               measure("basis", "range")},
              {},
              {"Extrapolated: beyond the largest measured count."}};
  for (const auto& result : scaling) {
    for (const auto& law : result.laws) {
      for (const auto& point : law.curve) {
        table.rows.push_back({{result.mode,
                               law.name,
                               count_cell(point.ranks),
                               number(point.step),
                               number(point.efficiency),
                               cost_cell(point.cost_per_million_tokens, point.step),
                               std::string(point.extrapolated ? "extrapolated" : "measured")},
                              !is_landmark(result, law, point.ranks)});
      }
    }
  }
  return table;
}

Table causes(const Scaling& scaling) {
  Table table{"loss_causes",
              "What the gap from ideal is made of, at the largest count",
              {parameter("mode", "scaling"),
               parameter("part", "part"),
               measure("share_of_loss", "share of the loss", Unit::percent)},
              {},
              {"A cause is named only when one part explains at least 80 % of the loss. Shares of "
               "medians, without interval."}};
  for (const auto& result : scaling) {
    if (!result.cause) {
      continue;
    }
    for (const auto& [part, share] : result.cause->mixture) {
      table.rows.push_back({{result.mode, words(part), number(share)}});
    }
  }
  return table;
}

Table costs(const Scaling& scaling, const model::AnalysisOptions& assumptions) {
  Table table{
      "costs",
      "Cost of the measured counts",
      {parameter("mode", "scaling"),
       parameter("ranks", "ranks", Unit::count),
       measure("cost_per_million_tokens", "per million tokens", Unit::dollars),
       measure("cost_per_run", "per run", Unit::dollars),
       measure("cheapest", "within 1 % of the cheapest")},
      {},
      {fmt::format(
          "At {:g} USD per rank-hour and {:g} USD per hour fixed, both given by the user; a "
          "run is {:g} million tokens. The interval is the step's.",
          assumptions.price_per_rank->value() * 3600.0,
          assumptions.fixed_price.value() * 3600.0,
          assumptions.tokens_per_run / 1e6)}};
  for (const auto& result : scaling) {
    for (const auto& row : result.rows) {
      table.rows.push_back({{result.mode,
                             count_cell(row.ranks),
                             cost_cell(row.cost_per_million_tokens, row.step),
                             cost_cell(row.cost_per_run, row.step),
                             std::string(row.cost_plateau ? "yes" : "no")}});
    }
  }
  return table;
}

}  // namespace

Section decide_section(const Scaling& scaling, const model::AnalysisOptions& assumptions) {
  Section section{"decide", "Decide: how far scaling pays", {}, {}, {}};
  if (scaling.empty()) {
    return section;
  }
  section.tables = {laws(scaling), curve(scaling), causes(scaling)};
  if (assumptions.price_per_rank) {
    section.tables.push_back(costs(scaling, assumptions));
  } else {
    section.lead = {"No price was given, so no cost is shown: add --price USD_PER_RANK_HOUR."};
    auto& columns = section.tables[1].columns;
    columns[5].detail = true;
  }
  drop_empty_tables(section);
  return section;
}

}  // namespace scaleworth::report
