// SPDX-License-Identifier: Apache-2.0
/// `RenderOptions`, `Format`; document + result -> text of a format.
#pragma once

#include "report/charts/charts.h"
#include "report/document.h"
#include "report/render_options.h"

#include <cstddef>

namespace scaleworth {
class Fields;
struct JsonHead;
}  // namespace scaleworth

namespace scaleworth::report {
/// For a terminal: no line beyond `options.width` columns unless a single word is longer.
std::string render_text(const Document& document, const RenderOptions& options);

std::string render_markdown(const Document& document);

/// One tidy table: a line per number of all tables that belong into a CSV, with every parameter of
/// these in a column of its own; the unit of an amount is `currency`.
std::string render_csv(const Document& document, const std::string& currency);

/// The same of a run, with the facts about its machine. Columns in report/README.md.
std::string render_csv(const Run& run, const Document& document);

/// The analysis, numbers in base units, null for what is absent, and a reference to the run.
std::string render_json(const Run& run,
                        const model::Analysis& analysis,
                        const RenderOptions& options);

/// The parts of a report; made only when the format needs them. Amounts carry the currency's label.
/// For CSV, HTML and JSON the options ask for details, whatever those of the report say.
struct DocumentParts {
  std::function<Document(const RenderOptions&)> document;
  std::function<std::string(const RenderOptions&)> json;
  std::function<std::vector<Chart>()> charts = [] { return std::vector<Chart>(); };
  /// What the page's script computes with; null: nothing.
  std::function<Json()> page_data = [] { return Json(nullptr); };
};

std::string render_document(const DocumentParts& parts, const RenderOptions& options);

/// The text of the document that `members` write under `head`.
std::string json_of(const JsonHead& head, const std::function<void(Fields&)>& members);

void put_versions(Fields& json, const RenderOptions& options);
void put_currency(Fields& json, const RenderOptions& options);

/// What the answers of a verdict are called.
struct VerdictWords {
  const char* yes = "yes";
  const char* no = "no";
  const char* unknown = "unknown";
  const char* answers = "yes|no|unknown";
};
void put_verdict(Fields& json, const Verdict& verdict, const VerdictWords& words);
/// All of these, where the answers are yes, no and unknown.
void put_answer(Fields& json, const RenderOptions& options, const Verdict& verdict);

/// A verdict that has no tables, in the format of `options`; its JSON has the sentences.
std::string render_sentences(
    const std::string& title,
    const Verdict& verdict,
    const RenderOptions& options,
    const std::string& subtitle = "By data sheets and formulas: nothing is measured",
    const NextCommand& next = {"scaleworth list --known", "whose figures these are"});
std::string sentences_schema();

/// Columns that UTF-8 text takes, one per code point.
std::size_t display_width(std::string_view text);

/// Lines of at most `width` columns, broken at spaces outside brackets ("[22.8, 23.9]" stays
/// whole) and never before a per cent sign. A longer word keeps a line of its own. One empty line
/// for empty text.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Sections with their charts above their tables. `json` is the same report for programs, kept in
/// the page as <script type="application/json" id="scaleworth-report">, `data` beside it under the
/// id "page-data" for the page's own script, where there is some.
std::string render_page(const Document& document,
                        const std::vector<Chart>& charts,
                        const std::string& json,
                        const Json& data);

/// Text between tags or in a double-quoted attribute.
std::string html_escaped(std::string_view text);

/// JSON inside <script type="application/json">: every "<" as \u003c, so that neither "</script"
/// nor "<!--" can end or hide the element.
std::string json_in_script(std::string_view json);

/// JavaScript inside <script>: "</script" as "<\/script" and "<!--" as "<\!--", which mean the
/// same inside string and regular-expression literals, the only places where they can stand.
std::string code_in_script(std::string_view code);
}  // namespace scaleworth::report
