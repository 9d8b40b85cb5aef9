// SPDX-License-Identifier: Apache-2.0
#include "src/core/attribution.h"

namespace scaleworth::attribution {
Rank rank_at(const Attribution& attribution, std::size_t place) {
  return place < attribution.recordings.size() ? attribution.recordings[place].rank
                                               : Rank{static_cast<int>(place)};
}

const char* late_cause_name(LateCause cause) {
  switch (cause) {
    case LateCause::slower_kernels:
      return "the same kernels run slower";
    case LateCause::more_work:
      return "more work";
    case LateCause::pipeline_stage:
      return "uneven pipeline stage";
    case LateCause::host:
      return "late host";
    case LateCause::copies:
      return "longer copies";
    case LateCause::communication:
      return "longer transfers";
    case LateCause::indirect:
      return "it waited itself";
    case LateCause::profiler:
      return "the profiler's own work";
    case LateCause::undecided:
      return "undecided";
  }
  return "undecided";
}
}  // namespace scaleworth::attribution
