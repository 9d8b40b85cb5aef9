// SPDX-License-Identifier: Apache-2.0
/// Integers in as many bytes as they need: seven bits each, lowest first, the top bit set on all
/// but the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace scaleworth::trace::recording {

inline constexpr std::size_t longest_varint = 10;

/// Writes `value` at `to`, which has room for `longest_varint`; returns the end of it.
inline char* put_varint(char* to, std::uint64_t value) {
  while (value >= 0x80U) {
    *to++ = static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  *to++ = static_cast<char>(value);
  return to;
}

/// Takes a number from the front of `bytes`; absent when they end inside of it or it has more than
/// 64 bits.
inline std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < longest_varint; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7U * i);
    if (byte >= 0x80U) continue;
    if (i + 1 == longest_varint && byte > 1) return std::nullopt;
    bytes.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

/// Small differences of either sign as small numbers: 0, -1, 1, -2 become 0, 1, 2, 3.
constexpr std::uint64_t fold_sign(std::uint64_t difference) {
  return (difference << 1U) ^ (0 - (difference >> 63U));
}
constexpr std::uint64_t unfold_sign(std::uint64_t folded) {
  return (folded >> 1U) ^ (0 - (folded & 1U));
}

}  // namespace scaleworth::trace::recording
