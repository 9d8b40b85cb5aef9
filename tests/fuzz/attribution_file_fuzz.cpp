// SPDX-License-Identifier: Apache-2.0
/// Any bytes as an attribution's JSON: refused with one line, or a count that can be decided on.
#include "report/attribution/attribution_report.h"
#include "src/core/error.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/scaling_table.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace scaleworth;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Attribution job = report::read_attribution(text, "job.json");
    model::AttributedCount first = model::attributed_count(job, "job.json");
    model::AttributedCount second = first;
    second.row.count = first.row.count * 2;
    second.ledger.count = second.row.count;
    model::DecisionRequest request;
    request.metrics.prices = model::Prices{DollarsPerSecond(1.0), DollarsPerSecond(0.5)};
    model::decide_table(model::attributed_table({first, second}, std::nullopt), request);
  } catch (const UserError&) {
  }
  return 0;
}
