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
};

Document compose_serving(const ServingView& view);
Verdict judge_serving(const ServingView& view);
std::string serving_json(const ServingView& view);
std::vector<Chart> serving_charts(const ServingView& view);

Table batches_table(const ServingView& view);
/// FLOPs, bytes and least times of the prompt and of a step at each batch, part by part.
Table phases_table(const ServingView& view);
Table serving_memory_table(const ServingView& view);
/// "1,234 output tokens/s, 12.3 ms for each token".
std::string batch_figures(const inference::OperatingPoint& point);
/// "0.0987 USD": three significant digits.
std::string token_money(Dollars money);

}  // namespace scaleworth::report
