// SPDX-License-Identifier: Apache-2.0
/// The table of the probes of a group of ranks, in the order of measurement.
#include "probes/collectives/sweep.h"
#include "probes/registry.h"
#include "probes/training/step_probe.h"
#include "src/core/run/fields.h"

#include <array>

namespace scaleworth::probes {
namespace {

constexpr std::array probes{
    RankProbe{fields::comm_collectives,
              "How long do six collectives take at each message size and rank count?",
              &estimate_collectives,
              &measure_collectives},
    RankProbe{fields::step_training,
              "How does a training step scale, and where does its time go?",
              &estimate_training,
              &measure_training},
};

}  // namespace

std::span<const RankProbe> rank_probes() {
  return probes;
}

}  // namespace scaleworth::probes
