// SPDX-License-Identifier: Apache-2.0
/// The body of `scaleworth mfu --inference`: a model and GPUs in, costs per token by batch out.
#pragma once

#include "report/mfu/serving/serving_report.h"
#include "src/cli/mfu/mfu.h"
#include "src/cli/mfu/serving_options.h"

#include <string>

namespace scaleworth::cli {

struct ServingCase {
  inference::ServingQuestion question;
  report::ServingNames names;
};

/// Throws UserError for a format, flag or GPU that leaves the question open.
ServingCase serving_case(const MfuOptions& options, const ServingOptions& serving);

/// Prints the report to stdout; returns the exit code. `command` as typed, for the next one. Throws
/// UserError.
int tell_serving(const MfuOptions& options,
                 const ServingOptions& serving,
                 const std::string& command);

}  // namespace scaleworth::cli
