// SPDX-License-Identifier: Apache-2.0
#include "src/core/attribution/attribution.h"

namespace scaleworth::attribution {

Rank rank_at(const Attribution& attribution, std::size_t place) {
  return place < attribution.recordings.size() ? attribution.recordings[place].rank
                                               : Rank{static_cast<int>(place)};
}

}  // namespace scaleworth::attribution
