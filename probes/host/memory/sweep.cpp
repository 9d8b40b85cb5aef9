// SPDX-License-Identifier: Apache-2.0
#include "probes/host/memory/sweep.h"

#include <algorithm>

namespace scaleworth::probes::host {

Sweep cut_sweep(std::int64_t elements, std::int64_t smallest_piece, std::int64_t granule) {
  const std::int64_t pieces = std::max<std::int64_t>(1, elements / smallest_piece);
  const std::int64_t granules = std::max<std::int64_t>(1, elements / (pieces * granule));
  return {.pieces = pieces, .piece = granules * granule};
}

}  // namespace scaleworth::probes::host
