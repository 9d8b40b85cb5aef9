// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"

#include "report/attribution/attribution_charts.h"
#include "report/attribution/attribution_document.h"
#include "report/csv/tidy.h"
#include "report/formats.h"
#include "report/html/page.h"

namespace scaleworth::report {
namespace {

/// Columns of the CSV that name a number, the same in every report.
const CsvNames& parameters() {
  static const CsvNames names{"step",
                              "rank",
                              "waited_for",
                              "part",
                              "cause",
                              "class",
                              "kind",
                              "way",
                              "group",
                              "index",
                              "what"};
  return names;
}

}  // namespace

std::string render_attribution(const attribution::Attribution& attribution,
                               Format format,
                               const AttributionOptions& options) {
  const AttributionView view{attribution, options, average(attribution)};
  const auto document = [&] {
    return options.details ? compose_attribution(view) : summarise_attribution(view);
  };
  switch (format) {
    case Format::markdown:
      return render_markdown(document());
    case Format::csv:
      return csv_header(parameters()) + csv_lines(compose_attribution(view), parameters());
    case Format::json:
      return attribution_json(view);
    case Format::html:
      return render_page(
          compose_attribution(view), attribution_charts(view), attribution_json(view));
    case Format::text:
      break;
  }
  RenderOptions text;
  text.colour = options.colour;
  text.width = options.width;
  return render_text(document(), text);
}

}  // namespace scaleworth::report
