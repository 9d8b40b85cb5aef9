// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/pattern.h"

#include <cstdint>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

// Knuth's multiplicative hash (2^32 / golden ratio), top 10 bits; compilers vectorise it.
float place_term(std::size_t index) {
  return static_cast<float>((static_cast<std::uint32_t>(index) * 2654435761U) >> 22U);
}

float sum_of_rank_terms(int ranks) {
  float sum = 0.0F;
  for (int r = 0; r < ranks; ++r) sum += rank_term(r);
  return sum;
}

}  // namespace

float rank_term(int rank) {
  return static_cast<float>((7 * rank) % 1021);
}

void fill_pattern(std::span<float> data, int rank) {
  const float term = rank_term(rank);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = place_term(i) + term;
}

std::vector<ExpectedStretch> expected_result(Collective collective,
                                             const MessageShape& shape,
                                             int rank,
                                             int ranks) {
  const std::size_t own_block = static_cast<std::size_t>(rank) * shape.block;
  std::vector<ExpectedStretch> stretches;
  switch (collective) {
    case Collective::all_reduce:
      return {{0, shape.receive, 0, static_cast<float>(ranks), sum_of_rank_terms(ranks)}};
    case Collective::reduce_scatter:
      return {{0, shape.receive, own_block, static_cast<float>(ranks), sum_of_rank_terms(ranks)}};
    case Collective::broadcast:
      return {{0, shape.receive, 0, 1.0F, rank_term(0)}};
    case Collective::send_receive:
      return {{0, shape.receive, 0, 1.0F, rank_term((rank + ranks - 1) % ranks)}};
    case Collective::reduce:
      if (rank != 0) return {};
      return {{0, shape.receive, 0, static_cast<float>(ranks), sum_of_rank_terms(ranks)}};
    case Collective::scatter:
      return {{0, shape.receive, own_block, 1.0F, rank_term(0)}};
    case Collective::gather:
      if (rank != 0) return {};
      break;
    case Collective::all_gather:
    case Collective::all_to_all:
      break;
  }
  const std::size_t first = collective == Collective::all_to_all ? own_block : 0;
  for (int source = 0; source < ranks; ++source) {
    stretches.push_back({static_cast<std::size_t>(source) * shape.block,
                         shape.block,
                         first,
                         1.0F,
                         rank_term(source)});
  }
  return stretches;
}

std::optional<std::string> find_error(std::span<const float> received,
                                      const std::vector<ExpectedStretch>& expected) {
  for (const ExpectedStretch& stretch : expected) {
    const auto wanted = [&](std::size_t j) {
      return stretch.scale * place_term(stretch.first + j) + stretch.offset;
    };
    const auto part = received.subspan(stretch.begin, stretch.count);
    // Counting first keeps the loop without branches; 256 MiB are checked for every setting.
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < part.size(); ++j) wrong += part[j] == wanted(j) ? 0 : 1;
    if (wrong == 0) continue;
    std::size_t j = 0;
    while (part[j] == wanted(j)) ++j;
    return fmt::format("{} of {} elements are wrong, first element {}: {} instead of {}",
                       wrong,
                       part.size(),
                       stretch.begin + j,
                       part[j],
                       wanted(j));
  }
  return std::nullopt;
}

}  // namespace scaleworth::probes
