// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"

#include "report/document.h"
#include "report/render_options.h"
#include "src/core/error.h"

#include <array>
#include <cctype>
#include <string_view>

namespace scaleworth::report {
namespace {
struct NamedFormat {
  Format format;
  const char* name;
};
constexpr std::array formats{NamedFormat{Format::text, "text"},
                             NamedFormat{Format::markdown, "md"},
                             NamedFormat{Format::csv, "csv"},
                             NamedFormat{Format::json, "json"},
                             NamedFormat{Format::html, "html"}};

Document short_or_whole(const Run& run,
                        const model::Analysis& analysis,
                        const RenderOptions& options) {
  return options.details ? compose(run, analysis, options) : summarise(run, analysis, options);
}
}  // namespace

const char* format_name(Format format) {
  for (const NamedFormat& known : formats) {
    if (known.format == format) {
      return known.name;
    }
  }
  return "";
}

Format parse_format(std::string_view name) {
  for (const NamedFormat& known : formats) {
    if (name == known.name) {
      return known.format;
    }
  }
  if (name == "markdown") {
    return Format::markdown;
  }
  throw UserError("unknown format \"" + std::string(name) + "\": use text, md, csv, json or html");
}

std::string render(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  switch (options.format) {
    case Format::markdown:
      return render_markdown(short_or_whole(run, analysis, options));
    case Format::csv:
      return render_csv(run, compose(run, analysis, options));
    case Format::json:
      return render_json(run, analysis, options);
    case Format::html:
      return render_html(run, analysis, options);
    case Format::text:
      break;
  }
  return render_text(short_or_whole(run, analysis, options), options);
}

namespace {
constexpr std::string_view dollars = "USD";

/// Columns of money carry the label in their headers, and the subtitle says what it is.
void label_columns(Document& document, const std::string& currency) {
  if (currency == dollars) return;
  document.subtitle += "; amounts in " + currency + " as given, nothing is converted";
  for (Section& section : document.sections) {
    for (Table& table : section.tables) {
      for (Column& column : table.columns) {
        if (column.unit != Unit::dollars) continue;
        column.unit = Unit::plain;
        column.header += " (" + currency + ")";
      }
    }
  }
}

Document labelled(Document document, const DocumentParts& parts, const std::string& currency) {
  if (parts.says_usd) {
    label_amounts(document, currency);
  } else {
    label_columns(document, currency);
  }
  return document;
}

std::vector<Chart> labelled_charts(const DocumentParts& parts, const std::string& currency) {
  std::vector<Chart> charts = parts.charts();
  if (!parts.says_usd) return charts;
  for (Chart& chart : charts) label_amounts(chart, currency);
  return charts;
}

std::string csv_text(const DocumentParts& parts, const std::string& currency) {
  std::string text =
      csv_header(parts.parameters) + csv_lines(parts.whole(), parts.parameters, currency);
  if (parts.says_usd) label_amounts(text, currency);
  return text;
}
}  // namespace

std::string render_document(const DocumentParts& parts, const RenderOptions& options) {
  const std::string& currency = options.currency;
  switch (options.format) {
    case Format::markdown:
      return render_markdown(labelled(parts.asked(), parts, currency));
    case Format::csv:
      return csv_text(parts, currency);
    case Format::json:
      return parts.json();
    case Format::html:
      return render_page(
          labelled(parts.whole(), parts, currency), labelled_charts(parts, currency), parts.json());
    case Format::text:
      break;
  }
  return render_text(labelled(parts.asked(), parts, currency), options);
}

namespace {
bool joins(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
}  // namespace

void label_amounts(std::string& text, const std::string& currency) {
  if (currency == dollars) return;
  for (std::size_t at = text.find(dollars); at != std::string::npos;
       at = text.find(dollars, at + currency.size())) {
    const std::size_t end = at + dollars.size();
    const bool word =
        (at == 0 || !joins(text[at - 1])) && (end == text.size() || !joins(text[end]));
    if (word) text.replace(at, dollars.size(), currency);
  }
}

namespace {
void label(std::vector<std::string>& texts, const std::string& currency) {
  for (std::string& text : texts) label_amounts(text, currency);
}

void label(Table& table, const std::string& currency) {
  label_amounts(table.title, currency);
  label(table.notes, currency);
  for (Column& column : table.columns) label_amounts(column.header, currency);
  for (Row& row : table.rows) {
    for (Cell& cell : row.cells) {
      if (auto* text = std::get_if<std::string>(&cell)) label_amounts(*text, currency);
    }
  }
}
}  // namespace

void label_amounts(Document& document, const std::string& currency) {
  if (currency == dollars) return;
  label_amounts(document.verdict.headline, currency);
  label(document.verdict.lines, currency);
  for (NextCommand& next : document.next) label_amounts(next.reason, currency);
  for (Section& section : document.sections) {
    label(section.lead, currency);
    label(section.list, currency);
    for (Table& table : section.tables) label(table, currency);
  }
  label_columns(document, currency);
}

void label_amounts(Chart& chart, const std::string& currency) {
  for (std::string* text : {&chart.title, &chart.how_to_read, &chart.missing}) {
    label_amounts(*text, currency);
  }
  label_amounts(chart.spec, currency);
}

void label_amounts(Json& json, const std::string& currency) {
  if (currency == dollars) return;
  if (json.is_string()) {
    label_amounts(json.get_ref<std::string&>(), currency);
  } else if (json.is_object()) {
    for (auto& [key, part] : json.items()) {
      if (key != "input") label_amounts(part, currency);
    }
  } else if (json.is_array()) {
    for (Json& part : json) label_amounts(part, currency);
  }
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_text(Json json, const std::string& currency) {
  label_amounts(json, currency);
  return json_text(json);
}
}  // namespace scaleworth::report
