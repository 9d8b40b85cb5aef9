// SPDX-License-Identifier: Apache-2.0
/// The GPUs that serve one copy of a model, as a roof: what they could do at most.
#pragma once

#include "src/core/units.h"

#include <optional>

namespace scaleworth::inference {

/// The all-reduce among the group, as an alpha-beta line: time = latency + 2 (t - 1) / t bytes /
/// bus_bandwidth, both as `scaleworth comm` measures them.
struct GroupLink {
  Seconds latency;
  BytesPerSecond bus_bandwidth;
};

/// Weights, cache and FLOPs divide evenly among `gpus`; rates and memory are of one of them, from a
/// datasheet or measured. An efficiency is the part of the rate that the server reaches; 1 is the
/// roof, which no real server reaches. Without a link communication takes no time.
struct ServingGroup {
  int gpus = 1;
  FlopPerSecond peak;
  BytesPerSecond bandwidth;
  std::optional<Bytes> memory;
  double compute_efficiency = 1.0;
  double bandwidth_efficiency = 1.0;
  double memory_part = 1.0;  // for weights and cache; the rest is the server's
  std::optional<GroupLink> link;
};

/// Throws UserError, naming the field, for fewer than one GPU, a rate that is not positive, or an
/// efficiency or part outside (0, 1].
void check_group(const ServingGroup& group);

/// Ridge of the group: peak / bandwidth, efficiencies included.
FlopPerByte ridge(const ServingGroup& group);

}  // namespace scaleworth::inference
