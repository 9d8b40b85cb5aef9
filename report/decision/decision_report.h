// SPDX-License-Identifier: Apache-2.0
/// `Decision` -> `Document`, of a table or of a run alike.
#pragma once

#include "report/charts/charts.h"
#include "report/document.h"
#include "report/json_values.h"
#include "report/render_options.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/sensitivity.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::report {
// A decision on a count, told in one of the report's formats.

/// Version of the JSON format's layout.
inline constexpr int decision_schema_version = 2;

/// The report. Text and Markdown are a summary unless details are asked for; CSV, HTML and JSON
/// hold everything.
std::string render_decision(const decide::Decision& decision, const RenderOptions& options);

// What the parts of a decision's report are made from.

struct DecideView {
  const decide::Decision& decision;
  const RenderOptions& options;
};

Document compose_decision(const DecideView& view);
Verdict judge_decision(const DecideView& view);
/// Numbers in base units, null for what is absent.
std::string decision_json(const DecideView& view);
std::vector<Chart> decision_charts(const DecideView& view);
/// A bar per count, the time of all ranks together by part, so that ideal scaling has equal bars.
Chart parts_chart(const DecideView& view);

// Tables; without rows where there is nothing to tell.
Table decision_rows_table(const DecideView& view);
Table marginal_table(const DecideView& view);
/// Throughput, latencies, layout, batch and price, where the table says them.
Table facts_table(const DecideView& view);
/// Seconds and shares of the parts.
Table parts_table(const DecideView& view);
Table exclusions_table(const DecideView& view);
Table regimes_table(const DecideView& view);
Table spot_table(const DecideView& view);
Table bill_table(const DecideView& view);
Table sensitivity_table(const DecideView& view);
Table energy_table(const DecideView& view);
Table losses_table(const DecideView& view);
Table growth_table(const DecideView& view);
Table knees_table(const DecideView& view);
Table remedies_table(const DecideView& view);
Table gap_table(const DecideView& view);
/// The same by the POP factors of recordings, and the factors themselves.
Table factor_gap_table(const DecideView& view);
Table factors_table(const DecideView& view);
Table fits_table(const DecideView& view);
Table laws_table(const DecideView& view);
Table law_rows_table(const DecideView& view);
Table forecast_table(const DecideView& view);
Table ring_table(const DecideView& view);
Table bounds_table(const DecideView& view);
Table model_selection_table(const DecideView& view);

/// The column that names a row by a count.
Column count_parameter(const std::string& id = "count");
Cell count_cell(int count);
/// Of a table beyond 32 rows the short formats have the 1st, 2nd, 4th, 8th ... and the last row.
void limit_rows(Table& table);
/// A measure with so many decimals where it has no interval.
Column decision_column(const std::string& id,
                       const std::string& header,
                       Unit unit,
                       std::optional<int> decimals);
/// "0.162 h" on a curve in hours, "206 s" elsewhere.
std::string decision_time(const DecideView& view, Seconds time);
/// Three decimals, "4.173 USD"; below a cent three digits, "0.000618 USD".
std::string decision_money(Dollars money);
/// Where rows are of steps that cost next to nothing and their work is known: what turns an amount
/// for the work of the rows into one for 10^6 units of it.
std::optional<double> million_work_scale(const decide::Decision& decision);
/// An amount for the work of the rows, or "0.965 USD per 10^6 work" where `million_work_scale`.
std::string decision_money(const DecideView& view, Dollars money);
/// USD per hour.
double hourly_price(DollarsPerSecond price);
/// "60 % of the price, used 80 % of the hours".
std::string regime_terms(const decide::Regime& regime);
/// "1 to 8, 16": runs of consecutive counts of `all` as ranges.
std::string count_ranges(const std::vector<int>& counts);
/// "cost optimum", "knee at efficiency >= 0.5": by which remedies are judged.
std::string judged_knee(const decide::KneeSet& knees);
/// What would move the knee and what would not, and how the communication divides; empty where
/// nothing is known of it.
std::string remedy_line(const DecideView& view);
std::string latency_line(const DecideView& view);
/// For whom the ranks of the largest count wait; what factors and parts of recordings tell
/// differently; each empty where nothing is to be told.
std::string straggler_line(const DecideView& view);
std::string factor_line(const DecideView& view);
/// The cheapest count on spot and, with a deadline, the cheapest that meets it surely enough.
std::vector<std::string> spot_lines(const DecideView& view);
/// What the chosen count gives up against the fastest and the cheapest.
std::string gives_up_line(const DecideView& view);
/// What an hour of waiting must be worth for larger counts to be the choice, where the bill has no
/// price per hour and the cheapest count is asked for; else empty.
std::string value_of_waiting_line(const DecideView& view);
/// That no count meets the deadline, and how near the fastest comes; else empty.
std::string deadline_line(const DecideView& view);
/// That one more run at the chosen count may miss the deadline; empty where it is sure enough.
std::string deadline_warning_line(const DecideView& view);
/// The count that by the law meets the deadline, or that none does; empty where a measured one is
/// hardly dearer.
std::string forecast_line(const DecideView& view);
/// "passes", "unproven", or the gate that the count fails, in a word.
std::string gate_mark(const decide::Decision& decision, int count);
/// Energy and carbon of the chosen count, and of the most frugal of those whose energy is known;
/// empty where it is of none.
std::string energy_line(const DecideView& view);
/// What the value of time is of the chosen count's cost; empty without one.
std::string waiting_line(const DecideView& view);
/// "communication 54.7 %, idle 45.3 %".
std::string mixture_text(const model::ScalingCause& cause);

// The law's word on a deadline as JSON.

/// Null without a deadline.
Json deadline_forecast_json(const std::optional<decide::DeadlineForecast>& forecast);
}  // namespace scaleworth::report
