// SPDX-License-Identifier: Apache-2.0
/// How many bytes a collective sends through one GPU's port, which depends on how it is done.
#pragma once

#include "probes/ranks.h"
#include "src/core/units.h"

#include <optional>
#include <string>

namespace scaleworth::probes {

/// Bytes through the busier direction of the busiest rank's port, for a message S among n ranks:
///   Ring, PAT   all_reduce 2 S (n-1)/n; all_gather, reduce_scatter S (n-1)/n; broadcast, reduce S
///   Tree        all_reduce 2 S: in each of two trees that carry half, S/2 up and two times S/2
///   down
///               for the rank that is inside of one and a leaf of the other
///   NVLS        all_reduce S (1 + 1/n): the switch reads S from each GPU and reduces; each sends
///               its part of the result once; all_gather, reduce_scatter S (an estimate)
/// all_to_all, gather, scatter S (n-1)/n and send_receive S whatever the algorithm. Absent for
/// other pairs, and where the algorithm is not known (empty) but matters. Source: the schedules'
/// own arithmetic; Sanders, Speck, Traeff, Parallel Computing 35 (2009) for the two trees.
std::optional<Bytes> wire_bytes(Collective collective,
                                const std::string& algorithm,
                                Bytes message,
                                int ranks);

}  // namespace scaleworth::probes
