// SPDX-License-Identifier: Apache-2.0
/// A working set cut into equal pieces that are visited in turn, for ever.
#pragma once

#include <cstdint>

namespace scaleworth::probes::host {

/// `pieces` pieces of `piece` elements each.
struct Sweep {
  std::int64_t pieces = 1;
  std::int64_t piece = 0;

  std::int64_t elements() const { return pieces * piece; }
  /// How often a piece was visited when `visits` pieces were, starting with piece `first`.
  std::int64_t visits_of(std::int64_t index, std::int64_t first, std::int64_t visits) const {
    const std::int64_t turn = (index - first % pieces + pieces) % pieces;
    return visits / pieces + (turn < visits % pieces ? 1 : 0);
  }
};

/// The largest sweep over at most `elements`, in pieces of at least `smallest_piece` (one piece if
/// there are fewer elements), each a multiple of `granule` elements and at least one granule.
Sweep cut_sweep(std::int64_t elements, std::int64_t smallest_piece, std::int64_t granule);

}  // namespace scaleworth::probes::host
