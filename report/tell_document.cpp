// SPDX-License-Identifier: Apache-2.0
#include "report/tell_document.h"

#include "report/formats.h"
#include "report/html/page.h"

namespace scaleworth::report {

std::string tell_document(const ToldDocument& told, const Telling& telling) {
  switch (telling.format) {
    case Format::markdown:
      return render_markdown(told.asked());
    case Format::csv:
      return csv_header(told.parameters) + csv_lines(told.whole(), told.parameters);
    case Format::json:
      return told.json();
    case Format::html:
      return render_page(told.whole(), told.charts(), told.json());
    case Format::text:
      break;
  }
  RenderOptions text;
  text.colour = telling.colour;
  text.width = telling.width;
  text.details = telling.details;
  return render_text(told.asked(), text);
}

}  // namespace scaleworth::report
