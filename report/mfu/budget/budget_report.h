// SPDX-License-Identifier: Apache-2.0
/// What a training budget is best spent on, told in one of the report's formats.
#pragma once

#include "report/tell_document.h"
#include "src/model/training_budget/training_plan.h"

#include <string>

namespace scaleworth::report {

/// Names of what the figures stand on.
struct BudgetNames {
  std::string gpu;         // "NVIDIA H100 SXM 80 GB"; empty: none asked for
  std::string gpu_source;  // of the datasheet's figures, with their date; empty: none
  std::string peak_basis;  // "datasheet bf16, dense, at 1830 MHz"
  std::string model;       // of the size to judge; empty: none
  std::string command;     // as typed, for the next one; empty: unknown
  std::string tool_version;
  std::string git_revision;
};

/// Version of the JSON format's layout.
inline constexpr int budget_schema_version = 1;

std::string render_budget(const model::TrainingQuestion& question,
                          const model::TrainingPlan& plan,
                          const BudgetNames& names,
                          const Telling& telling);

}  // namespace scaleworth::report
