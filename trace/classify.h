// SPDX-License-Identifier: Apache-2.0
/// What each event is for, by the rule table.
#pragma once

#include "src/core/attribution.h"
#include "src/core/step_ledger.h"
#include "trace/recording.h"

#include <memory>
#include <optional>
#include <span>

namespace scaleworth::trace {
/// The ordered rules that derive from a name what a kernel, an operator or a call is for.
struct KernelVerdict {
  WorkClass work_class = WorkClass::unclassified;
  CollectiveKind collective = CollectiveKind::unknown;
  UnknownWork unknown = UnknownWork::none;
};

/// Rules in their order; the first that matches decides. How they are written: data/kernels.toml.
class RuleTable {
 public:
  /// The table compiled into the program (data/kernels.toml).
  static RuleTable built_in();
  /// The rules of `toml` ahead of the built-in ones; throws UserError naming `origin` and position.
  static RuleTable with_own(std::string_view toml, std::string_view origin);

  KernelVerdict kernel(std::string_view name) const;
  /// What idle time under a host event of this name is due to; absent when no rule knows it.
  std::optional<HostCause> host(std::string_view name) const;

 private:
  struct Rules;
  explicit RuleTable(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}
  std::shared_ptr<const Rules> rules_;
};

/// Sets work_class, collective and, but for whole graphs, unknown of every device event and cause
/// of every host event; each name is looked at once. An event with a collective's metadata is
/// communication, and its kind that of the metadata, else of the rule. Other copies and fills are
/// WorkClass::copy whatever they are called.
void classify(Recording& recording, const RuleTable& rules);
void classify(std::span<Recording> recordings, const RuleTable& rules);

/// Kernels, copies and fills summed over the recordings, by class in the order of WorkClass;
/// classes without kernels are left out, but `unclassified` never is.
std::vector<ClassifiedTime> classified_time(const Job& job);
}  // namespace scaleworth::trace
