// SPDX-License-Identifier: Apache-2.0
#include "report/tell_document.h"

#include "report/currency.h"
#include "report/formats.h"
#include "report/html/page.h"

namespace scaleworth::report {
namespace {

Document labelled(Document document, const std::string& currency) {
  label_amounts(document, currency);
  return document;
}

std::vector<Chart> labelled(std::vector<Chart> charts, const std::string& currency) {
  for (Chart& chart : charts) label_amounts(chart, currency);
  return charts;
}

/// The unit of an amount is a cell of its own here.
std::string csv_text(const ToldDocument& told, const std::string& currency) {
  std::string text = csv_header(told.parameters) + csv_lines(told.whole(), told.parameters);
  label_amounts(text, currency);
  return text;
}

}  // namespace

std::string tell_document(const ToldDocument& told, const Telling& telling) {
  const std::string& currency = telling.currency;
  switch (telling.format) {
    case Format::markdown:
      return render_markdown(labelled(told.asked(), currency));
    case Format::csv:
      return csv_text(told, currency);
    case Format::json:
      return told.json();
    case Format::html:
      return render_page(
          labelled(told.whole(), currency), labelled(told.charts(), currency), told.json());
    case Format::text:
      break;
  }
  RenderOptions text;
  text.colour = telling.colour;
  text.width = telling.width;
  text.details = telling.details;
  return render_text(labelled(told.asked(), currency), text);
}

}  // namespace scaleworth::report
