// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_report.h"

#include "report/csv/tidy.h"
#include "report/formats.h"
#include "report/html/page.h"
#include "report/mfu/mfu_view.h"

namespace scaleworth::report {
namespace {

const CsvNames& parameters() {
  static const CsvNames names{"peak", "convention", "part", "tokens"};
  return names;
}

}  // namespace

std::string render_mfu(const model::TrainingRun& run,
                       const model::TrainingUse& use,
                       Format format,
                       const MfuReportOptions& options) {
  MfuReportOptions complete = options;
  complete.details = true;
  const MfuView whole{run, use, complete};
  const MfuView asked{run, use, options};
  switch (format) {
    case Format::markdown:
      return render_markdown(compose_mfu(asked));
    case Format::csv:
      return csv_header(parameters()) + csv_lines(compose_mfu(whole), parameters());
    case Format::json:
      return mfu_json(whole);
    case Format::html:
      return render_page(compose_mfu(whole), mfu_charts(whole), mfu_json(whole));
    case Format::text:
      break;
  }
  RenderOptions text;
  text.colour = options.colour;
  text.width = options.width;
  text.details = options.details;
  return render_text(compose_mfu(asked), text);
}

}  // namespace scaleworth::report
