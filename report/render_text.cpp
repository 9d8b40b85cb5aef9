// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"

#include <numeric>

namespace scaleworth::report {
namespace {
constexpr std::size_t gap = 2;
constexpr std::size_t indent = 2;

/// The pieces that `wrap` never breaks.
std::vector<std::string_view> unbreakable_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool before_percent = i + 1 < text.size() && text[i + 1] == '%';
    if (i == text.size() || (text[i] == ' ' && depth == 0 && !before_percent)) {
      if (i > start) words.push_back(text.substr(start, i - start));
      start = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']' && depth > 0) {
      --depth;
    }
  }
  return words;
}

/// Columns of the widest piece that `wrap` never breaks.
std::size_t widest_word(std::string_view text) {
  std::size_t widest = 0;
  for (const auto word : unbreakable_words(text)) widest = std::max(widest, display_width(word));
  return widest;
}

/// Text that grows by lines, with ANSI emphasis where wanted.
class Page {
 public:
  explicit Page(const RenderOptions& options)
      : colour_(options.colour), width_(static_cast<std::size_t>(std::max(options.width, 40))) {}

  std::size_t width() const { return width_; }
  const std::string& text() const { return text_; }

  void line(const std::string& content = "", const char* style = "") {
    text_ += colour_ && *style != '\0' ? fmt::format("\033[{}m{}\033[0m\n", style, content)
                                       : content + "\n";
  }
  /// Wrapped, with `first` before the first line and as much space before the others.
  void paragraph(const std::string& first, const std::string& content, const char* style = "") {
    const std::size_t lead = display_width(first);
    std::string prefix = first;
    for (const std::string& piece : wrap(content, width_ - std::min(width_, lead))) {
      line(prefix + piece, style);
      prefix.assign(lead, ' ');
    }
  }

 private:
  bool colour_;
  std::size_t width_;
  std::string text_;
};

constexpr const char* bold = "1";
constexpr const char* dim = "2";

const char* answer_style(Answer answer) {
  return answer == Answer::yes ? "1;32" : answer == Answer::no ? "1;31" : "1;33";
}

/// Takes columns from the widest, none below its floor, until the table fits.
void shrink(std::vector<std::size_t>& widths,
            const std::vector<std::size_t>& floors,
            std::size_t available) {
  while (std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1)) > available) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (widths[c] > floors[c] && (widest == widths.size() || widths[c] > widths[widest])) {
        widest = c;
      }
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

/// Wide enough for one line each, if that fits; else headers are broken first, cells after them.
std::vector<std::size_t> column_widths(const Printed& printed, std::size_t available) {
  std::vector<std::size_t> widths;
  std::vector<std::size_t> whole_cells;
  std::vector<std::size_t> whole_words;
  for (std::size_t c = 0; c < printed.headers.size(); ++c) {
    std::size_t cells = widest_word(printed.headers[c]);
    std::size_t words = cells;
    for (const auto& row : printed.rows) {
      cells = std::max(cells, display_width(row[c]));
      words = std::max(words, widest_word(row[c]));
    }
    widths.push_back(std::max(cells, display_width(printed.headers[c])));
    whole_cells.push_back(cells);
    whole_words.push_back(words);
  }
  shrink(widths, whole_cells, available);
  shrink(widths, whole_words, available);
  return widths;
}

/// One row of cells, over as many lines as its tallest cell needs; headers stand at the bottom.
void print_row(Page& page,
               const std::vector<std::string>& cells,
               const Printed& printed,
               const std::vector<std::size_t>& widths,
               const char* style) {
  std::vector<std::vector<std::string>> wrapped;
  std::size_t height = 1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    wrapped.push_back(wrap(cells[c], widths[c]));
    height = std::max(height, wrapped.back().size());
  }
  for (std::size_t i = 0; i < height; ++i) {
    std::string text(indent, ' ');
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string cell = i < wrapped[c].size() ? wrapped[c][i] : "";
      const std::string padding(widths[c] - std::min(widths[c], display_width(cell)), ' ');
      text += (c == 0 ? "" : std::string(gap, ' '));
      text += printed.right[c] ? padding + cell : cell + padding;
    }
    page.line(text.substr(0, text.find_last_not_of(' ') + 1), style);
  }
}

void print(Page& page, const Table& table, const char* header_style) {
  const Printed printed = print_table(table, false);
  const auto widths = column_widths(printed, page.width() - indent);
  if (!table.title.empty()) page.paragraph("", table.title, bold);
  print_row(page, printed.headers, printed, widths, header_style);
  for (const auto& row : printed.rows) print_row(page, row, printed, widths, "");
  for (const std::string& note : table.notes) page.paragraph("  ", note, dim);
}

/// A section without title is part of a summary: its tables stand close and name the subject.
void print(Page& page, const Section& section) {
  const bool close = section.title.empty();
  if (!close) page.line("== " + section.title + " ==", bold);
  for (const std::string& paragraph : section.lead) page.paragraph("", paragraph);
  int item = 0;
  for (const std::string& text : section.list) page.paragraph(fmt::format("{:2}. ", ++item), text);
  if (!close && (!section.list.empty() || !section.lead.empty())) page.line();
  for (const Table& table : section.tables) {
    if (!only_detail(table)) {
      print(page, table, close ? bold : dim);
      if (!close) page.line();
    }
  }
  if (close) page.line();
}
}  // namespace

std::string render_text(const Document& document, const RenderOptions& options) {
  Page page(options);
  page.paragraph("", document.title, bold);
  page.paragraph("", document.verdict.headline, answer_style(document.verdict.answer));
  for (const std::string& line : document.verdict.lines) page.paragraph("  ", line);
  if (!document.incomplete.empty()) {
    page.paragraph("", document.incomplete, answer_style(Answer::unknown));
  }
  page.paragraph(
      "", document.subtitle + (document.intervals ? "; ± or [low, high]: 95 % interval" : ""), dim);
  if (document.sections.empty() || !document.sections.front().title.empty()) page.line();
  for (const Section& section : document.sections) print(page, section);
  page.line("Next:", bold);
  for (const NextCommand& next : document.next) {
    const std::string whole = "  " + next.command + "  # " + next.reason;
    if (display_width(whole) <= page.width()) {
      page.line(whole);
    } else {
      page.line("  " + next.command);
      page.paragraph("      ", next.reason, dim);
    }
  }
  return page.text();
}

std::size_t display_width(std::string_view text) {
  const auto begins = [](unsigned char c) { return (c & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, begins));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : unbreakable_words(text)) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += ' ';
      line += word;
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}
}  // namespace scaleworth::report
