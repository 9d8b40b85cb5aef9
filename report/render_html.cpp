// SPDX-License-Identifier: Apache-2.0
#include "assets/charts.h"
#include "assets/licences.h"
#include "assets/style.h"
#include "report/charts/charts.h"
#include "report/render.h"
#include "src/core/files/csv.h"

#include <array>

namespace scaleworth::report {
namespace {
/// The chart library and the few lines that start it; empty in a build without it
/// (SCALEWORTH_HTML=OFF).
const std::string_view chart_script = asset::charts();

/// Escaped, and with a value kept on one line with its interval and its per cent
/// sign.
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

std::string items(const char* list, const std::vector<std::string>& texts) {
  std::string html;
  for (const std::string& text : texts) html += element("li", text);
  return texts.empty() ? "" : fmt::format("<{0}>\n{1}</{0}>\n", list, html);
}

/// Without what says nothing: columns of zeros, and rows in which nothing is known.
Table telling(Table table) {
  for (Column& column : table.columns)
    if (column.role == Role::measure && !column.hidden) column.hidden = 0.0;
  const auto unknown = [&](const Row& row) {
    bool measured = false;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].role != Role::measure) continue;
      if (!std::holds_alternative<std::monostate>(row.cells[c])) return false;
      measured = true;
    }
    return measured;
  };
  std::erase_if(table.rows, unknown);
  return table;
}

/// Numbers carry their value in base units, by which the page's script sorts, and columns their
/// ids. Of a longer table its first `most_rows`.
std::string table_body(const Table& table, bool detail, std::size_t most_rows) {
  Printed printed = print_table(table, detail);
  const std::size_t all = printed.rows.size();
  printed.rows.resize(std::min(all, most_rows));
  std::string html = fmt::format("<div class=\"scroll\"><table data-table=\"{}\">\n", table.id);
  html += "<thead><tr>";
  const auto cell =
      [&](const char* tag, std::size_t c, const std::string& with, const std::string& text) {
        const char* number = printed.right[c] ? " class=\"number\"" : "";
        html += fmt::format("<{0}{1}{2}>{3}</{0}>", tag, number, with, typeset(text));
      };
  for (std::size_t c = 0; c < printed.headers.size(); ++c)
    cell("th",
         c,
         fmt::format(" scope=\"col\" data-column=\"{}\"", html_escaped(printed.ids[c])),
         printed.headers[c]);
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < printed.rows.size(); ++r) {
    html += printed.chosen[r] ? "<tr class=\"chosen\">" : "<tr>";
    for (std::size_t c = 0; c < printed.rows[r].size(); ++c) {
      const auto& value = printed.values[r][c];
      cell("td", c, value ? fmt::format(" data-value=\"{}\"", *value) : "", printed.rows[r][c]);
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  return all == printed.rows.size()
             ? html
             : html + element("p",
                              fmt::format("The first {} of {} rows; the CSV has all of them.",
                                          printed.rows.size(),
                                          grouped(std::to_string(all))),
                              " class=\"note\"");
}

std::string folded(const Table& table, const std::string& summary, std::size_t most_rows) {
  return "<details class=\"whole\"><summary>" + typeset(summary) + "</summary>\n" +
         table_body(table, true, most_rows) + "</details>\n";
}

std::string html(const Table& whole_table, std::size_t most_rows) {
  const Table table = telling(whole_table);
  if (table.rows.empty()) return "";
  std::string text;
  if (only_detail(table)) {
    text = folded(table, table.title, most_rows);
  } else {
    text = table.title.empty() ? "" : element("h3", table.title);
    text += table_body(table, false, most_rows);
    const bool whole = std::ranges::none_of(table.rows, &Row::detail) &&
                       std::ranges::none_of(table.columns, &Column::detail);
    text += whole ? "" : folded(table, "All rows and columns", most_rows);
  }
  for (const std::string& note : table.notes) text += element("p", note, " class=\"note\"");
  return text;
}

std::string html(const Chart& chart, bool main) {
  std::string text =
      fmt::format("<figure class=\"chart{}\" id=\"chart-{}\">\n", main ? " main" : "", chart.id);
  text += "<figcaption>" + typeset(chart.title) + "</figcaption>\n";
  if (chart.data.is_null()) {
    return text + element("p", chart.missing, " class=\"fallback\"") + "</figure>\n";
  }
  const char* why = chart_script.empty()
                        ? "This build of scaleworth has no chart library (SCALEWORTH_HTML=OFF); "
                          "the tables below hold the numbers."
                        : "The chart needs JavaScript; the tables below hold the numbers.";
  text += "<div class=\"canvas\"><p class=\"fallback\">" + html_escaped(why) + "</p></div>\n";
  text += element("p", chart.how_to_read, " class=\"note\"");
  if (!chart_script.empty()) {
    text += "<script type=\"application/json\" class=\"chart-spec\">" +
            json_in_script(chart.data.dump(-1, ' ', false, Json::error_handler_t::replace)) +
            "</script>\n";
  }
  return text + "</figure>\n";
}

/// Open, so that it is read without scripts too; the page's script closes it, and then `lead` says
/// what it is about.
std::string foldable(const std::string& id,
                     const std::string& title,
                     const std::string& lead,
                     const std::string& content) {
  return fmt::format("<details class=\"section\" id=\"{}\" open>\n<summary>", id) +
         element("h2", title) + element("p", lead, " class=\"lead\"") + "</summary>\n" + content +
         "</details>\n";
}

std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

/// The first sentence, else what the charts show (but for `main`, which stands at the head of the
/// page), else the tables.
std::string lead_of(const Section& section, const std::vector<Chart>& charts, const Chart* main) {
  constexpr std::size_t most_titles = 3;
  if (!section.lead.empty()) return first_sentence(section.lead.front());
  if (!section.list.empty()) return first_sentence(section.list.front());
  std::vector<std::string> titles;
  for (const Chart& chart : charts)
    if (chart.section == section.id && &chart != main) titles.push_back(chart.title);
  for (const Table& table : section.tables)
    if (!table.title.empty()) titles.push_back(table.title);
  if (titles.size() > most_titles) titles.resize(most_titles);
  return fmt::format("{}", fmt::join(titles, "; "));
}

std::string html(const Section& section,
                 const std::vector<Chart>& charts,
                 const Chart* main,
                 std::size_t most_rows) {
  std::string text;
  for (const std::string& paragraph : section.lead) text += element("p", paragraph);
  text += items("ol", section.list);
  for (const Chart& chart : charts)
    text += chart.section == section.id ? html(chart, &chart == main) : "";
  for (const Table& table : section.tables) text += html(table, most_rows);
  return foldable(section.id, section.title, lead_of(section, charts, main), text);
}

std::string page_head(const std::string& title) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
         "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n" +
         element("title", title) + "<style>\n" + std::string(asset::style()) +
         "</style>\n</head>\n<body>\n<main>\n";
}

/// The first that leads, else the first, of those that are drawn: the page's script puts it at the
/// head of the page.
const Chart* main_chart(const Document& document, const std::vector<Chart>& charts) {
  const Chart* first = nullptr;
  for (const Section& section : document.sections)
    for (const Chart& chart : charts) {
      if (chart.section != section.id || chart.data.is_null()) continue;
      if (chart.leads) return &chart;
      if (first == nullptr) first = &chart;
    }
  return first;
}

std::string tiles(const std::vector<KeyFigure>& figures) {
  constexpr std::size_t most_in_a_row = 7;
  if (figures.empty()) return "";
  const std::size_t lines = (figures.size() + most_in_a_row - 1) / most_in_a_row;
  const std::size_t columns = (figures.size() + lines - 1) / lines;
  std::string text = fmt::format("<div class=\"tiles\" style=\"--columns: {}\">\n", columns);
  for (const KeyFigure& figure : figures) {
    text += "<div class=\"tile\">" + element("p", figure.label) + element("strong", figure.value) +
            element("p", figure.note, " class=\"note\"") + "</div>\n";
  }
  return text + "</div>\n";
}

std::string page_header(const Document& document) {
  const bool named = !document.subject.empty();
  std::string text = "<header>\n" + element("p", named ? document.title : "", " class=\"tool\"");
  text += element("h1", named ? document.subject : document.title);
  text += element("p", document.subtitle, " class=\"note\"");
  text += "<nav>";
  for (const Section& section : document.sections) {
    const std::string name = section.title.substr(0, section.title.find(':'));
    text += fmt::format("<a href=\"#{}\">{}</a> ", section.id, html_escaped(name));
  }
  text += "<a href=\"#next\">Next commands</a></nav>\n";

  text += fmt::format("<div class=\"verdict {}\">\n", answer_name(document.verdict.answer));
  text += element("p", document.verdict.headline, " class=\"headline\"");
  const std::string action = action_sentence(document.verdict);
  if (!action.empty()) text += element("p", action, " class=\"action\"");
  text += items("ul", document.verdict.lines) + "</div>\n";
  if (!document.incomplete.empty()) {
    text += element("p", document.incomplete, " class=\"incomplete\"");
  }
  return text + tiles(key_figures(document)) + "</header>\n";
}

/// All but the scripts.
std::string page_body(const Document& document,
                      const std::vector<Chart>& charts,
                      std::size_t most_rows) {
  const std::string name = document.subject.empty() ? "" : document.subject + ": ";
  std::string page = page_head(name + document.title) + page_header(document);
  const Chart* main = main_chart(document, charts);
  for (const Section& section : document.sections) page += html(section, charts, main, most_rows);
  std::string next;
  for (const NextCommand& one : document.next)
    next += html_escaped("# " + one.reason + "\n" + one.command) + "\n";
  const std::string reason = document.next.empty() ? "" : document.next.front().reason;
  page += foldable("next", "Next commands", reason, "<pre>" + next + "</pre>\n");
  page += element("p",
                  document.intervals ? "Value ± half-width or value [low, high]: 95 % intervals, "
                                       "none below 6 samples; n/a: not available."
                                     : "n/a: not available.",
                  " class=\"note\"");
  return page + "</main>\n";
}
}  // namespace

std::string render_page(const Document& document,
                        const std::vector<Chart>& charts,
                        const std::string& json,
                        const Json& data) {
  // A browser and a mail take it; of thousands of ranks single rows are for programs.
  constexpr std::size_t most_bytes = 3'000'000;
  constexpr std::size_t most_rows = 512;
  constexpr std::size_t fewest_rows = 16;
  const std::size_t scripts = chart_script.size() + asset::licences().size() + 10'000;
  std::string page = page_body(document, charts, most_rows);
  for (std::size_t rows = most_rows / 2; rows >= fewest_rows && page.size() + scripts > most_bytes;
       rows /= 2)
    page = page_body(document, charts, rows);
  const std::string in_script = json_in_script(json);
  if (page.size() + scripts + in_script.size() < most_bytes)
    page +=
        "<script type=\"application/json\" id=\"scaleworth-report\">\n" + in_script + "</script>\n";
  if (!data.is_null()) {
    page += "<script type=\"application/json\" id=\"page-data\">" +
            json_in_script(data.dump(-1, ' ', false, Json::error_handler_t::replace)) +
            "</script>\n";
  }
  if (!chart_script.empty()) {
    page += "<script>\n/*\n" + std::string(asset::licences()) + "*/\n" +
            code_in_script(chart_script) + "\n</script>\n";
  }
  return page + "</body>\n</html>\n";
}

std::string html_escaped(std::string_view text) {
  constexpr std::array entities{std::pair('&', "&amp;"),
                                std::pair('<', "&lt;"),
                                std::pair('>', "&gt;"),
                                std::pair('"', "&quot;")};
  std::string result;
  for (const char c : text) {
    const auto* entity = std::ranges::find(entities, c, &std::pair<char, const char*>::first);
    result += entity == entities.end() ? std::string_view(&c, 1) : entity->second;
  }
  return result;
}

std::string json_in_script(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) result += c == '<' ? "\\u003c" : std::string_view(&c, 1);
  return result;
}

std::string code_in_script(std::string_view code) {
  constexpr std::string_view end = "/script";
  std::string result;
  result.reserve(code.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    result += code[i];
    if (code[i] != '<') continue;
    const std::string_view rest = code.substr(i + 1);
    if (lower_case(rest.substr(0, end.size())) == end || rest.starts_with("!--")) result += '\\';
  }
  return result;
}
}  // namespace scaleworth::report
