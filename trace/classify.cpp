// SPDX-License-Identifier: Apache-2.0
#include "trace/classify.h"

#include "assets/kernels.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/non_copyable.h"

#include <array>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using toml_file::Table;

constexpr std::size_t names_shown = 5;

/// What the rules say of names: each is looked at once, in however many recordings it is. Refers to
/// the recordings' names.
class KnownNames {
 public:
  explicit KnownNames(const RuleTable& rules) : rules_(rules) {}

  KernelVerdict kernel(std::string_view name) {
    const auto [known, fresh] = kernels_.try_emplace(name);
    if (fresh) known->second = rules_.kernel(name);
    return known->second;
  }
  std::optional<HostCause> host(std::string_view name) {
    const auto [known, fresh] = hosts_.try_emplace(name);
    if (fresh) known->second = rules_.host(name);
    return known->second;
  }

 private:
  const RuleTable& rules_;
  std::unordered_map<std::string_view, KernelVerdict> kernels_;
  std::unordered_map<std::string_view, std::optional<HostCause>> hosts_;
};

void classify_device(Recording& recording, KnownNames& known_names) {
  auto verdict_of =
      remembered(recording.names, [&](auto name) { return known_names.kernel(name); });
  for (DeviceEvent& event : recording.device_events) {
    const bool collective = event.communication != no_index;
    if (event.unknown == UnknownWork::whole_graph) continue;
    event.unknown = UnknownWork::none;
    if (!collective && event.operation != DeviceOperation::kernel) {
      event.work_class = WorkClass::copy;
      event.collective = CollectiveKind::unknown;
      continue;
    }
    const KernelVerdict& verdict = verdict_of(event.name);
    event.work_class = collective ? WorkClass::communication : verdict.work_class;
    if (!collective) event.unknown = verdict.unknown;
    const Communication* known = communication_of(recording, event);
    event.collective = known == nullptr || known->kind == CollectiveKind::unknown
                           ? verdict.collective
                           : known->kind;
  }
}

bool host_stands_still(const Recording& recording, const HostEvent& event) {
  const Synchronization* known = synchronization_of(recording, event);
  return event.activity == HostActivity::synchronization && known != nullptr &&
         known->kind != Synchronization::Kind::stream_wait_event;
}

void classify_host(Recording& recording, KnownNames& known_names) {
  auto cause_of = remembered(recording.names, [&](auto name) { return known_names.host(name); });
  for (HostEvent& event : recording.host_events) {
    event.cause = cause_of(event.name);
    if (!event.cause && host_stands_still(recording, event))
      event.cause = HostCause::synchronizing_call;
  }
}

/// A damaged recording may hold times whose sum no integer holds.
nanoseconds saturated_sum(nanoseconds a, nanoseconds b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) return nanoseconds::max();
  return nanoseconds(sum);
}

struct ClassSum {
  std::int64_t events = 0;
  nanoseconds time{};
  std::unordered_map<std::string_view, nanoseconds> by_name;
};

std::vector<std::pair<std::string, nanoseconds>> largest_names(const ClassSum& sum) {
  std::vector<std::pair<std::string, nanoseconds>> names(sum.by_name.begin(), sum.by_name.end());
  const auto order = [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  };
  std::ranges::sort(names, order);
  names.resize(std::min(names.size(), names_shown));
  return names;
}

using ClassSums = std::array<ClassSum, work_classes>;

void add_recording(ClassSums& sums, const Recording& recording) {
  // By number first: a name has one class, or with metadata two, and a search each is cheap.
  std::array<std::vector<nanoseconds>, work_classes> by_id;
  for (const DeviceEvent& event : recording.device_events) {
    if (event.unknown != UnknownWork::none) continue;
    const std::size_t index = index_of(event.work_class);
    const nanoseconds duration = event.end - event.start;
    ++sums.at(index).events;
    sums[index].time = saturated_sum(sums[index].time, duration);
    by_id[index].resize(recording.names.size());
    nanoseconds& time = by_id[index].at(index_of(event.name));
    time = saturated_sum(time, duration);
  }
  for (std::size_t index = 0; index < by_id.size(); ++index) {
    for (std::size_t id = 0; id < by_id[index].size(); ++id) {
      if (by_id[index][id] <= nanoseconds::zero()) continue;
      nanoseconds& time = sums[index].by_name[recording.names.at(static_cast<NameId>(id))];
      time = saturated_sum(time, by_id[index][id]);
    }
  }
}
// Whether a name of a kernel or call fits the words of a rule; plain search, linear in the name's
// length, because template names reach kilobytes and regular expressions of them the stack's end.

bool holds_any(std::string_view text, const std::vector<std::string>& words) {
  return std::ranges::any_of(
      words, [text](const std::string& word) { return text.find(word) != std::string_view::npos; });
}

std::string without_brackets(std::string_view text) {
  std::string result;
  int depth = 0;
  for (const char character : text) {
    if (character == '<' || character == '(') {
      ++depth;
    } else if (character == '>' || character == ')') {
      depth = std::max(0, depth - 1);  // the arrow of a return type closes nothing
    } else if (depth == 0) {
      result += character;
    }
  }
  return result;
}

std::string_view without_version(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds", "_spt"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size()) return name;
  const std::string_view stem = name.substr(0, last + 1);
  return stem.ends_with("_v") ? stem.substr(0, stem.size() - 2) : name;
}

/// A name in the forms that patterns look at; lower case throughout.
struct NameForms : NonCopyable {
  std::string whole;
  /// Without what stands in <> and (): "void at::native::reduce_kernel<512>(int)" is
  /// "void at::native::reduce_kernel".
  std::string function;
  /// Of calls: without a version at the end, "cudamalloc" for "cudaMalloc_v3020".
  std::string_view unversioned;

  explicit NameForms(std::string_view name)
      : whole(lower_case(name)),
        function(without_brackets(whole)),
        unversioned(without_version(whole)) {}
};

/// Conditions that must all hold; each is a list of words, in lower case, of which one is enough.
/// An empty list is no condition.
struct NamePattern {
  std::vector<std::string> is;
  std::vector<std::string> function;
  std::vector<std::string> and_function;
  std::vector<std::string> contains;
  std::vector<std::string> and_contains;
  std::vector<std::string> unless;  // the reverse: none of them

  bool matches(const NameForms& name) const {
    if (!is.empty() && std::ranges::find(is, name.unversioned) == is.end()) return false;
    const auto fails = [](const std::vector<std::string>& words, std::string_view text) {
      return !words.empty() && !holds_any(text, words);
    };
    return !fails(function, name.function) && !fails(and_function, name.function) &&
           !fails(contains, name.whole) && !fails(and_contains, name.whole) &&
           !holds_any(name.whole, unless);
  }
};

template <class Verdict>
struct Rule {
  NamePattern pattern;
  Verdict verdict;
};

template <class Verdict>
std::optional<Verdict> first_verdict(const std::vector<Rule<Verdict>>& rules,
                                     std::string_view name) {
  const NameForms forms(name);
  for (const Rule<Verdict>& rule : rules)
    if (rule.pattern.matches(forms)) return rule.verdict;
  return std::nullopt;
}

constexpr std::array pattern_words{std::pair("is", &NamePattern::is),
                                   std::pair("function", &NamePattern::function),
                                   std::pair("and_function", &NamePattern::and_function),
                                   std::pair("contains", &NamePattern::contains),
                                   std::pair("and_contains", &NamePattern::and_contains),
                                   std::pair("unless", &NamePattern::unless)};

/// Of a rule of either kind; their names are unique in a file.
NamePattern read_pattern(Table& table, std::set<std::string>& taken) {
  const std::string name = table.text("name");
  if (name.empty()) table.refuse("'name' is empty: reports show it", "name");
  if (!taken.insert(name).second)
    table.refuse("'name' is that of another rule of the file: rename one", "name");
  NamePattern pattern;
  for (const auto& [key, words] : pattern_words) {
    for (const std::string& word : table.texts(key)) {
      if (word.empty()) table.refuse(fmt::format("'{}' has an empty text: remove it", key), key);
      (pattern.*words).push_back(lower_case(word));
    }
  }
  if (pattern.is.empty() && pattern.function.empty() && pattern.contains.empty())
    table.refuse("the rule matches every name: add 'is', 'function' or 'contains'");
  table.optional_text("why");
  return pattern;
}

KernelVerdict read_kernel_verdict(Table& table) {
  const std::string text = table.text("class");
  if (text == key_of(UnknownWork::unknown_communication))
    return {WorkClass::unclassified, CollectiveKind::unknown, UnknownWork::unknown_communication};
  const auto work_class = from_key<WorkClass>(text);
  if (!work_class || *work_class == WorkClass::unclassified) {
    table.refuse(
        "'class' must be one of communication, gemm, attention, convolution, normalization, "
        "elementwise, reduction, embedding, optimizer, other_compute, copy, unknown_communication",
        "class");
  }
  KernelVerdict verdict{*work_class};
  if (const auto collective = table.optional_text("collective")) {
    const auto kind = from_key<CollectiveKind>(*collective);
    if (!kind) table.refuse("'collective' is no known kind: all_reduce, ...", "collective");
    if (verdict.work_class != WorkClass::communication)
      table.refuse("'collective' belongs to class communication only: remove it", "collective");
    verdict.collective = *kind;
  }
  return verdict;
}

HostCause read_host_cause(Table& table) {
  const auto cause = from_key<HostCause>(table.text("cause"));
  if (!cause) {
    table.refuse(
        "'cause' must be one of data_loading, synchronizing_call, allocation, module_loading, "
        "garbage_collection, launch_bound, other",
        "cause");
  }
  return *cause;
}

template <class Verdict>
void add_rules(std::vector<Table> tables,
               Verdict (*read)(Table& table),
               std::set<std::string>& taken,
               std::vector<Rule<Verdict>>& rules) {
  for (Table& table : tables) {
    rules.push_back({read_pattern(table, taken), read(table)});
    table.finish();
  }
}
}  // namespace

struct RuleTable::Rules {
  std::vector<Rule<KernelVerdict>> kernels;
  std::vector<Rule<HostCause>> hosts;

  /// Appends the rules of a file.
  void add(std::string_view toml, const std::string& file) {
    Table root = Table::parse(toml, file);
    std::set<std::string> taken;
    add_rules(root.tables("kernel"), read_kernel_verdict, taken, kernels);
    add_rules(root.tables("host"), read_host_cause, taken, hosts);
    root.finish();
  }
};

RuleTable RuleTable::built_in() {
  return with_own("", "");
}

RuleTable RuleTable::with_own(std::string_view toml, std::string_view origin) {
  auto rules = std::make_shared<Rules>();
  rules->add(toml, std::string(origin));
  rules->add(asset::kernels(), "data/kernels.toml (built in)");
  return RuleTable(std::move(rules));
}

KernelVerdict RuleTable::kernel(std::string_view name) const {
  return first_verdict(rules_->kernels, name).value_or(KernelVerdict{});
}

std::optional<HostCause> RuleTable::host(std::string_view name) const {
  return first_verdict(rules_->hosts, name);
}

void classify(std::span<Recording> recordings, const RuleTable& rules) {
  KnownNames names(rules);
  for (Recording& recording : recordings) {
    classify_device(recording, names);
    classify_host(recording, names);
  }
}

void classify(Recording& recording, const RuleTable& rules) {
  classify(std::span(&recording, 1), rules);
}

std::vector<ClassifiedTime> classified_time(const Job& job) {
  ClassSums sums;
  for (const Recording& recording : job.recordings) add_recording(sums, recording);
  std::vector<ClassifiedTime> result;
  for (std::size_t index = 0; index < sums.size(); ++index) {
    const auto work_class = static_cast<WorkClass>(index);
    if (sums[index].events == 0 && work_class != WorkClass::unclassified) continue;
    result.push_back(
        {work_class, sums[index].events, sums[index].time, largest_names(sums[index])});
  }
  return result;
}
}  // namespace scaleworth::trace
