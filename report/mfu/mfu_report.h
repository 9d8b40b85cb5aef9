// SPDX-License-Identifier: Apache-2.0
/// What a training run makes of its GPUs, told in one of the report's formats.
#pragma once

#include "report/report.h"
#include "src/model/mfu/training_use.h"

#include <string>

namespace scaleworth::report {

struct MfuReportOptions {
  bool colour = false;        // ANSI colours in the text format
  int width = 100;            // columns that the text format may fill
  bool details = false;       // text and Markdown: every table
  std::string gpu;            // "NVIDIA A100 SXM 80 GB"; as the user called it where unknown
  std::string gpu_source;     // of the datasheet's figures, with their date; empty: none
  std::string number_format;  // "bf16"
  std::string currency = "USD";
  std::string tool_version;
  std::string git_revision;
};

/// Version of the JSON format's layout.
inline constexpr int mfu_schema_version = 1;

/// The report; `use` is what follows from `run`. CSV, HTML and JSON hold everything.
std::string render_mfu(const model::TrainingRun& run,
                       const model::TrainingUse& use,
                       Format format,
                       const MfuReportOptions& options);

}  // namespace scaleworth::report
