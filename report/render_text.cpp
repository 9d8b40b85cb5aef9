// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"
#include "src/core/error.h"

#include <limits>
#include <numeric>
#include <utility>

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
  std::ptrdiff_t lines() const { return std::ranges::count(text_, '\n'); }
  void append(const Page& other) { text_ += other.text_; }

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

/// Of the rows as many as the lines allow, then of the notes; false where rows are missing.
bool print(Page& page, const Table& table, const char* header_style, std::ptrdiff_t most) {
  const Printed printed = print_table(table, false);
  const auto widths = column_widths(printed, page.width() - indent);
  if (!table.title.empty()) page.paragraph("", table.title, bold);
  print_row(page, printed.headers, printed, widths, header_style);
  for (const auto& row : printed.rows) {
    if (page.lines() >= most) return false;
    print_row(page, row, printed, widths, "");
  }
  for (const std::string& note : table.notes) {
    Page piece = page;
    piece.paragraph("  ", note, dim);
    if (piece.lines() > most) break;
    page = std::move(piece);
  }
  return true;
}

// A page without details fits on a screen: the answer, what to do, and the tables that have room.
constexpr std::ptrdiff_t most_lines = 40;
constexpr std::ptrdiff_t most_verdict_lines = 16;
constexpr std::ptrdiff_t unlimited = std::numeric_limits<std::ptrdiff_t>::max();

/// Adds section by section what there is room for, and remembers what there was none for.
class Body {
 public:
  Body(Page& page, const RenderOptions& options, std::ptrdiff_t reserved)
      : page_(page),
        options_(options),
        most_(options.details ? unlimited : most_lines - reserved) {}

  /// One without title is part of a summary: its tables stand close and name the subject.
  void add(const Section& section) {
    title_ = section.title.empty() ? "" : "== " + section.title + " ==";
    Page piece(options_);
    std::size_t left = 0;
    const auto add_text = [&](const std::string& number, const std::string& text) {
      Page one(options_);
      one.paragraph(number, text);
      room() - 1 < piece.lines() + one.lines() ? void(++left) : piece.append(one);
    };
    for (const std::string& paragraph : section.lead) add_text("", paragraph);
    int item = 0;
    for (const std::string& text : section.list) add_text(fmt::format("{:2}. ", ++item), text);
    if (left > 0) left_out_.push_back(counted(left, "note"));
    if (piece.lines() > 0) {
      piece.line();
      fits(piece);
    }
    for (const Table& table : section.tables)
      if (!only_detail(table)) add(section, table);
  }

  /// "3 further lines; Collectives by kind".
  std::vector<std::string>& left_out() { return left_out_; }

 private:
  void add(const Section& section, const Table& table) {
    const bool close = section.title.empty();
    const bool main = std::exchange(main_, false);
    Page piece(options_);
    const bool whole = print(piece, table, close ? bold : dim, main ? room() - 1 : unlimited);
    if (!close || &table == &section.tables.back()) piece.line();
    const std::string& name = table.title.empty() ? table.columns.front().header : table.title;
    if (!whole) left_out_.push_back("the rest of " + name);
    if (!fits(piece, main)) left_out_.push_back(name);
  }

  /// Lines for a piece, the title's not counted.
  std::ptrdiff_t room() const { return most_ - page_.lines() - (title_.empty() ? 0 : 1); }

  bool fits(const Page& piece, bool surely = false) {
    if (!surely && room() < piece.lines()) return false;
    if (!title_.empty()) page_.line(std::exchange(title_, ""), bold);
    page_.append(piece);
    return true;
  }

  Page& page_;
  const RenderOptions& options_;
  std::ptrdiff_t most_;
  bool main_ = true;   // the next table is the first
  std::string title_;  // of the section, until it is printed
  std::vector<std::string> left_out_;
};
}  // namespace

std::string render_text(const Document& document, const RenderOptions& options) {
  Page next(options);
  next.line("Next:", bold);
  const std::size_t most_next = options.details ? document.next.size() : 3;
  for (std::size_t i = 0; i < std::min(most_next, document.next.size()); ++i) {
    const NextCommand& one = document.next[i];
    const std::string whole = "  " + one.command + "  # " + one.reason;
    if (display_width(whole) <= next.width()) {
      next.line(whole);
    } else {
      next.line("  " + one.command);
      next.paragraph("      ", one.reason, dim);
    }
  }
  Page page(options);
  page.paragraph("", document.title, bold);
  page.paragraph("", document.verdict.headline, answer_style(document.verdict.answer));
  std::size_t remarks = 0;
  for (const std::string& line : sentences(document.verdict)) {
    Page remark(options);
    remark.paragraph("  ", line);
    const bool fits = options.details || page.lines() + remark.lines() <= most_verdict_lines;
    fits ? page.append(remark) : void(++remarks);
  }
  if (!document.incomplete.empty()) {
    page.paragraph("", document.incomplete, answer_style(Answer::unknown));
  }
  page.paragraph(
      "", document.subtitle + (document.intervals ? "; ± or [low, high]: 95 % interval" : ""), dim);
  if (document.sections.empty() || !document.sections.front().title.empty()) page.line();
  Body body(page, options, next.lines() + 2);
  if (remarks > 0) body.left_out().push_back(counted(remarks, "further line"));
  for (const Section& section : document.sections) body.add(section);
  if (!body.left_out().empty())
    page.paragraph("", fmt::format("With --details: {}.", fmt::join(body.left_out(), "; ")), dim);
  page.append(next);
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
