// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
/// "0.0539 [0.05, 0.06]" of a law's parameter.
void add_parameter(Table& table, const std::string& law, const std::string& name, Cell value) {
  table.rows.push_back({{law, name, std::move(value)}});
}

void add_contention(Table& table, const DecideView& view) {
  const std::string name = "contention-coherency";
  const auto& decision = view.decision;
  if (!decision.fit || !decision.law) return;
  const auto& law = *decision.law;
  add_parameter(
      table, name, "T1 (s)", law.single ? number(*law.single) : number(decision.fit->single));
  add_parameter(table, name, "s", law.serial ? number(*law.serial) : number(decision.fit->serial));
  add_parameter(
      table, name, "c", law.coherency ? number(*law.coherency) : number(decision.fit->coherency));
  add_parameter(table, name, "residual", number(decision.fit->residual));
  if (law.correlation)
    add_parameter(table, name, "correlation of s and c", number(*law.correlation));
  if (law.fastest) add_parameter(table, name, "fastest count", number(*law.fastest));
  if (law.cost_optimal) add_parameter(table, name, "cost-optimal count", number(*law.cost_optimal));
  if (law.cost_optimal_range) {
    add_parameter(table, name, "cost-optimal, least", number(law.cost_optimal_range->low));
    add_parameter(table, name, "cost-optimal, most", number(law.cost_optimal_range->high));
  }
}

constexpr std::size_t most_listed = 32;

/// "9.25 [8.1, 11.4]", "9.25 [1, no end]".
Cell count_estimate(const model::CountEstimate& at) {
  const double low = at.low.value_or(1.0);
  if (!at.high) return fmt::format("{:.1f} [{:.1f}, no end]", at.count, low);
  return number(Estimate<double>{at.count, Interval<double>{low, *at.high}, 0});
}

void add_counts(Table& table, const DecideView& view) {
  const std::string name = "contention-coherency";
  const decide::LawEvidence& evidence = view.decision.evidence;
  if (!view.decision.law || view.decision.law->curve.empty()) return;
  if (evidence.least_time)
    add_parameter(table, name, "count of least time", count_estimate(*evidence.least_time));
  if (evidence.least_cost)
    add_parameter(table, name, "count of least cost", count_estimate(*evidence.least_cost));
}

/// The widths are linearised and mean little where the interval is wide; their ratio still ranks.
std::string next_note(const model::NextMeasurement& next) {
  std::string text = fmt::format("Measure {} next: ", next.count);
  if (!next.width_before) return text + "it separates the parameters best (D-optimal).";
  return text + fmt::format(
                    "for {} it narrows the interval of the count of least cost by {:.0f} "
                    "%, the most per USD.",
                    decision_money(*next.cost),
                    100.0 * (1.0 - *next.width_after / *next.width_before));
}

void add_throughput(Table& table, const DecideView& view) {
  const std::string name = "the same, of throughput";
  const auto& fit = view.decision.evidence.throughput;
  if (!fit) return;
  const auto cell = [&](const model::ThroughputParameter& one) {
    return number(Estimate<double>{one.value, one.interval, fit->residuals.size()});
  };
  add_parameter(table, name, "throughput at 1 (per s)", cell(fit->single));
  add_parameter(table, name, "s", cell(fit->contention));
  add_parameter(table, name, "c", cell(fit->coherency));
  add_parameter(table, name, "residual (per s)", number(fit->residual_sd));
  if (fit->peak_load) add_parameter(table, name, "count of the peak", number(*fit->peak_load));
  table.notes.push_back(fmt::format(
      "Of throughput: least squares with additive noise, Student t intervals on {} degrees of "
      "freedom; the largest counts weigh most. Others fit it so; the relative fit decides.",
      fit->degrees));
}

void add_gustafson(Table& table, const DecideView& view) {
  const auto& fit = view.decision.further.gustafson;
  if (!fit) return;
  const std::string name = "Gustafson";
  add_parameter(table, name, "s of the parallel run", number(fit->serial));
  add_parameter(table,
                name,
                fmt::format("s of {:g}'s problem at one rank", fit->largest_count),
                number(fit->amdahl_serial));
  add_parameter(table, name, "residual", number(fit->residual));
}

void add_micro_batches(Table& table, const DecideView& view) {
  const auto& fit = view.decision.further.micro_batches;
  if (!fit) return;
  const std::string name = "micro-batches, a m + b";
  add_parameter(table, name, "a (s)", number(fit->per_micro_batch));
  add_parameter(table, name, "b (s)", number(fit->fixed));
  add_parameter(table, name, "b / a (micro-batches)", cell_or_absent(fit->lost_micro_batches));
  add_parameter(table, name, "residual", number(fit->residual));
  if (fit->per_micro_batch.interval) return;
  table.notes.push_back("Micro-batches: two runs are met exactly; a third would give intervals.");
}

void add_informed(Table& table, const DecideView& view) {
  const auto& fit = view.decision.further.informed;
  if (!fit) return;
  const std::string name = "Amdahl and measured communication";
  add_parameter(table, name, "T1 (s)", number(fit->single));
  add_parameter(table, name, "s", number(fit->serial));
  add_parameter(table, name, "residual", number(fit->residual));
}
}  // namespace

Table laws_table(const DecideView& view) {
  Table table{"law",
              "Laws fitted to the rows",
              {{"law", "law", Role::parameter, Unit::plain},
               {"parameter", "parameter", Role::parameter, Unit::plain},
               decision_column("value", "value", Unit::plain, {})}};
  table.columns.back().digits = 4;
  add_contention(table, view);
  add_counts(table, view);
  add_throughput(table, view);
  add_gustafson(table, view);
  add_micro_batches(table, view);
  add_informed(table, view);
  if (const auto& amdahl = view.decision.amdahl) {
    const std::string name = "Amdahl, plain least squares";
    add_parameter(table, name, "s", number(amdahl->serial));
    add_parameter(table, name, "ceiling", cell_or_absent(amdahl->ceiling));
    add_parameter(
        table, name, "speed-up at the largest count", number(amdahl->predicted_at_largest));
  }
  const auto& law = view.decision.law;
  if (law && !law->basis.empty()) table.notes.push_back(law->basis + ".");
  if (law && !law->not_identifiable.empty()) {
    table.notes.push_back("Not identifiable: " + law->not_identifiable + ".");
  }
  if (view.decision.evidence.next && law && law->not_identifiable.empty()) {
    table.notes.push_back(next_note(*view.decision.evidence.next));
  }
  if (!table.rows.empty()) {
    table.notes.push_back(
        "The plain fit weighs every row alike and pins the baseline; it is the one that textbooks "
        "print.");
  }
  return table;
}

Table law_rows_table(const DecideView& view) {
  Table table{"law_row",
              "The contention-coherency law row by row",
              {{"count", "count", Role::parameter, Unit::count},
               decision_column("measured_s", "measured", Unit::seconds, {}),
               decision_column("fitted_s", "fitted", Unit::seconds, {}),
               decision_column("residual", "off by", Unit::percent, 2),
               decision_column("left_out_error", "off by when left out", Unit::percent, 2)}};
  table.columns[1].digits = 4;
  table.columns[2].digits = 4;
  for (const decide::LawRow& row : view.decision.evidence.rows) {
    table.rows.push_back({{number(row.count),
                           number(row.measured),
                           number(row.fitted),
                           number(row.residual),
                           cell_or_absent(row.left_out)},
                          table.rows.size() >= most_listed});
  }
  return table;
}

Table model_selection_table(const DecideView& view) {
  Table table{"model_selection",
              "Laws held against counts that they were not fitted to",
              {{"law", "law", Role::parameter, Unit::plain},
               decision_column("held_out_error", "mean error one count ahead", Unit::percent, 1),
               decision_column("worst_error", "worst", Unit::percent, 1),
               decision_column("residual", "residual of the fit", Unit::percent, 1)}};
  if (!view.decision.select_model) return table;
  for (const model::CandidateLaw& law : view.decision.select_model->laws) {
    table.rows.push_back(
        {{law.name, number(law.held_out), number(law.worst), number(law.residual)}});
  }
  table.notes = {fmt::format(
      "Each count from the fourth on is predicted from the smaller ones ({} in all). The first law "
      "is chosen: {}. A law of more than two terms needs more counts than twice its terms, unless "
      "all others miss a count by far. The worst, from the fifth count on, is by how much the "
      "longer "
      "of measured and predicted time exceeds the other.",
      view.decision.select_model->forecasts,
      view.decision.select_model->by_forecast
          ? "it predicts clearly better than the usual one, whatever fits best"
          : "the usual one; no law that the counts determine forecasts clearly better")};
  return table;
}

namespace {
Column count_column() {
  return {"count", "count", Role::parameter, Unit::count};
}
}  // namespace

Table forecast_table(const DecideView& view) {
  Table table{"forecast",
              "What the law that predicts best says of larger counts",
              {count_column(),
               decision_column("time_s", "time", Unit::seconds, {}),
               decision_column("speedup", "speed-up", Unit::plain, 2),
               decision_column("efficiency", "efficiency", Unit::percent, 1),
               decision_column("trust", "to be trusted", Unit::plain, {})}};
  table.columns[1].digits = 4;
  const auto& law_forecast = view.decision.law_forecast;
  if (!law_forecast) return table;
  for (const decide::ForecastPoint& point : law_forecast->points) {
    table.rows.push_back({{number(point.count),
                           number(point.time),
                           number(point.speedup),
                           number(point.efficiency),
                           point.far ? std::string("no: beyond 4 times the largest measured")
                                     : std::string("as far as the law")}});
  }
  table.notes = {fmt::format(
      "{}, T(K) = {}: {}{}.",
      law_forecast->law,
      law_forecast->formula,
      law_forecast->basis,
      law_forecast->held_out ? fmt::format("; one count ahead it missed by {:.1f} % in the mean",
                                           100.0 * *law_forecast->held_out)
                             : "; nothing is left to say how far it is off")};
  return table;
}

Table ring_table(const DecideView& view) {
  Table table{"ring",
              "What the measured latency and bandwidth ask for",
              {count_column(),
               decision_column("latency_s", "latency", Unit::seconds, {}),
               decision_column("bandwidth_s", "bandwidth", Unit::seconds, {}),
               decision_column("share_of_time", "of the time", Unit::percent, 1)}};
  for (const decide::RingRow& row : view.decision.further.ring) {
    table.rows.push_back({{number(row.count),
                           number(row.communication.latency),
                           number(row.communication.bandwidth),
                           number(row.share)},
                          table.rows.size() >= most_listed});
  }
  table.notes = {"A ring all-reduce, nothing of it hidden: 2 (K-1) latencies, 2 (K-1)/K messages."};
  return table;
}

Table bounds_table(const DecideView& view) {
  Table table{"bounds",
              "What work and depth allow",
              {count_column(),
               decision_column("measured_s", "measured", Unit::seconds, {}),
               decision_column("least_s", "at least", Unit::seconds, {}),
               decision_column("most_s", "at most", Unit::seconds, {}),
               decision_column("above", "above that", Unit::percent, 1)}};
  for (const decide::BoundRow& row : view.decision.further.bounds) {
    table.rows.push_back({{number(row.count),
                           number(row.measured),
                           number(row.bounds.low),
                           number(row.bounds.high),
                           number(row.above)},
                          table.rows.size() >= most_listed});
  }
  table.notes = {
      "Any greedy schedule takes max(W/p, D) to W/p + D; what is above that is overhead, which no "
      "dependency of the work explains."};
  return table;
}
}  // namespace scaleworth::report
