// SPDX-License-Identifier: Apache-2.0
/// Servers and training budgets whose reports are kept.
#pragma once

#include "report/mfu/mfu_report.h"

namespace scaleworth::report::fixture {

/// Llama 3.1 70B in fp8 on four H100 with a link, a price, a load and an API beside it.
model::ServingQuestion loaded_server();
/// Llama 3.1 70B in bf16 on one H100, which does not hold it; no price.
model::ServingQuestion too_small_server();
MfuNames server_names();

/// A million dollars on H100 at 40 % MFU, with Llama 3.1 8B to judge.
model::TrainingQuestion million_dollars();
MfuNames budget_names();

}  // namespace scaleworth::report::fixture
