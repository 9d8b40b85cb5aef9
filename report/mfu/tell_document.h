// SPDX-License-Identifier: Apache-2.0
/// A document that stands on no run, told in the format asked for.
#pragma once

#include "report/csv/tidy.h"
#include "report/document.h"
#include "report/html/charts/charts.h"
#include "report/report.h"

#include <string>
#include <vector>

namespace scaleworth::report {

/// How to tell: text and Markdown a summary unless details are asked for, the others everything.
struct Telling {
  Format format = Format::text;
  bool colour = false;   // ANSI colours in the text format
  int width = 100;       // columns that the text format may fill
  bool details = false;  // text and Markdown: everything instead of one page
};

/// `asked` for text and Markdown, `whole` for CSV and HTML, `json` as it is and within HTML.
struct ToldDocument {
  Document asked;
  Document whole;
  std::string json;
  std::vector<Chart> charts = {};
  CsvNames parameters = {};
};

std::string tell_document(const ToldDocument& told, const Telling& telling);

}  // namespace scaleworth::report
