// SPDX-License-Identifier: Apache-2.0
/// `RenderOptions`, `Format`; document + result -> text of a format.
#pragma once

#include "report/charts/charts.h"
#include "report/document.h"
#include "report/json_values.h"
#include "report/render_options.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::report {
// The renderers behind render(), one per format.

/// For a terminal: no line beyond `options.width` columns unless a single word is longer.
std::string render_text(const Document& document, const RenderOptions& options);

/// GitHub-flavoured Markdown.
std::string render_markdown(const Document& document);

/// One tidy table: a line per number. Columns in report/README.md.
std::string render_csv(const Run& run, const Document& document);

/// The analysis, numbers in base units, null for what is absent, and a reference to the run.
std::string render_json(const Run& run,
                        const model::Analysis& analysis,
                        const RenderOptions& options);

/// One self-contained file: tables that need no JavaScript beside charts that do.
std::string render_html(const Run& run,
                        const model::Analysis& analysis,
                        const RenderOptions& options);

// Tables as one tidy CSV: a line per number, with every parameter in a column of its own.

/// Names of the parameter columns.
using CsvNames = std::vector<std::string_view>;

std::string csv_header(const CsvNames& parameters);

/// All tables that belong into a CSV; the unit of an amount is `currency`. Throws std::logic_error
/// for a table with a parameter that `parameters` lacks.
std::string csv_lines(const Document& document,
                      const CsvNames& parameters,
                      const std::string& currency = "USD");

// A report in the format asked for.

/// The parts of a report; made only when the format needs them.
struct DocumentParts {
  std::function<Document()> asked;    // for text and Markdown
  std::function<Document()> whole;    // for CSV and HTML
  std::function<std::string()> json;  // amounts labelled already
  std::function<std::vector<Chart>()> charts;
  CsvNames parameters = {};  // columns of the CSV that name a number, the same in every report
  /// Sentences and charts say USD, to be replaced by `label_amounts`; false: they have the
  /// currency's label already.
  bool says_usd = false;
};

std::string render_document(const DocumentParts& parts, const RenderOptions& options);

// The label of all amounts of money, where it is not USD. Nothing is converted.

/// "USD" as a word becomes `currency`; "USD_PER_HOUR", a placeholder of a command, stays.
void label_amounts(std::string& text, const std::string& currency);
/// In every sentence, header and unit, and the subtitle says so; column ids that end in _usd keep
/// their names.
void label_amounts(Document& document, const std::string& currency);
/// In its picture and every sentence beside it.
void label_amounts(Chart& chart, const std::string& currency);
/// In every text but "input", the name that the user gave a file; keys keep their names.
void label_amounts(Json& json, const std::string& currency);

/// The document as text. What came in from the command line or a file may be in any encoding; a
/// replacement character beats an exception.
std::string json_text(const Json& json);
/// The same with its amounts labelled.
std::string json_text(Json json, const std::string& currency);

// Breaking text into lines of a terminal.

/// Columns that UTF-8 text takes, one per code point.
std::size_t display_width(std::string_view text);

/// Lines of at most `width` columns, broken at spaces outside brackets ("[22.8, 23.9]" stays
/// whole) and never before a per cent sign. A longer word keeps a line of its own. One empty line
/// for empty text.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// A document as one self-contained HTML file.

/// Sections with their charts above their tables. `json` is the same report for programs, kept in
/// the page as <script type="application/json" id="scaleworth-report">.
std::string render_page(const Document& document,
                        const std::vector<Chart>& charts,
                        const std::string& json);

// Putting foreign text into a page without it becoming part of the page.

/// Text between tags or in a double-quoted attribute.
std::string html_escaped(std::string_view text);

/// JSON inside <script type="application/json">: every "<" as \u003c, so that neither "</script"
/// nor "<!--" can end or hide the element.
std::string json_in_script(std::string_view json);

/// JavaScript inside <script>: "</script" as "<\/script" and "<!--" as "<\!--", which mean the
/// same inside string and regular-expression literals, the only places where they can stand.
std::string code_in_script(std::string_view code);
}  // namespace scaleworth::report
