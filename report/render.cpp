// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"

#include "src/core/files/fields.h"

#include <array>
#include <filesystem>

namespace scaleworth::report {
namespace {
constexpr std::array format_names{"text", "md", "csv", "json", "html"};

void clean(std::string& text) {
  text = printable(text);
}

void clean(std::vector<std::string>& texts) {
  for (std::string& text : texts) clean(text);
}

void clean(Section& section) {
  clean(section.title);
  clean(section.lead);
  clean(section.list);
  for (Table& table : section.tables) {
    clean(table.title);
    clean(table.notes);
    for (Column& column : table.columns) clean(column.header);
    for (Row& row : table.rows)
      for (Cell& cell : row.cells)
        if (auto* text = std::get_if<std::string>(&cell)) clean(*text);
  }
}

/// Names in recordings, files and tables may hold anything, escape sequences of a terminal too.
Document cleaned(Document document) {
  for (std::string* text : {&document.title,
                            &document.subject,
                            &document.subtitle,
                            &document.incomplete,
                            &document.verdict.headline,
                            &document.verdict.action})
    clean(*text);
  clean(document.verdict.lines);
  for (Section& section : document.sections) clean(section);
  for (NextCommand& one : document.next) clean(one.command);
  return document;
}

/// The file or folder of `input`; of several files their folder.
std::string subject_of(const std::string& input) {
  const std::string names = input.substr(0, input.find(" --"));
  const std::size_t space = names.find(' ');
  std::filesystem::path name = names.substr(0, space);
  const bool folder = space != std::string::npos && name.has_parent_path();
  return (folder || !name.has_filename() ? name.parent_path() : name).filename().string();
}

/// Columns of money carry the label in their headers, and the subtitle says what it is.
Document labelled(Document document, const std::string& currency) {
  if (currency != "USD")
    document.subtitle += "; amounts in " + currency + " as given, nothing is converted";
  for (Section& section : document.sections) {
    for (Table& table : section.tables) {
      for (Column& column : table.columns) {
        if (column.unit == Unit::dollars) column.currency = currency;
      }
    }
  }
  return document;
}

constexpr JsonHead sentences_head{1, "scaleworth sentences"};
}  // namespace

const char* format_name(Format format) {
  return format_names[index_of(format)];
}

Format parse_format(std::string_view name) {
  const std::string_view known = name == "markdown" ? "md" : name;
  const auto* found = std::ranges::find(format_names, known);
  if (found != format_names.end()) return static_cast<Format>(found - format_names.begin());
  throw UserError("unknown format \"" + std::string(name) + "\": use text, md, csv, json or html");
}

std::string render(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  if (options.format == Format::csv)
    return render_csv(run, cleaned(compose(run, analysis, options)));
  return render_document(
      {[&](const RenderOptions& chosen) {
         return chosen.details ? compose(run, analysis, chosen) : summarise(run, analysis, chosen);
       },
       [&](const RenderOptions& chosen) { return render_json(run, analysis, chosen); },
       [&] { return make_charts(analysis); }},
      options);
}

std::string render_document(const DocumentParts& parts, const RenderOptions& options) {
  const std::string& currency = options.currency;
  RenderOptions complete = options;
  complete.details = true;
  if (options.format == Format::json) return parts.json(complete);
  if (options.format == Format::csv) {
    return render_csv(cleaned(parts.document(complete)), currency);
  }
  if (options.format == Format::html) {
    RenderOptions for_page = complete;
    for_page.audience = Audience::page;
    Document page = parts.document(for_page);
    if (page.subject.empty()) page.subject = subject_of(options.input);
    return render_page(
        labelled(cleaned(page), currency), parts.charts(), parts.json(complete), parts.page_data());
  }
  const Document document = labelled(cleaned(parts.document(options)), currency);
  return options.format == Format::text ? render_text(document, options)
                                        : render_markdown(document);
}

std::string json_of(const JsonHead& head, const std::function<void(Fields&)>& members) {
  Fields json(Fields::Make::document, head);
  members(json);
  // What came in from the command line or a file may be in any encoding; a replacement character
  // beats an exception.
  std::string text = json.take().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; (at = text.find('\x7f', at)) != std::string::npos;)
    text.replace(at, 1, "\\u007f");
  return text;
}

void put_versions(Fields& json, const RenderOptions& options) {
  json.members("tool_version", or_null(options.tool_version));
  json.members("git_revision", or_null(options.git_revision));
}

void put_currency(Fields& json, const RenderOptions& options) {
  json("currency", options.currency);
}

void put_verdict(Fields& json, const Verdict& verdict, const VerdictWords& words) {
  const char* answer = verdict.answer == Answer::yes  ? words.yes
                       : verdict.answer == Answer::no ? words.no
                                                      : words.unknown;
  json.object("verdict", [&](Fields& one) {
    one("answer", answer, one_of(words.answers));
    one.members("headline", verdict.headline, "lines", sentences(verdict));
  });
}

void put_answer(Fields& json, const RenderOptions& options, const Verdict& verdict) {
  put_versions(json, options);
  put_currency(json, options);
  put_verdict(json, verdict, {});
}

std::string render_sentences(const std::string& title,
                             const Verdict& verdict,
                             const RenderOptions& options,
                             const std::string& subtitle,
                             const NextCommand& next) {
  return render_document({[&](const RenderOptions& as) {
                            return Document{.title = document_title(as.tool_version, title),
                                            .subtitle = subtitle,
                                            .intervals = false,
                                            .verdict = verdict,
                                            .sections = {},
                                            .next = {next}};
                          },
                          [&](const RenderOptions& as) {
                            return json_of(sentences_head, [&](Fields& json) {
                              put_versions(json, as);
                              put_verdict(json, verdict, {});
                            });
                          },
                          [] { return std::vector<Chart>{}; }},
                         options);
}

std::string sentences_schema() {
  return schema_of(sentences_head, [](Fields& json) {
    put_versions(json, {});
    put_verdict(json, {}, {});
  });
}
}  // namespace scaleworth::report
