// SPDX-License-Identifier: Apache-2.0
/// What a training run makes of its GPUs, told in one of the report's formats.
#pragma once

#include "report/charts/charts.h"
#include "report/document.h"
#include "report/render.h"
#include "report/render_options.h"
#include "src/model/transformer/serving.h"
#include "src/model/transformer/training_budget.h"
#include "src/model/transformer/utilisation.h"

#include <string>
#include <vector>

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

// What the parts of a utilisation's report are made from.

struct MfuView {
  const model::TrainingRun& run;
  const model::TrainingUse& use;
  const MfuReportOptions& options;
};

Document compose_mfu(const MfuView& view);
Verdict judge_mfu(const MfuView& view);
/// Numbers in base units, null for what is absent.
std::string mfu_json(const MfuView& view);
std::string mfu_schema();
std::vector<Chart> mfu_charts(const MfuView& view);

/// The run against each peak.
Table peaks_table(const MfuView& view);
/// FLOPs of a token and utilisation by each convention.
Table conventions_table(const MfuView& view);
/// The chosen convention's FLOPs of a token, part by part; the parts sum to the hardware FLOPs.
Table flop_parts_table(const MfuView& view);
/// Time and money of a million tokens, and of those to train on.
Table training_cost_table(const MfuView& view);

/// "300 billion", "1.4 trillion", "609524".
std::string large_count(double count);
/// "1.22 million USD", "4.063 USD".
std::string large_money(Dollars money);

// What a training budget is best spent on, told in one of the report's formats.

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
                          const RenderOptions& options);

// What the parts of a budget's report are made from.

struct BudgetView {
  const model::TrainingQuestion& question;
  const model::TrainingPlan& plan;
  const BudgetNames& names;
  std::string currency = "USD";
};

Document compose_budget(const BudgetView& view);
Verdict judge_budget(const BudgetView& view);
std::string budget_json(const BudgetView& view);
std::string budget_schema();

/// The best pair by each law.
Table pairs_table(const BudgetView& view);

// What serving a model costs, told in one of the report's formats.

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
                           const RenderOptions& options);

// What the parts of a serving report are made from.

struct ServingView {
  const inference::ServingQuestion& question;
  const inference::ServingAnswer& answer;
  const ServingNames& names;
  bool details = false;
  std::string currency = "USD";
};

Document compose_serving(const ServingView& view);
Verdict judge_serving(const ServingView& view);
std::string serving_json(const ServingView& view);
std::string serving_schema();
std::vector<Chart> serving_charts(const ServingView& view);

Table batches_table(const ServingView& view);
/// FLOPs, bytes and least times of the prompt and of a step at each batch, part by part.
Table phases_table(const ServingView& view);
Table serving_memory_table(const ServingView& view);

/// Published maxima over the ceilings of this model: TensorRT-LLM 1.0, Llama 3.1 8B and 3.3 70B in
/// fp8 and fp4 on H100, H200 and B200, ten lengths each (tests/unit/model/inference).
inline constexpr Interval<double> published_part_of_ceiling{0.26, 0.67};

/// "roof", "efficiencies" (as the user says) or "measured": what the times stand on.
const char* basis_of_times(const inference::ServingQuestion& question);
/// Utilisation at which servers that reach the published parts of the ceiling break even with the
/// API; absent without both prices, and where the times are no roof.
std::optional<Interval<double>> real_break_even(const inference::ServingQuestion& question,
                                                const inference::ServedBatch& batch);
/// "1,234 output tokens/s, 12.3 ms for each token".
std::string batch_figures(const inference::OperatingPoint& point);
/// "0.0987 USD": three significant digits.
std::string token_money(Dollars money);
}  // namespace scaleworth::report
