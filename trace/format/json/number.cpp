// SPDX-License-Identifier: Apache-2.0
#include "trace/format/json/number.h"

#include <algorithm>
#include <limits>

namespace scaleworth::trace {

namespace {

struct Decimal {
  std::uint64_t digits = 0;  // the significant ones, without the point
  int exponent = 0;          // value = digits * 10^exponent
  bool negative = false;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Digits with at most one point; those beyond 64 bits only count. Returns what follows; nullptr
/// when there is no digit at all.
const char* read_digits(const char* at, const char* end, Decimal& decimal) {
  constexpr auto most = (std::numeric_limits<std::uint64_t>::max() - 9) / 10;
  bool any = false;
  bool fraction = false;
  for (; at < end && (is_digit(*at) || (*at == '.' && !fraction)); ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    any = true;
    const bool fits = decimal.digits <= most;
    if (fits) decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*at - '0');
    decimal.exponent += (fits ? 0 : 1) - (fraction ? 1 : 0);
  }
  return any ? at : nullptr;
}

/// The exponent behind an e; nullptr when it is none. Large ones stay large.
const char* read_exponent(const char* at, const char* end, Decimal& decimal) {
  constexpr int beyond_all = 10000;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  if (at == end) return nullptr;
  int exponent = 0;
  for (; at < end && is_digit(*at); ++at)
    exponent = std::min(exponent * 10 + (*at - '0'), beyond_all);
  decimal.exponent += negative ? -exponent : exponent;
  return at;
}

std::optional<Decimal> read_decimal(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  Decimal decimal;
  decimal.negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  at = read_digits(at, end, decimal);
  if (at != nullptr && at < end && (*at == 'e' || *at == 'E'))
    at = read_exponent(at + 1, end, decimal);
  if (at == nullptr || at != end) return std::nullopt;
  return decimal;
}

}  // namespace

std::string_view bare_token(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  while (!token.empty() && static_cast<unsigned char>(token.front()) <= ' ') token.remove_prefix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    return token.substr(1, token.size() - 2);
  return token;
}

std::optional<std::int64_t> parse_decimal(std::string_view text, int shift) {
  const auto decimal = read_decimal(bare_token(text));
  if (!decimal) return std::nullopt;
  constexpr auto most = static_cast<std::uint64_t>(farthest_nanosecond);
  auto value = decimal->digits;
  int exponent = decimal->exponent + shift;
  if (value == 0) exponent = 0;
  for (; exponent > 0; --exponent) {
    if (value > most / 10) return std::nullopt;
    value *= 10;
  }
  unsigned dropped = 0;  // the last digit that went away: rounds
  for (; exponent < 0 && (value > 0 || dropped > 0); ++exponent) {
    dropped = static_cast<unsigned>(value % 10);
    value /= 10;
  }
  if (dropped >= 5) ++value;
  if (value > most) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(value);
  return decimal->negative ? -magnitude : magnitude;
}

std::optional<std::uint64_t> parse_identifier(std::string_view text) {
  const auto decimal = read_decimal(bare_token(text));
  if (!decimal || decimal->exponent != 0) return std::nullopt;
  if (!decimal->negative) return decimal->digits;
  return static_cast<std::uint32_t>(std::uint64_t{0} - decimal->digits);
}

}  // namespace scaleworth::trace
