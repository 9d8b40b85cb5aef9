// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"

#include "assets/findings.h"
#include "report/quantity.h"
#include "src/core/files/toml_table.h"

#include <array>
#include <cctype>
#include <cmath>

#include <fmt/args.h>

using scaleworth::Argument;
using scaleworth::Estimate;
using scaleworth::Finding;
using scaleworth::report::format_quantity;
using scaleworth::report::Unit;

namespace scaleworth::report {
namespace {
/// By its base symbol, "%" for a share; pure numbers by "1".
Unit unit_of(std::string_view symbol) {
  if (symbol == "%") return Unit::percent;
  for (std::size_t i = 0; i <= index_of(Unit::dollars); ++i)
    if (base_symbol(static_cast<Unit>(i)) == symbol) return static_cast<Unit>(i);
  throw fmt::format_error("no unit");
}
}  // namespace
}  // namespace scaleworth::report

template <>
struct fmt::formatter<Argument> {
  std::string_view form;

  constexpr auto parse(format_parse_context& at) {
    const auto* end = std::find(at.begin(), at.end(), '}');
    form = {at.begin(), static_cast<std::size_t>(end - at.begin())};
    return end;
  }

  auto format(const Argument& of, format_context& context) const {
    return std::visit([&](const auto& value) { return write(value, context.out()); }, of.value);
  }

 private:
  using Out = format_context::iterator;
  Out write(const std::vector<Finding>& list, Out out) const {
    const bool each = form.starts_with('+');
    const std::string_view between = each ? form.substr(1) : form.empty() ? ", " : form;
    for (const Finding& one : list)
      out = fmt::format_to(out,
                           "{}{}",
                           each || &one != list.data() ? between : "",
                           scaleworth::report::words_of(one).whole());
    return out;
  }
  Out write(const std::string& text, Out out) const { return fmt::format_to(out, "{}", text); }
  Out write(const Estimate<double>& value, Out out) const {
    return form.starts_with('@') ? scaled(value, out) : write(value.value, out);
  }
  Out write(double value, Out out) const {
    if (form.starts_with('@')) return scaled(scaleworth::report::number(value), out);
    if (form.empty()) return fmt::format_to(out, "{:g}", value);
    if (!form.ends_with('%')) return by_form(value, form, out);
    std::string digits(form == "%" ? ".0" : form.substr(0, form.size() - 1));
    if (!digits.ends_with('g')) digits += 'f';
    return fmt::format_to(by_form(100.0 * value, digits, out), " %");
  }
  Out write(std::int64_t value, Out out) const {
    if (!form.starts_with('#')) return by_form(value, form, out);
    const std::string_view noun = form.substr(1);
    return fmt::format_to(out, "{}", scaleworth::counted(static_cast<std::size_t>(value), noun));
  }
  Out scaled(const Estimate<double>& value, Out out) const {
    using namespace scaleworth::report;
    return fmt::format_to(out, "{}", format_quantity(value, unit_of(form.substr(1))));
  }
  template <class Value>
  static Out by_form(Value value, std::string_view form, Out out) {
    return fmt::format_to(out, fmt::runtime(fmt::format("{{:{}}}", form)), value);
  }
};

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

Words fitting_words(const Finding& finding) {
  static const auto known = toml_file::text_tables(asset::findings(), "findings.toml");
  const std::string_view key = finding_keys[index_of(finding.id)];
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  for (const Argument& one : finding.arguments) arguments.push_back(std::cref(one));
  const auto part = [&, texts = known.at(std::string(key))](const char* name) {
    const std::string* text = value_at(texts, name);
    return text ? fmt::vformat(*text, arguments) : "";
  };
  Words words{part("text"), part("flags"), part("rest"), part("again"), part("brief")};
  const bool argument_first = known.at(std::string(key)).at("text").starts_with("{0");
  if (argument_first && finding.id != FindingId::stated) {
    const auto& first = finding.arguments.front().value;
    const auto* const of = std::get_if<std::vector<Finding>>(&first);
    words.name_first = of && !of->empty() ? words_of(of->front()).name_first
                                          : std::holds_alternative<std::string>(first);
  }
  return words;
}
}  // namespace

Words words_of(const Finding& finding) {
  try {
    return fitting_words(finding);
  } catch (const fmt::format_error&) {
    return fitting_words({FindingId::finding_without_words,
                          finding_keys[index_of(finding.id)],
                          fmt::format("{}", fmt::join(finding.arguments, ", "))});
  }
}

std::string said(const Finding& finding, Audience audience) {
  const Words words = words_of(finding);
  return audience == Audience::page ? words.text + words.rest : words.whole();
}

std::string said(const std::optional<Finding>& finding, Audience audience) {
  return finding ? said(*finding, audience) : "";
}

std::vector<std::string> said(const std::vector<Finding>& findings, Audience audience) {
  return mapped(findings, [=](const Finding& one) { return said(one, audience); });
}

std::string clauses(const std::vector<Finding>& findings) {
  return fmt::format("{}", fmt::join(said(findings), "; "));
}

std::string words(const std::string& identifier) {
  std::string text = identifier;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string sentence(const std::optional<Finding>& finding, Audience audience) {
  if (!finding) return "";
  const std::string text = said(*finding, audience);
  return (words_of(*finding).name_first ? text : capitalised(text)) + ".";
}

std::vector<std::string> sentences(const std::vector<Finding>& findings, Audience audience) {
  return mapped(findings, [=](const Finding& one) { return sentence(one, audience); });
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
