// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_report.h"

#include "report/csv/tidy.h"
#include "report/decide/decide_view.h"
#include "report/decide/money/currency.h"
#include "report/formats.h"
#include "report/html/page.h"

namespace scaleworth::report {
namespace {

/// Columns of the CSV that name a number, the same in every report.
const CsvNames& parameters() {
  static const CsvNames names{"count", "from", "to", "regime", "part", "law", "parameter", "input"};
  return names;
}

Document labelled(const DecideView& view) {
  Document document = compose_decision(view);
  const std::string& currency = view.options.currency;
  if (currency == "USD") return document;
  label_amounts(document, currency);
  document.subtitle += "; amounts in " + currency + " as given, nothing is converted";
  return document;
}

/// The unit of an amount is a cell of its own there.
std::string labelled_csv(const DecideView& view) {
  std::string csv = csv_header(parameters()) + csv_lines(compose_decision(view), parameters());
  label_amounts(csv, view.options.currency);
  return csv;
}

std::vector<Chart> labelled_charts(const DecideView& view) {
  std::vector<Chart> charts = decision_charts(view);
  for (Chart& chart : charts) label_amounts(chart.spec, view.options.currency);
  return charts;
}

}  // namespace

std::string render_decision(const decide::Decision& decision,
                            Format format,
                            const DecideReportOptions& options) {
  DecideReportOptions complete = options;
  complete.details = true;
  const DecideView whole{decision, complete};
  const DecideView asked{decision, options};
  switch (format) {
    case Format::markdown:
      return render_markdown(labelled(asked));
    case Format::csv:
      return labelled_csv(whole);
    case Format::json:
      return decision_json(whole);
    case Format::html:
      return render_page(labelled(whole), labelled_charts(whole), decision_json(whole));
    case Format::text:
      break;
  }
  RenderOptions text;
  text.colour = options.colour;
  text.width = options.width;
  text.details = options.details;
  return render_text(labelled(asked), text);
}

}  // namespace scaleworth::report
