// SPDX-License-Identifier: Apache-2.0
#include "trace/classify/rules.h"

#include "src/core/toml/table.h"
#include "trace/classify/name_pattern.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

// Defined by an assembler file that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_kernels[];
extern const char scaleworth_asset_kernels_end[];
}

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;
using attribution::HostCause;
using attribution::WorkClass;
using toml_file::Table;

struct KernelRule {
  std::string name;
  NamePattern pattern;
  WorkClass work_class = WorkClass::unclassified;
  CollectiveKind collective = CollectiveKind::unknown;
};

struct HostRule {
  NamePattern pattern;
  HostCause cause = HostCause::other;
};

struct RuleFile {
  std::vector<KernelRule> kernels;
  std::vector<HostRule> hosts;
};

std::vector<std::string> words(Table& rule, const char* key) {
  std::vector<std::string> result = rule.texts(key);
  for (std::string& word : result) {
    if (word.empty()) rule.refuse(fmt::format("'{}' has an empty text: remove it", key), key);
    word = lower_case(word);
  }
  return result;
}

NamePattern pattern(Table& rule) {
  NamePattern result;
  result.is = words(rule, "is");
  result.function = words(rule, "function");
  result.and_function = words(rule, "and_function");
  result.contains = words(rule, "contains");
  result.and_contains = words(rule, "and_contains");
  result.unless = words(rule, "unless");
  if (result.is.empty() && result.function.empty() && result.contains.empty())
    rule.refuse("the rule matches every name: add 'is', 'function' or 'contains'");
  return result;
}

std::string unique_name(Table& rule, std::set<std::string>& taken) {
  std::string name = rule.text("name");
  if (name.empty()) rule.refuse("'name' is empty: reports show it", "name");
  if (!taken.insert(name).second)
    rule.refuse("'name' is that of another rule of the file: rename one", "name");
  return name;
}

KernelRule kernel_rule(Table& table, std::set<std::string>& taken) {
  KernelRule rule;
  rule.name = unique_name(table, taken);
  rule.pattern = pattern(table);
  const auto work_class = attribution::parse_work_class(table.text("class"));
  if (!work_class || *work_class == WorkClass::unclassified) {
    table.refuse(
        "'class' must be one of communication, gemm, attention, convolution, normalization, "
        "elementwise, reduction, embedding, optimizer, other_compute, copy",
        "class");
  }
  rule.work_class = *work_class;
  if (const auto collective = table.optional_text("collective")) {
    const auto kind = attribution::parse_collective_kind(*collective);
    if (!kind) table.refuse("'collective' is no known kind: all_reduce, ...", "collective");
    if (rule.work_class != WorkClass::communication)
      table.refuse("'collective' belongs to class communication only: remove it", "collective");
    rule.collective = *kind;
  }
  table.optional_text("why");
  table.finish();
  return rule;
}

HostRule host_rule(Table& table, std::set<std::string>& taken) {
  HostRule rule;
  unique_name(table, taken);
  rule.pattern = pattern(table);
  const auto cause = attribution::parse_host_cause(table.text("cause"));
  if (!cause) {
    table.refuse(
        "'cause' must be one of data_loading, synchronizing_call, allocation, module_loading, "
        "garbage_collection, launch_bound, other",
        "cause");
  }
  rule.cause = *cause;
  table.optional_text("why");
  table.finish();
  return rule;
}

RuleFile read_rules(std::string_view toml, const std::string& file) {
  Table root = Table::parse(toml, file);
  RuleFile rules;
  std::set<std::string> taken;
  for (Table& table : root.tables("kernel")) rules.kernels.push_back(kernel_rule(table, taken));
  for (Table& table : root.tables("host")) rules.hosts.push_back(host_rule(table, taken));
  root.finish();
  return rules;
}

RuleFile built_in_rules() {
  const std::string_view text(
      scaleworth_asset_kernels,
      static_cast<std::size_t>(scaleworth_asset_kernels_end - scaleworth_asset_kernels));
  return read_rules(text, "data/kernels.toml (built in)");
}

template <class Rule>
void append(std::vector<Rule>& rules, std::vector<Rule> more) {
  std::move(more.begin(), more.end(), std::back_inserter(rules));
}

}  // namespace

struct RuleTable::Rules : RuleFile {};

RuleTable::RuleTable(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
RuleTable::RuleTable(RuleTable&&) noexcept = default;
RuleTable& RuleTable::operator=(RuleTable&&) noexcept = default;
RuleTable::~RuleTable() = default;

RuleTable RuleTable::built_in() {
  return RuleTable(std::make_unique<Rules>(Rules{built_in_rules()}));
}

RuleTable RuleTable::with_own(std::string_view toml, std::string_view origin) {
  auto rules = std::make_unique<Rules>(Rules{read_rules(toml, std::string(origin))});
  RuleFile others = built_in_rules();
  append(rules->kernels, std::move(others.kernels));
  append(rules->hosts, std::move(others.hosts));
  return RuleTable(std::move(rules));
}

KernelVerdict RuleTable::kernel(std::string_view name) const {
  const NameForms forms(name);
  for (const KernelRule& rule : rules_->kernels) {
    if (rule.pattern.matches(forms)) return {rule.work_class, rule.collective, rule.name};
  }
  return {};
}

std::optional<HostCause> RuleTable::host(std::string_view name) const {
  const NameForms forms(name);
  for (const HostRule& rule : rules_->hosts) {
    if (rule.pattern.matches(forms)) return rule.cause;
  }
  return std::nullopt;
}

}  // namespace scaleworth::trace
