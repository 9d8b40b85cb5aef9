// SPDX-License-Identifier: Apache-2.0
/// The reference training step at 1, 2, 4, ... ranks, strong and weak scaling.
#pragma once

#include "probes/registry.h"

namespace scaleworth::probes {

/// From the suite, the rank count and the target time of a step alone.
Seconds estimate_training(const Setting& setting);

/// Points of fields::step_training, one per mode ("strong": one global batch, divided; "weak": a
/// batch that grows with the ranks; strong alone where there is one rank) and count, each with its
/// timeline. Sizes come from a calibration on all ranks. The counts take turns in several rounds,
/// so that drift of the machine becomes noise of every count; a round trains afresh, and `loss` and
/// `step_s` hold the measured steps of all rounds one after another.
/// Called on every rank. Throws UserError for a straggler that is not among the ranks,
/// ProbeFailure or Interrupted after keeping what complete rounds there are.
void measure_training(RankGroup& group,
                      const Setting& setting,
                      const RankOptions& options,
                      Recorder& recorder);

}  // namespace scaleworth::probes
