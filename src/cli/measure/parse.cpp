// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/parse.h"

#include "src/core/error.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace scaleworth::cli {
namespace {

/// The number at the start of `text`, which is shortened by it.
std::optional<double> take_number(std::string_view& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

probes::TrainingWork::Straggler parse_straggler(const std::string& text) {
  const auto fail = [&]() -> UserError {
    return UserError("--straggler '" + text +
                     "' is not RANK:FACTOR with FACTOR >= 1, for example 1:2.0");
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw fail();
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, rank);
  if (error != std::errc{} || end != text.data() + colon || rank < 0) throw fail();
  std::string_view rest = std::string_view(text).substr(colon + 1);
  const std::optional<double> factor = take_number(rest);
  if (!factor || !rest.empty() || *factor < 1.0) throw fail();
  return {Rank{rank}, *factor};
}

probes::GemmWork parse_shape(const std::string& text) {
  std::array<std::int64_t, 4> numbers{0, 0, 0, 1};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (count < numbers.size()) {
    const auto [rest, error] = std::from_chars(at, end, numbers[count]);
    if (error != std::errc{} || numbers[count] < 1) break;
    ++count;
    at = rest;
    if (at == end || *at != ',') break;
    ++at;
  }
  if (count < 3 || at != end || text.ends_with(',')) {
    throw UserError(
        "--shape '" + text +
        "' is not M,N,K or M,N,K,BATCH with positive integers, for example 4096,4096,4096");
  }
  probes::GemmWork work;
  work.m = numbers[0];
  work.n = numbers[1];
  work.k = numbers[2];
  work.batch = numbers[3];
  return work;
}

FlopPerSecond parse_compute_rate(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 6> units{{{"GFLOP/s", 1e9},
                                                                      {"TFLOP/s", 1e12},
                                                                      {"PFLOP/s", 1e15},
                                                                      {"GF", 1e9},
                                                                      {"TF", 1e12},
                                                                      {"PF", 1e15}}};
  std::string_view rest = text;
  const std::optional<double> number = take_number(rest);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  for (const auto& [name, factor] : units) {
    if (number && *number > 0.0 && rest == name) return FlopPerSecond(*number * factor);
  }
  throw UserError("--peak '" + text +
                  "' needs a positive number with its unit, for example 95GFLOP/s or 0.98PFLOP/s");
}

}  // namespace scaleworth::cli
