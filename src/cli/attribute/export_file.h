// SPDX-License-Identifier: Apache-2.0
/// `scaleworth attribute --export`: the timeline as a file for Perfetto's UI.
#pragma once

#include "src/cli/attribute/attribute.h"
#include "trace/attribute.h"
#include "trace/format/export/export.h"
#include "trace/timeline/recording.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

/// Writes `options.export_path` and says on stderr what is in it; nothing without a path. Throws
/// UserError.
void export_file(const trace::Job& job,
                 const trace::Attributed& attributed,
                 const AttributeOptions& options);

/// "1.5:2", "1.5:" and ":2" in seconds; absent when empty. Throws UserError.
std::optional<trace::TimeInterval> parse_window(const std::string& text);

/// "0,3-5": ascending, each once; empty for an empty text. Throws UserError.
std::vector<Rank> parse_ranks(const std::string& text);

}  // namespace scaleworth::cli
