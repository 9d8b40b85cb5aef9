// SPDX-License-Identifier: Apache-2.0
#include "probes/training/data.h"

#include "probes/training/random.h"

#include <algorithm>

namespace scaleworth::probes {
namespace {

constexpr std::uint64_t alphabet_limit = 64;

// Letters are spread over the vocabulary, so that the whole embedding table is in reach.
std::int32_t token_of(std::uint64_t letter, std::uint64_t letters, std::uint64_t vocabulary) {
  return static_cast<std::int32_t>(letter * vocabulary / letters);
}

}  // namespace

void fill_batch(const TransformerShape& shape,
                std::uint64_t seed,
                std::uint64_t first,
                std::span<std::int32_t> tokens) {
  const auto vocabulary = static_cast<std::uint64_t>(shape.vocabulary);
  const std::uint64_t letters = std::min(alphabet_limit, vocabulary);
  const auto length = static_cast<std::size_t>(shape.sequence) + 1;
  for (std::size_t sample = 0; sample * length < tokens.size(); ++sample) {
    const std::uint64_t number = (first + sample) * length;
    std::uint64_t letter = random_bits(seed, number) % letters;
    for (std::size_t i = 0; i < length; ++i) {
      tokens[sample * length + i] = token_of(letter, letters, vocabulary);
      const std::uint64_t bits = random_bits(seed + 1, number + i);
      const bool surprise = bits % 8 == 0;
      letter = surprise ? (bits >> 8U) % letters : (5 * letter + 3) % letters;
    }
  }
}

}  // namespace scaleworth::probes
