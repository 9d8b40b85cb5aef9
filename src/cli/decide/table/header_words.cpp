// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/header_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace scaleworth::cli {
namespace {

struct Unit {
  std::string_view name;
  Dimension dimension;
  double factor;
};

constexpr std::array units{
    Unit{"ns", Dimension::time, 1e-9},      Unit{"us", Dimension::time, 1e-6},
    Unit{"ms", Dimension::time, 1e-3},      Unit{"s", Dimension::time, 1.0},
    Unit{"min", Dimension::time, 60.0},     Unit{"h", Dimension::time, 3600.0},
    Unit{"days", Dimension::time, 86400.0}, Unit{"sec", Dimension::time, 1.0},
    Unit{"seconds", Dimension::time, 1.0},  Unit{"minutes", Dimension::time, 60.0},
    Unit{"hours", Dimension::time, 3600.0}, Unit{"d", Dimension::time, 86400.0},
    Unit{"j", Dimension::energy, 1.0},      Unit{"kj", Dimension::energy, 1e3},
    Unit{"mj", Dimension::energy, 1e6},     Unit{"wh", Dimension::energy, 3600.0},
    Unit{"kwh", Dimension::energy, 3.6e6},  Unit{"mwh", Dimension::energy, 3.6e9},
    Unit{"w", Dimension::power, 1.0},       Unit{"kw", Dimension::power, 1e3},
};

constexpr std::array rank_words{std::string_view("gpu"),
                                std::string_view("chip"),
                                std::string_view("rank"),
                                std::string_view("node"),
                                std::string_view("worker"),
                                std::string_view("device")};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool take_suffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

/// Lower case, blanks, hyphens and dots as "_", none of these or "#" at the ends.
std::string joined_words(std::string_view text) {
  std::string words;
  for (const char c : text) {
    const bool separates = c == ' ' || c == '\t' || c == '-' || c == '_' || c == '#';
    if (!separates) {
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.empty() && words.back() != '_') {
      words += '_';
    }
  }
  take_suffix(words, "_");
  return words;
}

std::vector<std::string> split_words(const std::string& name) {
  std::vector<std::string> words{""};
  for (const char c : name) {
    if (c == '_') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

bool is_unit(std::string_view word) {
  return std::any_of(
      units.begin(), units.end(), [&](const Unit& unit) { return unit.name == word; });
}

/// "tokens_per_s": its last word is no unit of the number.
bool is_rate(const std::string& name) {
  const std::size_t per = name.find("_per_");
  if (per == std::string::npos) return false;
  const std::string rest = name.substr(per);
  return !rest.starts_with("_per_step_") && !rest.starts_with("_per_run_");
}

void take_basis(HeaderWords& words) {
  words.per_step = take_suffix(words.name, "_per_step") || words.per_step;
  words.per_run = take_suffix(words.name, "_per_run") || words.per_run;
}

/// "p99", "p99.9"; "p50" for the median; "mean".
std::optional<std::string> percentile_of(const std::string& word) {
  if (word == "median") return "p50";
  if (word == "mean" || word == "avg") return "mean";
  if (word.size() < 2 || word.size() > 6 || word.front() != 'p') return std::nullopt;
  const bool number = std::all_of(
      word.begin() + 1, word.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return number ? std::optional(word) : std::nullopt;
}

double flops_factor(char prefix) {
  return prefix == 'g' ? 1e9 : prefix == 't' ? 1e12 : prefix == 'p' ? 1e15 : 1.0;
}

/// FLOP/s in words: of one rank, or of all where the name says "aggregate".
std::optional<RateWords> flops_words(const std::string& name) {
  const std::size_t at = name.find("flops");
  if (at == std::string::npos || name.find("peak") != std::string::npos) return std::nullopt;
  RateWords rate;
  rate.flops = true;
  rate.factor = flops_factor(at == 0 ? ' ' : name[at - 1]);
  const std::vector<std::string> words = split_words(name);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    rate.per_rank = rate.per_rank || (words[i] == "per" && among(rank_words, words[i + 1]));
  }
  if (!rate.per_rank && !name.starts_with("aggregate")) return std::nullopt;
  return rate;
}

std::optional<RateWords> utilisation_words(const std::string& name) {
  constexpr std::array names{std::string_view("mfu"),
                             std::string_view("mfu_pct"),
                             std::string_view("bf16_mfu_pct"),
                             std::string_view("hfu"),
                             std::string_view("hfu_pct")};
  if (!among(names, name)) return std::nullopt;
  RateWords rate;
  rate.per_rank = true;
  rate.relative = true;
  if (name.ends_with("_pct")) rate.factor = 0.01;
  return rate;
}

}  // namespace

HeaderWords header_words(const std::string& header) {
  HeaderWords words;
  const std::size_t bracket = header.find_first_of("([");
  const std::size_t close = bracket == std::string::npos || bracket == 0
                                ? std::string::npos
                                : header.find_first_of(")]", bracket);
  if (close != std::string::npos) {
    words.name = joined_words(std::string_view(header).substr(0, bracket));
    words.unit = joined_words(std::string_view(header).substr(bracket + 1, close - bracket - 1));
    take_basis(words);
  } else {
    words.name = joined_words(header);
    take_basis(words);
    const std::size_t underline = words.name.rfind('_');
    const bool rate = is_rate(words.name);
    if (!rate && underline != std::string::npos && is_unit(words.name.substr(underline + 1))) {
      words.unit = words.name.substr(underline + 1);
      words.name.resize(underline);
      take_basis(words);
    }
  }
  // Computed by whoever made the table, and of the same meaning.
  if (words.name.starts_with("derived_")) words.name.erase(0, std::string_view("derived_").size());
  return words;
}

std::optional<double> unit_factor(std::string_view unit, Dimension dimension) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& one) {
    return one.name == unit && one.dimension == dimension;
  });
  return found == units.end() ? std::nullopt : std::optional(found->factor);
}

std::string unit_names(Dimension dimension) {
  std::string names;
  for (const Unit& unit : units) {
    if (unit.dimension == dimension) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  }
  return names;
}

std::optional<RateWords> rate_words(const HeaderWords& words) {
  std::string name = words.name;
  if (name.empty()) return std::nullopt;
  if (name.starts_with("j_per_") && name.size() > 6) {
    RateWords rate;
    rate.energy = true;
    return rate;
  }
  if (const auto flops = flops_words(name)) return flops;
  if (const auto utilisation = utilisation_words(name)) return utilisation;
  RateWords rate;
  for (const std::string_view rank : rank_words) {
    if (!rate.per_rank) rate.per_rank = take_suffix(name, "_per_" + std::string(rank));
  }
  if (name == "throughput") return rate;
  for (const char* per_second : {"_per_s", "_per_sec", "_per_second", "/s"}) {
    if (take_suffix(name, per_second) && !name.empty() && name.find("byte") == std::string::npos &&
        name.find("gb") == std::string::npos) {
      return rate;
    }
  }
  return std::nullopt;
}

std::optional<std::string> latency_words(const HeaderWords& words) {
  constexpr std::array subjects{std::string_view("ttft"),
                                std::string_view("tpot"),
                                std::string_view("itl"),
                                std::string_view("e2e"),
                                std::string_view("latency"),
                                std::string_view("request")};
  std::optional<std::string> percentile;
  std::string subject;
  for (const std::string& word : split_words(words.name)) {
    if (const auto found = percentile_of(word); found && !percentile) {
      percentile = found;
    } else if (among(subjects, word)) {
      if (word != "latency") subject = word + "_";
    } else {
      return std::nullopt;
    }
  }
  const bool plain =
      subject.empty() && words.name.front() != 'p' && words.name.find('_') == std::string::npos;
  if (!percentile || plain) return std::nullopt;
  return subject + *percentile;
}

}  // namespace scaleworth::cli
