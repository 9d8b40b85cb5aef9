// SPDX-License-Identifier: Apache-2.0
/// GPT-3 on 1024 GPUs at 140 000 tokens/s, and what follows.
#pragma once

#include "report/mfu/mfu_report.h"

namespace scaleworth::report::fixture {

/// 300 billion tokens at 2 USD per GPU-hour, no recomputation.
model::TrainingRun gpt3_run();
/// The same with full recomputation and a measured ceiling, without price.
model::TrainingRun gpt3_recomputing_run();
MfuNames mfu_names();

}  // namespace scaleworth::report::fixture
