// SPDX-License-Identifier: Apache-2.0
/// What the parts of a utilisation's report are made from.
#pragma once

#include "report/document.h"
#include "report/html/charts/charts.h"
#include "report/mfu/mfu_report.h"

#include <string>
#include <vector>

namespace scaleworth::report {

struct MfuView {
  const model::TrainingRun& run;
  const model::TrainingUse& use;
  const MfuReportOptions& options;
};

Document compose_mfu(const MfuView& view);
Verdict judge_mfu(const MfuView& view);
/// Numbers in base units, null for what is absent.
std::string mfu_json(const MfuView& view);
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

}  // namespace scaleworth::report
