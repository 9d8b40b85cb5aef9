// SPDX-License-Identifier: Apache-2.0
/// Data whose collective results are known exactly: small integers in fp32 that depend on the rank
/// and on the place in the buffer, so that a lost, doubled, shifted or swapped block shows.
#pragma once

#include "probes/collectives/message.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// t(rank) of `fill_pattern`.
float rank_term(int rank);

/// data[i] = h(i) + t(rank), h a hash to 0..1023, t(rank) = 7 rank mod 1021. Sums over ranks are
/// exact in fp32 below 2^24, that is up to 8208 ranks.
///   h(i) = (i mod 2^32) 2654435761 mod 2^32 / 2^22, Knuth's multiplicative hash
void fill_pattern(std::span<float> data, int rank);

/// A stretch of a receive buffer: element begin + j must be scale h(first + j) + offset.
struct ExpectedStretch {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::size_t first = 0;
  float scale = 1.0F;
  float offset = 0.0F;
};

/// What `rank` of `ranks` must hold after the collective. send_receive goes round a ring: each rank
/// sends to the next; rank 0 is the root of broadcast, reduce, gather and scatter. Empty for a rank
/// that receives nothing (reduce, gather: all but the root).
std::vector<ExpectedStretch> expected_result(Collective collective,
                                             const MessageShape& shape,
                                             int rank,
                                             int ranks);

/// Absent when all is as expected, else the first wrong element in words.
std::optional<std::string> find_error(std::span<const float> received,
                                      const std::vector<ExpectedStretch>& expected);

}  // namespace scaleworth::probes
