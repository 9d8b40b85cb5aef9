// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"
#include "report/render.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

// Files that are part of the binary because every HTML report carries them. Defined by assembler
// files that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_style[];
extern const char scaleworth_asset_style_end[];
extern const char scaleworth_asset_charts[];
extern const char scaleworth_asset_charts_end[];
extern const char scaleworth_asset_licences[];
extern const char scaleworth_asset_licences_end[];
}

namespace scaleworth::report {
namespace {
std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view style_sheet() {
  return between(scaleworth_asset_style, scaleworth_asset_style_end);
}

/// The chart library and the few lines that start it; empty in a build without it
/// (SCALEWORTH_HTML=OFF).
std::string_view chart_script() {
  return between(scaleworth_asset_charts, scaleworth_asset_charts_end);
}

/// Licences of what chart_script() holds.
std::string_view chart_licences() {
  return between(scaleworth_asset_licences, scaleworth_asset_licences_end);
}

/// Escaped, and with a value kept on one line with its interval and its per cent sign.
std::string typeset(const std::string& text) {
  constexpr std::string_view unbreakable_space = "\u00a0";
  std::string result;
  int brackets = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view before = std::string_view(text).substr(0, i);
    const std::string_view after = std::string_view(text).substr(i + 1);
    brackets += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    const bool joins =
        brackets > 0 || after.starts_with("%") || after.starts_with("±") || before.ends_with("±");
    result += text[i] == ' ' && joins ? unbreakable_space : std::string_view(text).substr(i, 1);
  }
  return html_escaped(result);
}

std::string element(const char* tag, const std::string& text, const char* attributes = "") {
  return fmt::format("<{0}{2}>{1}</{0}>\n", tag, typeset(text), attributes);
}

std::string table_body(const Printed& printed) {
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (std::size_t c = 0; c < printed.headers.size(); ++c) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        printed.right[c] ? " class=\"number\"" : "",
                        html_escaped(printed.headers[c]));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : printed.rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      html += fmt::format(
          "<td{}>{}</td>", printed.right[c] ? " class=\"number\"" : "", html_escaped(row[c]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

bool has_detail(const Table& table) {
  return std::any_of(
             table.rows.begin(), table.rows.end(), [](const Row& row) { return row.detail; }) ||
         std::any_of(table.columns.begin(), table.columns.end(), [](const Column& column) {
           return column.detail;
         });
}

std::string folded(const Table& table, const std::string& summary) {
  return "<details><summary>" + html_escaped(summary) + "</summary>\n" +
         table_body(print_table(table, true)) + "</details>\n";
}

std::string html(const Table& table) {
  std::string text;
  if (only_detail(table)) {
    text = folded(table, table.title);
  } else {
    text = table.title.empty() ? "" : element("h3", table.title);
    text += table_body(print_table(table, false));
    text += has_detail(table) ? folded(table, "All rows and columns") : "";
  }
  for (const std::string& note : table.notes) {
    text += element("p", note, " class=\"note\"");
  }
  return text;
}

std::string html(const Chart& chart) {
  std::string text = fmt::format("<figure class=\"chart\" id=\"chart-{}\">\n", chart.id);
  text += "<figcaption>" + typeset(chart.title) + "</figcaption>\n";
  if (chart.spec.is_null()) {
    return text + element("p", chart.missing, " class=\"fallback\"") + "</figure>\n";
  }
  const char* why =
      chart_script().empty()
          ? "This build of scaleworth has no chart library (SCALEWORTH_HTML=OFF); the "
            "tables below hold the numbers."
          : "The chart needs JavaScript; the tables below hold the numbers.";
  text += "<div class=\"canvas\"><p class=\"fallback\">" + html_escaped(why) + "</p></div>\n";
  text += element("p", chart.how_to_read, " class=\"note\"");
  if (!chart_script().empty()) {
    text += "<script type=\"application/json\" class=\"chart-spec\">" +
            json_in_script(chart.spec.dump(-1, ' ', false, Json::error_handler_t::replace)) +
            "</script>\n";
  }
  return text + "</figure>\n";
}

std::string html(const Section& section, const std::vector<Chart>& charts) {
  std::string text = fmt::format("<section id=\"{}\">\n", section.id);
  text += element("h2", section.title);
  for (const std::string& paragraph : section.lead) {
    text += element("p", paragraph);
  }
  if (!section.list.empty()) {
    text += "<ol>\n";
    for (const std::string& item : section.list) {
      text += element("li", item);
    }
    text += "</ol>\n";
  }
  for (const Chart& chart : charts) {
    text += chart.section == section.id ? html(chart) : "";
  }
  for (const Table& table : section.tables) {
    text += html(table);
  }
  return text + "</section>\n";
}

const char* answer_class(Answer answer) {
  return answer == Answer::yes ? "yes" : answer == Answer::no ? "no" : "unknown";
}

std::string head(const Document& document) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
         "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n" +
         element("title", document.title) + "<style>\n" + std::string(style_sheet()) +
         "</style>\n</head>\n<body>\n<main>\n";
}

std::string header(const Document& document) {
  std::string text = "<header>\n" + element("h1", document.title);
  text += fmt::format("<div class=\"verdict {}\">\n", answer_class(document.verdict.answer));
  text += element("p", document.verdict.headline, " class=\"headline\"");
  text += document.verdict.lines.empty() ? "" : "<ul>\n";
  for (const std::string& line : document.verdict.lines) {
    text += element("li", line);
  }
  text += document.verdict.lines.empty() ? "" : "</ul>\n";
  text += "</div>\n";
  if (!document.incomplete.empty()) {
    text += element("p", document.incomplete, " class=\"incomplete\"");
  }
  text += element("p", document.subtitle, " class=\"note\"");
  text += element("p",
                  document.intervals ? "Value ± half-width or value [low, high]: 95 % intervals, "
                                       "none below 6 samples; n/a: not available."
                                     : "n/a: not available.",
                  " class=\"note\"");
  text += "<nav>";
  for (const Section& section : document.sections) {
    const std::string name = section.title.substr(0, section.title.find(':'));
    text += fmt::format("<a href=\"#{}\">{}</a> ", section.id, html_escaped(name));
  }
  return text + "</nav>\n</header>\n";
}

std::string next(const Document& document) {
  std::string text = "<section id=\"next\">\n<h2>Next</h2>\n<pre>";
  for (const NextCommand& next : document.next) {
    text += html_escaped("# " + next.reason + "\n" + next.command) + "\n";
  }
  return text + "</pre>\n</section>\n";
}
}  // namespace

std::string render_page(const Document& document,
                        const std::vector<Chart>& charts,
                        const std::string& json) {
  std::string page = head(document) + header(document);
  for (const Section& section : document.sections) {
    page += html(section, charts);
  }
  page += next(document) + "</main>\n";
  page += "<script type=\"application/json\" id=\"scaleworth-report\">\n" + json_in_script(json) +
          "</script>\n";
  if (!chart_script().empty()) {
    page += "<script>\n/*\n" + std::string(chart_licences()) + "*/\n" +
            code_in_script(chart_script()) + "\n</script>\n";
  }
  return page + "</body>\n</html>\n";
}

std::string render_html(const Run& run,
                        const model::Analysis& analysis,
                        const RenderOptions& options) {
  return render_page(
      compose(run, analysis, options), make_charts(analysis), render_json(run, analysis, options));
}

namespace {
bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) {
    return false;
  }
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != lower[i]) {
      return false;
    }
  }
  return true;
}
}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string json_in_script(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string code_in_script(std::string_view code) {
  std::string result;
  result.reserve(code.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    result += code[i];
    if (code[i] != '<') {
      continue;
    }
    const std::string_view rest = code.substr(i + 1);
    if (starts_with_ignoring_case(rest, "/script") || rest.starts_with("!--")) {
      result += '\\';
    }
  }
  return result;
}
}  // namespace scaleworth::report
