// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_report.h"

#include "report/csv/tidy.h"
#include "report/decide/decide_view.h"
#include "report/formats.h"
#include "report/html/page.h"

namespace scaleworth::report {
namespace {

/// Columns of the CSV that name a number, the same in every report.
const CsvNames& parameters() {
  static const CsvNames names{"count", "from", "to", "regime", "part", "law", "parameter"};
  return names;
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
      return render_markdown(compose_decision(asked));
    case Format::csv:
      return csv_header(parameters()) + csv_lines(compose_decision(whole), parameters());
    case Format::json:
      return decision_json(whole);
    case Format::html:
      return render_page(compose_decision(whole), decision_charts(whole), decision_json(whole));
    case Format::text:
      break;
  }
  RenderOptions text;
  text.colour = options.colour;
  text.width = options.width;
  text.details = options.details;
  return render_text(compose_decision(asked), text);
}

}  // namespace scaleworth::report
