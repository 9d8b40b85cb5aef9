// SPDX-License-Identifier: Apache-2.0
#include "report/currency.h"

#include <cctype>
#include <string_view>

namespace scaleworth::report {
namespace {

constexpr std::string_view dollars = "USD";

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
  for (Column& column : table.columns) {
    label_amounts(column.header, currency);
    if (column.unit != Unit::dollars) continue;
    column.unit = Unit::plain;
    column.header += " (" + currency + ")";
  }
  for (Row& row : table.rows) {
    for (Cell& cell : row.cells) {
      if (auto* text = std::get_if<std::string>(&cell)) label_amounts(*text, currency);
    }
  }
}

}  // namespace

void label_amounts(Document& document, const std::string& currency) {
  if (currency == dollars) return;
  document.subtitle += "; amounts in " + currency + " as given, nothing is converted";
  label_amounts(document.verdict.headline, currency);
  label(document.verdict.lines, currency);
  for (NextCommand& next : document.next) label_amounts(next.reason, currency);
  for (Section& section : document.sections) {
    label(section.lead, currency);
    label(section.list, currency);
    for (Table& table : section.tables) label(table, currency);
  }
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

std::string json_text(Json json, const std::string& currency) {
  label_amounts(json, currency);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace scaleworth::report
