// SPDX-License-Identifier: Apache-2.0
/// `Decision` -> `Document`, of a table or of a run alike.
#pragma once

#include "report/charts/charts.h"
#include "report/document.h"
#include "report/words.h"
#include "src/core/files/fields.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/regimes.h"

#include <optional>

namespace scaleworth::report {
using namespace model;

std::string render_decision(const Decision& decision, const RenderOptions& options);

/// Of one curve of a table of several, or by one reading of it.
struct NamedDecision {
  std::string name;   // "System=A64FX"
  std::string flags;  // by which it alone is asked: "--where System=A64FX"
  Decision decision;
};
/// The answers of all, at least one, a sentence each.
std::string render_decisions(const std::vector<NamedDecision>& all, const RenderOptions& options);

struct DecideView {
  const Decision& decision;
  const RenderOptions& options;
  const char* words(const char* terminal, const char* page) const {
    return words_for(options.audience, terminal, page);
  }
};

/// "8 GPUs"; the number alone where the table does not say what it counts.
std::string named_count(const Decision& decision, int count);
/// "By the figures alone 512 GPUs would be the balanced count (least cost x time)."; else empty.
std::string figures_alone(const DecideView& view);
/// For which rank the others wait at the largest count; else empty.
std::string straggler_line(const DecideView& view);
/// `brief`: the counts, the rule and the cause, without what would change them.
Verdict judge_decision(const DecideView& view, bool brief = false);
std::string decision_json(const DecideView& view);
/// The members of that JSON, for the report of a run.
void put_decision(Fields& json, const DecideView& view);
/// docs/decision.schema.json.
std::string decision_schema();
std::vector<Chart> decision_charts(const DecideView& view);
/// For the page's script, which chooses at other prices, values of waiting and deadlines: of each
/// count the coefficients of its cost, its gates and what is printed of it. Null for loads.
Json decision_page_data(const DecideView& view);

// Tables by section; without rows where there is nothing to show.
std::vector<Table> counts_tables(const DecideView& view);
std::vector<Table> money_tables(const DecideView& view);
Table energy_table(const DecideView& view);
std::vector<Table> knee_tables(const DecideView& view);
std::vector<Table> cause_tables(const DecideView& view);
std::vector<Table> law_tables(const DecideView& view);
/// Of work and depth, which are known where the decision has their bounds.
Table bounds_table(const Decision& decision);
std::string scatter_line(const Decision& decision);
std::string bounds_line(const Decision& decision);

/// What a fit has; what it could not have is left out.
struct LawParameter {
  std::string law;
  std::string key;
  std::string name;  // for people
  Number value;
};
/// Of contention and coherency, Gustafson, micro-batches, known communication and plain Amdahl.
std::vector<LawParameter> law_parameters(const Decision& decision);

// Lines of the verdict, some of them empty.
/// How probably one more run meets the deadline, and which unmeasured count would by the law.
std::vector<std::string> deadline_lines(const DecideView& view);
/// What makes the gap from ideal, and how that is known.
std::string cause_line(const DecideView& view);
/// From which count on communication takes longer than compute.
std::string overtaking_line(const Decision& decision);
/// What work would keep: the efficiency of a threshold, or the serial part of coefficients.
std::string scaled_work_line(const Decision& decision);
/// Which one change moves the knee, and how far.
std::string remedy_line(const DecideView& view);
/// How much of a ring's communication is latency, by the terms given.
std::string latency_line(const DecideView& view);
/// Of ways to pay, of spot, of the value of time and of energy.
std::vector<std::string> cost_lines(const DecideView& view);

Column count_parameter(const std::string& id = "count");
/// Count, time, speed-up, efficiency.
std::vector<ColumnOf<DecisionRow>> count_columns(const DecideView& view);
/// A column of shares, with one place after the point.
Column share(const std::string& id, const std::string& header);
/// Of a table beyond 32 rows the short formats have the 1st, 2nd, 4th, 8th ... and the last row.
Table limit_rows(Table table);
/// Of a table beyond 32 rows the short formats have the first 32.
Table first_rows(Table table);
inline double hours(Seconds time) {
  return time.value() / 3600.0;
}
/// Whether budget and deadline are held against the first row's work, where that of others is more.
bool limits_of_first_work(const Decision& decision);
/// Where rows are of steps that cost next to nothing and their work is known: what turns an amount
/// for the work of the rows into one for 10^6 units of it.
std::optional<double> million_work_scale(const Decision& decision);
/// "million tokens", or of units where what the work is counted in is not known.
std::string million_work(const model::Decision& decision);
/// An amount for the work of the rows, or "0.965 EUR per 10^6 work" where `million_work_scale`.
std::string decision_money(const DecideView& view, Dollars money);
/// "60 % of the price, used 80 % of the hours".
std::string regime_terms(const Regime& regime, const std::string& currency);
}  // namespace scaleworth::report
