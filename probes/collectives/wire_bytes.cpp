// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/wire_bytes.h"

namespace scaleworth::probes {
namespace {

/// In messages; absent where it is not known.
std::optional<double> ring_share(Collective collective, double others) {
  switch (collective) {
    case Collective::all_reduce:
      return 2.0 * others;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return others;
    case Collective::broadcast:
    case Collective::reduce:
      return 1.0;
    default:
      return std::nullopt;
  }
}

std::optional<double> share(Collective collective, const std::string& algorithm, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter:
      return others;
    case Collective::send_receive:
      return 1.0;
    default:
      break;
  }
  if (algorithm == "Ring" || algorithm == "PAT") return ring_share(collective, others);
  const bool all_reduce = collective == Collective::all_reduce;
  if (algorithm == "Tree" && all_reduce) return 2.0;
  if (algorithm != "NVLS") return std::nullopt;
  if (all_reduce) return 1.0 + 1.0 / ranks;
  if (collective == Collective::all_gather || collective == Collective::reduce_scatter) return 1.0;
  return std::nullopt;
}

}  // namespace

std::optional<Bytes> wire_bytes(Collective collective,
                                const std::string& algorithm,
                                Bytes message,
                                int ranks) {
  const std::optional<double> messages = share(collective, algorithm, ranks);
  if (!messages) return std::nullopt;
  return message * *messages;
}

}  // namespace scaleworth::probes
