// SPDX-License-Identifier: Apache-2.0
/// How many elements a collective moves for a message of so many bytes.
#pragma once

#include "probes/ranks.h"
#include "src/core/units.h"

#include <cstddef>

namespace scaleworth::probes {

/// Elements are fp32. `block` is what one rank contributes (all_gather, gather), keeps
/// (reduce_scatter, scatter) or sends to each other rank (all_to_all); the whole message for the
/// other collectives.
struct MessageShape {
  std::size_t block = 0;
  std::size_t send = 0;     // elements in each rank's send buffer
  std::size_t receive = 0;  // elements in each rank's receive buffer
  Bytes message;            // after rounding up to whole elements per rank

  Bytes buffers() const { return Bytes(4.0 * static_cast<double>(send + receive)); }
};

/// The counts by which nccl-tests states a size: see CollectiveWork::message. Throws ProbeFailure
/// unless `message` is positive and `ranks` at least 2.
MessageShape message_shape(Collective collective, Bytes message, int ranks);

}  // namespace scaleworth::probes
