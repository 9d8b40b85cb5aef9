// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_view.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr double seconds_per_day = 86400.0;

Column measure(const std::string& id, const std::string& header, Unit unit, int decimals) {
  Column column{id, header, Role::measure, unit};
  column.decimals = decimals;
  return column;
}

Column significant(const std::string& id, const std::string& header, Unit unit, int digits) {
  Column column{id, header, Role::measure, unit};
  column.digits = digits;
  return column;
}

Column parameter(const std::string& id, const std::string& header) {
  return {id, header, Role::parameter, Unit::plain};
}

}  // namespace

Table peaks_table(const MfuView& view) {
  Table table{"utilisation",
              "Each GPU against its peak",
              {parameter("peak", "peak"),
               measure("peak_rate", "rate", Unit::flop_per_second, 1),
               measure("mfu", "MFU", Unit::percent, 2),
               measure("hfu", "HFU", Unit::percent, 2)}};
  for (const model::Utilisation& one : view.use.against) {
    table.rows.push_back(
        {{one.peak.basis, number(one.peak.rate), number(one.mfu), number(one.hfu)}});
  }
  table.notes.push_back(
      fmt::format("MFU: model FLOPs by the convention {}, over peak and time. HFU: with what is "
                  "computed again ({}).",
                  model::words_of(view.run.convention).name,
                  model::recomputation_name(view.use.recomputation)));
  return table;
}

Table conventions_table(const MfuView& view) {
  Table table{"conventions",
              "The same run by each convention",
              {parameter("convention", "convention"),
               {"counts", "FLOPs of a trained token"},
               {"attention", "attention"},
               significant("flop_per_token", "per token", Unit::flop, 4),
               measure("ratio", "of chosen", Unit::plain, 3),
               measure("convention_mfu", "reads", Unit::percent, 2)}};
  for (const model::ConventionRow& row : view.use.conventions) {
    const model::ConventionWords& words = model::words_of(row.convention);
    table.rows.push_back({{std::string(words.name),
                           std::string(words.counts),
                           std::string(words.attention),
                           number(row.quoted),
                           number(row.ratio),
                           number(row.utilisation)}});
  }
  table.notes.push_back(fmt::format(
      "Chosen: {} (--convention). N: all parameters, of experts those that a token takes; 6nd: the "
      "published number. L layers, h hidden, s sequence, H heads of Q, V vocabulary. narayanan "
      "counts "
      "full recomputation, so that it reads an HFU.",
      model::words_of(view.run.convention).name));
  return table;
}

Table flop_parts_table(const MfuView& view) {
  const model::ForwardFlops& forward = view.use.forward;
  const double model = view.use.model_flops.value();
  Table table{"flops",
              "FLOPs of a trained token, part by part",
              {parameter("part", "part"),
               significant("flop", "per token", Unit::flop, 4),
               measure("of_model", "of the model FLOPs", Unit::percent, 2)}};
  const auto add = [&](const char* part, double flops) {
    table.rows.push_back({{std::string(part), number(flops), number(flops / model)}});
  };
  add("products of the layers, forward", forward.layers);
  add("attention, forward", forward.attention);
  add("head, forward", forward.head);
  add("backward, twice the forward", 2.0 * forward.total());
  add("computed again", view.use.hardware_flops.value() - model);
  return table;
}

Table training_cost_table(const MfuView& view) {
  Table table{"training",
              "What training takes at this rate",
              {parameter("tokens", "tokens"),
               significant("days", "days", Unit::plain, 4),
               significant("gpu_hours", "GPU-hours", Unit::plain, 6),
               significant("cost_usd", "cost", Unit::dollars, 6)}};
  const auto add = [&](double tokens, Seconds time, double gpu_hours, std::optional<Dollars> cost) {
    table.rows.push_back({{large_count(tokens),
                           number(time.value() / seconds_per_day),
                           number(gpu_hours),
                           cell_or_absent(cost)}});
  };
  const double million = 1e6;
  add(million,
      Seconds(million / view.run.tokens_per_second),
      view.use.gpu_hours_per_million_tokens,
      view.use.per_million_tokens);
  if (const auto& all = view.use.campaign) add(all->tokens, all->time, all->gpu_hours, all->cost);
  if (view.run.price) {
    table.notes.push_back(
        fmt::format("At {:g} USD per GPU and hour, without restarts or idle time.",
                    view.run.price->value() * 3600.0));
  } else {
    table.columns.pop_back();
    for (Row& row : table.rows) row.cells.pop_back();
  }
  return table;
}

}  // namespace scaleworth::report
