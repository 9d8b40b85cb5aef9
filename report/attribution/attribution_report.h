// SPDX-License-Identifier: Apache-2.0
/// What became of a job's time, told in one of the report's formats.
#pragma once

#include "report/report.h"
#include "src/core/attribution/attribution.h"

#include <optional>
#include <string>

namespace scaleworth::report {

struct AttributionOptions {
  bool colour = false;   // ANSI colours in the text format
  int width = 100;       // columns that the text format may fill
  bool details = false;  // text and Markdown: everything instead of one page
  std::optional<DollarsPerSecond> price_per_gpu;
  std::string input;  // what was attributed, for the next command: "traces/"
  std::string tool_version;
  std::string git_revision;
};

/// Version of the JSON format's layout (docs/attribution.schema.json).
inline constexpr int attribution_schema_version = 1;

/// The report. Text and Markdown are a summary unless details are asked for; CSV and HTML hold
/// every table and JSON every result, of collectives the thousand with the most waiting.
std::string render_attribution(const attribution::Attribution& attribution,
                               Format format,
                               const AttributionOptions& options);

}  // namespace scaleworth::report
