// SPDX-License-Identifier: Apache-2.0
/// What makes a training work impossible to run, on any machine.
#pragma once

#include "probes/ranks.h"

namespace scaleworth::probes {

/// Throws UserError naming the value when `work` cannot be run: sizes below 1, a width that its
/// heads do not divide, a batch that its ranks do not divide, a straggler that is no rank or not
/// slower.
void check_training_work(const TrainingWork& work);

}  // namespace scaleworth::probes
