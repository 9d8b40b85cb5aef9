// SPDX-License-Identifier: Apache-2.0
/// The renderers behind render(), one per format.
#pragma once

#include "report/document.h"

#include <string>

namespace scaleworth::report {

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

}  // namespace scaleworth::report
