// SPDX-License-Identifier: Apache-2.0
/// What serving a model costs, told in one of the report's formats.
#pragma once

#include "report/tell_document.h"
#include "src/model/inference/serving.h"

#include <string>

namespace scaleworth::report {

/// Names of what the figures stand on.
struct ServingNames {
  std::string model;            // "Llama 3.1 8B"
  std::string gpu;              // "NVIDIA H100 SXM 80 GB"
  std::string peak_basis;       // "datasheet bf16, dense, at 1830 MHz"
  std::string bandwidth_basis;  // "datasheet"
  std::string model_source;     // of its shapes, with their date
  std::string gpu_source;       // of the datasheet's figures, with their date; empty: none
  std::string command;          // as typed, for the next one; empty: unknown
  std::string tool_version;
  std::string git_revision;
  std::vector<std::string> remarks = {};
};

/// Version of the JSON format's layout.
inline constexpr int serving_schema_version = 1;

std::string render_serving(const inference::ServingQuestion& question,
                           const inference::ServingAnswer& answer,
                           const ServingNames& names,
                           const Telling& telling);

}  // namespace scaleworth::report
