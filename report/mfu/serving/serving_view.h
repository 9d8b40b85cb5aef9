// SPDX-License-Identifier: Apache-2.0
/// What the parts of a serving report are made from.
#pragma once

#include "report/mfu/serving/serving_report.h"

#include <string>
#include <vector>

namespace scaleworth::report {

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
