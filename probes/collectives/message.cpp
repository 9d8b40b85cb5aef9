// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/message.h"

#include "src/core/error.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {

MessageShape message_shape(Collective collective, Bytes message, int ranks) {
  if (!(message.value() > 0.0) || !std::isfinite(message.value()) || ranks < 2) {
    throw ProbeFailure(
        fmt::format("a collective of {} B on {} ranks moves nothing: at least 1 B "
                    "and 2 ranks are needed",
                    message.value(),
                    ranks));
  }
  const auto count = static_cast<std::size_t>(ranks);
  const auto elements = static_cast<std::size_t>(std::ceil(message.value() / sizeof(float)));
  const std::size_t block = (elements + count - 1) / count;
  const auto shape = [](std::size_t part, std::size_t send, std::size_t receive) {
    const std::size_t whole = send > receive ? send : receive;
    return MessageShape{part,
                        send,
                        receive,
                        Bytes(static_cast<double>(whole) * static_cast<double>(sizeof(float)))};
  };
  switch (collective) {
    case Collective::all_gather:
    case Collective::gather:
      return shape(block, block, block * count);
    case Collective::reduce_scatter:
    case Collective::scatter:
      return shape(block, block * count, block);
    case Collective::all_to_all:
      return shape(block, block * count, block * count);
    case Collective::all_reduce:
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_receive:
      break;
  }
  return shape(elements, elements, elements);
}

}  // namespace scaleworth::probes
