// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"

namespace scaleworth::report {
namespace {
/// Characters that Markdown or a table cell would take for its own; a bracket only in a link.
std::string escaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool link = text[i] == ']' && text.find_first_of("([:", i) == i + 1;
    if (link || std::string_view("|*_`<\\").find(text[i]) != std::string_view::npos) result += '\\';
    result += text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
  }
  return result;
}

std::string line(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + escaped(cell) + " |";
  return text + "\n";
}

std::string markdown(const Table& table) {
  const Printed printed = print_table(table, false);
  std::string text = table.title.empty() ? "" : "**" + escaped(table.title) + "**\n\n";
  text += line(printed.headers) + "|";
  for (const bool right : printed.right) text += right ? " ---: |" : " :--- |";
  text += "\n";
  for (const auto& row : printed.rows) text += line(row);
  text += "\n";
  for (const std::string& note : table.notes) text += escaped(note) + "\n\n";
  return text;
}

std::string markdown(const Section& section) {
  std::string text = section.title.empty() ? "" : "## " + escaped(section.title) + "\n\n";
  for (const std::string& paragraph : section.lead) text += escaped(paragraph) + "\n\n";
  int item = 0;
  for (const std::string& one : section.list) text += fmt::format("{}. {}\n", ++item, escaped(one));
  text += section.list.empty() ? "" : "\n";
  for (const Table& table : section.tables) text += only_detail(table) ? "" : markdown(table);
  return text;
}
}  // namespace

std::string render_markdown(const Document& document) {
  std::string text = "# " + escaped(document.title) + "\n\n";
  text += "**" + escaped(document.verdict.headline) + "**\n\n";
  const std::vector<std::string> said = sentences(document.verdict);
  for (const std::string& one : said) text += "- " + escaped(one) + "\n";
  text += said.empty() ? "" : "\n";
  if (!document.incomplete.empty()) text += "> **" + escaped(document.incomplete) + "**\n\n";
  text += escaped(document.subtitle) + ". " +
          (document.intervals ? "95 % intervals: value ± longer arm, or value [low, high]; none "
                                "below 6 samples; "
                              : "") +
          "n/a: not available.\n\n";
  for (const Section& section : document.sections) text += markdown(section);
  text += "## Next\n\n```sh\n";
  for (const NextCommand& next : document.next) {
    text += "# " + next.reason + "\n" + next.command + "\n";
  }
  return text + "```\n";
}
}  // namespace scaleworth::report
