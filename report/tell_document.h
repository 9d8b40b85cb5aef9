// SPDX-License-Identifier: Apache-2.0
/// A report that stands on no run, told in the format asked for.
#pragma once

#include "report/csv/tidy.h"
#include "report/document.h"
#include "report/html/charts/charts.h"
#include "report/report.h"

#include <functional>
#include <string>
#include <vector>

namespace scaleworth::report {

/// How to tell: text and Markdown a summary unless details are asked for, the others everything.
struct Telling {
  Format format = Format::text;
  bool colour = false;           // ANSI colours in the text format
  int width = 100;               // columns that the text format may fill
  bool details = false;          // text and Markdown: everything instead of one page
  std::string currency = "USD";  // the label of all amounts; nothing is converted
};

/// The parts of a report; made only when the format needs them.
struct ToldDocument {
  std::function<Document()> asked;    // for text and Markdown
  std::function<Document()> whole;    // for CSV and HTML
  std::function<std::string()> json;  // labelled already, by `json_text`
  std::function<std::vector<Chart>()> charts;
  CsvNames parameters = {};  // columns of the CSV that name a number, the same in every report
};

std::string tell_document(const ToldDocument& told, const Telling& telling);

}  // namespace scaleworth::report
