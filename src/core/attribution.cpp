// SPDX-License-Identifier: Apache-2.0
#include "src/core/attribution.h"

#include <array>

namespace scaleworth::attribution {
Rank rank_at(const Attribution& attribution, std::size_t place) {
  return place < attribution.recordings.size() ? attribution.recordings[place].rank
                                               : Rank{static_cast<int>(place)};
}

const char* late_cause_name(LateCause cause) {
  constexpr std::array names{"the same kernels run slower",
                             "more work",
                             "uneven pipeline stage",
                             "late host",
                             "longer copies",
                             "longer transfers",
                             "it waited itself",
                             "the profiler's own work",
                             "undecided"};
  return names[static_cast<std::size_t>(cause)];
}
}  // namespace scaleworth::attribution
