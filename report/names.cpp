// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"

#include "report/quantity.h"

#include <array>
#include <cctype>
#include <cmath>

namespace scaleworth::report {
namespace {
struct Suffix {
  std::string_view text;
  Unit unit;
};
constexpr std::array unit_suffixes{Suffix{"_bytes", Unit::bytes},
                                   Suffix{"_bytes_per_s", Unit::bytes_per_second},
                                   Suffix{"_w", Unit::watts},
                                   Suffix{"_bytes_per_second", Unit::bytes_per_second},
                                   Suffix{"_hz", Unit::hertz},
                                   Suffix{"_seconds", Unit::seconds},
                                   Suffix{"_s", Unit::seconds}};

std::optional<double> as_number(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer) return static_cast<double>(*integer);
  const auto* real = std::get_if<double>(&value);
  return real ? std::optional(*real) : std::nullopt;
}
}  // namespace

std::string words(const std::string& identifier) {
  std::string text = identifier;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string shell_words(const std::vector<std::string>& words) {
  constexpr std::string_view harmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+.,:/@%";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    const bool plain = !word.empty() && word.find_first_not_of(harmless) == std::string::npos;
    if (!plain) text += '\'';
    for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
    if (!plain) text += '\'';
  }
  return text;
}

const char* bound_name(model::Bound bound) {
  constexpr std::array names{"compute", "memory", "ridge", "unknown"};
  return names[index_of(bound)];
}

std::string percent_text(double part) {
  return fmt::format("{:.3g} %", 100.0 * part);
}

std::string split_text(const GroupTimes& shares) {
  constexpr double least_share = 0.02;
  constexpr std::array words{std::pair(PartGroup::compute, "compute"),
                             std::pair(PartGroup::communication, "the fabric"),
                             std::pair(PartGroup::idle, "waiting"),
                             std::pair(PartGroup::host, "the host"),
                             std::pair(PartGroup::io, "copies")};
  std::vector<std::pair<double, const char*>> named;
  for (const auto& [group, word] : words)
    if (const double share = shares[index_of(group)].value_or(0.0); std::abs(share) >= least_share)
      named.emplace_back(share, word);
  std::ranges::sort(named, std::greater<>());
  std::string text;
  for (const auto& [share, word] : named)
    text += fmt::format("{}{:.0f} % {}{}",
                        text.empty() ? "" : ", ",
                        100.0 * share,
                        text.empty() ? "is " : "",
                        word);
  return text;
}

std::string plain_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  return std::visit([](const auto& one) { return fmt::format("{}", one); }, value);
}

NamedValue printed_fact(const Fact& fact) {
  const auto ends = [&](std::string_view text) { return fact.name.ends_with(text); };
  const auto* suffix = std::ranges::find_if(unit_suffixes, ends, &Suffix::text);
  const bool has_unit = suffix != unit_suffixes.end();
  std::string name = fact.name.substr(0, fact.name.size() - (has_unit ? suffix->text.size() : 0));
  // "steal_since_boot" for "steal_fraction_since_boot": the value says that it is a share.
  constexpr std::string_view share = "_fraction";
  const auto at = name.find(share);
  const bool is_share = at != std::string::npos;
  if (is_share) name.erase(at, share.size());
  NamedValue result{words(name), ""};
  if (!fact.value) {
    result.value = fact.source.empty() ? "n/a" : "n/a (" + fact.source + ")";
    return result;
  }
  const std::optional<double> amount = as_number(*fact.value);
  if (has_unit && amount) {
    result.value = format_quantity(number(*amount), suffix->unit);
  } else if (amount && is_share) {
    // Per cent with two significant digits.
    const double percent = 100.0 * *amount;
    const double size = std::abs(percent);
    const int leading = size > 0.0 ? saturated<int>(std::floor(std::log10(size))) : 0;
    result.value = fmt::format("{:.{}f} %", percent, std::max(0, 1 - leading));
  } else if (const auto* real = std::get_if<double>(&*fact.value)) {
    result.value = fmt::format("{:.4g}", *real);
  } else {
    result.value = plain_text(*fact.value);
  }
  return result;
}
}  // namespace scaleworth::report
