// SPDX-License-Identifier: Apache-2.0
/// A decision on a count, told in one of the report's formats.
#pragma once

#include "report/report.h"
#include "src/model/decide/decision.h"

#include <optional>
#include <string>

namespace scaleworth::report {

struct DecideReportOptions {
  bool colour = false;   // ANSI colours in the text format
  int width = 100;       // columns that the text format may fill
  bool details = false;  // text and Markdown: everything instead of one page
  bool has_price = false;
  std::optional<decide::SpotTerms> spot_terms;  // what the spot figures stand on
  decide::Rubric rubric;
  std::string currency = "USD";
  std::string grid;     // where the carbon intensity comes from
  std::string input;    // the table's file; empty for coefficients
  std::string command;  // as typed, for the next one; empty: made from the input
  std::string tool_version;
  std::string git_revision;
};

/// Version of the JSON format's layout.
inline constexpr int decision_schema_version = 1;

/// The report. Text and Markdown are a summary unless details are asked for; CSV, HTML and JSON
/// hold everything.
std::string render_decision(const decide::Decision& decision,
                            Format format,
                            const DecideReportOptions& options);

}  // namespace scaleworth::report
