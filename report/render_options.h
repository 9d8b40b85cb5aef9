// SPDX-License-Identifier: Apache-2.0
/// A run and what follows from it, rendered in one of the report's formats.
#pragma once

#include "src/core/run.h"
#include "src/model/analysis.h"

namespace scaleworth::report {
/// Who reads. A terminal's reader has the program and is told its flags; a page goes to others.
enum class Audience { terminal, page };

enum class Format { text, markdown, csv, json, html };

const char* format_name(Format format);
/// Throws UserError listing the known names; "markdown" is taken for "md".
Format parse_format(std::string_view name);

struct RenderOptions {
  Format format = Format::text;
  /// ANSI colours in the text format; the caller decides (terminal, NO_COLOR).
  bool colour = false;
  /// Columns that the text format may fill.
  int width = 100;
  /// Text and Markdown: every section and table instead of a summary of one page. The other formats
  /// are always complete: CSV (report/README.md), JSON, and HTML with charts in one file.
  bool details = false;
  /// The label of all amounts of money; nothing is converted.
  std::string currency = "USD";
  /// The run directory, table or recordings, as the command line names them: for the next command
  /// and as the reference in the JSON. Empty: none.
  std::string input = {};
  /// As typed, for the next command; empty: made from `input`.
  std::string command = {};
  std::string tool_version = {};
  std::string git_revision = {};
  /// Of the document; of JSON always the terminal's.
  Audience audience = Audience::terminal;
};

std::string render(const Run& run, const model::Analysis& analysis, const RenderOptions& options);

/// Version of the JSON format's layout.
inline constexpr int report_schema_version = 3;
}  // namespace scaleworth::report
