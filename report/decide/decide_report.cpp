// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_report.h"

#include "report/decide/decide_view.h"
#include "report/decide/money/currency.h"
#include "report/tell_document.h"

namespace scaleworth::report {
namespace {

Document labelled(const DecideView& view) {
  Document document = compose_decision(view);
  const std::string& currency = view.options.currency;
  if (currency == "USD") return document;
  label_amounts(document, currency);
  document.subtitle += "; amounts in " + currency + " as given, nothing is converted";
  return document;
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
  const bool csv = format == Format::csv;
  std::string told =
      tell_document({[&] { return labelled(asked); },
                     [&] { return csv ? compose_decision(whole) : labelled(whole); },
                     [&] { return decision_json(whole); },
                     [&] { return labelled_charts(whole); },
                     {"count", "from", "to", "regime", "part", "law", "parameter", "input"}},
                    {format, options.colour, options.width, options.details});
  // The unit of an amount is a cell of its own in the CSV.
  if (csv) label_amounts(told, options.currency);
  return told;
}

}  // namespace scaleworth::report
