// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/waves.h"

#include "src/core/error.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace scaleworth::model {
namespace {

/// The positive number at the start of `text`, which moves behind it; 0 when there is none.
std::int64_t leading_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return (whole - 1) / part + 1;
}

}  // namespace

Tile tile_of(const std::string& algorithm) {
  constexpr std::string_view word = "tile ";
  const auto at = algorithm.find(word);
  if (at == std::string::npos) return {};
  std::string_view rest = std::string_view(algorithm).substr(at + word.size());
  const std::int64_t m = leading_number(rest);
  if (m <= 0 || !rest.starts_with('x')) return {};
  rest.remove_prefix(1);
  const std::int64_t n = leading_number(rest);
  return n > 0 ? Tile{m, n, true} : Tile{};
}

double wave_efficiency(const GemmShape& shape, const Tile& tile, int multiprocessors) {
  if (shape.m <= 0 || shape.n <= 0 || shape.batch <= 0 || tile.m <= 0 || tile.n <= 0 ||
      multiprocessors <= 0) {
    throw UserError("waves of tiles need positive sides, tiles and multiprocessors");
  }
  const double tiles = static_cast<double>(parts(shape.m, tile.m)) *
                       static_cast<double>(parts(shape.n, tile.n)) *
                       static_cast<double>(shape.batch);
  const double waves = tiles / multiprocessors;
  return waves / std::ceil(waves);
}

}  // namespace scaleworth::model
