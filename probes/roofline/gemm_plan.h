// SPDX-License-Identifier: Apache-2.0
/// Which matrix products stand for the work of training and inference, and how long timing them
/// takes.
#pragma once

#include "probes/machine.h"
#include "probes/registry.h"
#include "probes/roofline/plan.h"

#include <string>
#include <vector>

namespace scaleworth::probes {

/// A product and why it is asked for:
///   square   m = n = k: from overhead to the library's best rate
///   tokens   a batch of m tokens through a layer of n = k: intensity grows with m, so the ridge
///            reads as a batch size
///   rank-k   m = n fixed, small k: intensity grows with k
///   batched  many small independent products, 32 MiB of operands together: intensity grows with
///            their size at equal occupancy
///   free     asked for by the user
struct GemmShape {
  std::string family;
  GemmWork work;
};

/// Shapes of all families in fp32 and fp64, on one and on all workers, whose operands fit a quarter
/// of the available memory. In the order to measure: one worker first, then the batched family,
/// because a library's own threads keep spinning for a while after its last call; within that
/// random, so that a drift of the machine does not follow the size.
std::vector<GemmShape> gemm_plan(const Setting& setting);

/// Products of the families that do not fit a quarter of the available memory.
std::size_t gemm_shapes_left_out(const Setting& setting);

Pace gemm_pace(Suite suite);

/// Expected time of one shape: filling and checking its operands, and samples, of which at least
/// `minimum_samples` are taken however long a product lasts.
Seconds gemm_time(const GemmWork& work, const Pace& pace);

}  // namespace scaleworth::probes
