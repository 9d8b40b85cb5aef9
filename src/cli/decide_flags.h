// SPDX-License-Identifier: Apache-2.0
/// What `scaleworth decide` is asked; its flags bind to these members.
#pragma once

#include "report/render_options.h"
#include "src/cli/input/table_input.h"
#include "src/core/units.h"
#include "src/model/cost.h"
#include "src/model/decision/decision.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {
struct DecideOptions {
  std::vector<std::string> inputs;  // a table, a run, recordings; empty: coefficients
  TableSelection selection;
  std::optional<decide::Scaling> scaling;  // absent: as the table shows
  // A curve in place of inputs.
  std::optional<double> serial;
  std::optional<double> communication;
  std::optional<Seconds> single;
  std::optional<int> max_count;
  std::optional<int> domain;  // ranks joined by fast links
  // What the request is completed from.
  std::optional<DollarsPerSecond> price;  // of a rank; the table may have prices of its own
  double storage_gb = 0.0;
  double storage_usd_per_gb_month = 0.0;
  double egress_gb = 0.0;
  double egress_usd_per_gb = 0.0;
  std::vector<std::string> regimes;  // "spot:0.30"
  std::string regimes_file;
  model::OwnedTerms owned;
  decide::DecisionRequest request;
  report::RenderOptions render;
};

/// Prints the report to stdout; returns the exit code. Throws UserError.
int decide_count(DecideOptions& options);
}  // namespace scaleworth::cli
