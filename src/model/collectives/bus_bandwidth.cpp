// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives/bus_bandwidth.h"

#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

/// factor = passes x (n - 1) / n, or 1 where the message crosses each link once.
struct Traffic {
  std::string_view collective;
  double passes;
  bool shared_among_ranks;
};
constexpr std::array traffic{Traffic{"all_reduce", 2.0, true},
                             Traffic{"all_gather", 1.0, true},
                             Traffic{"reduce_scatter", 1.0, true},
                             Traffic{"all_to_all", 1.0, true},
                             Traffic{"gather", 1.0, true},
                             Traffic{"scatter", 1.0, true},
                             Traffic{"broadcast", 1.0, false},
                             Traffic{"reduce", 1.0, false},
                             Traffic{"send_receive", 1.0, false}};

}  // namespace

double bus_factor(const std::string& collective, int ranks) {
  const auto found = std::find_if(traffic.begin(), traffic.end(), [&](const Traffic& entry) {
    return entry.collective == collective;
  });
  if (found == traffic.end()) {
    throw UserError(fmt::format(
        "unknown collective '{}': bus bandwidth is defined for all_reduce, all_gather, "
        "reduce_scatter, all_to_all, gather, scatter, broadcast, reduce and send_receive",
        collective));
  }
  if (ranks < 2) {
    throw UserError(fmt::format("bus bandwidth needs at least 2 ranks, not {}", ranks));
  }
  return found->shared_among_ranks ? found->passes * (ranks - 1) / ranks : found->passes;
}

BytesPerSecond bus_bandwidth(const std::string& collective,
                             Bytes message,
                             Seconds time,
                             int ranks) {
  if (!(time > Seconds(0.0))) {
    throw UserError("bus bandwidth needs a positive time: measure again");
  }
  return message / time * bus_factor(collective, ranks);
}

}  // namespace scaleworth::model
