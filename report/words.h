// SPDX-License-Identifier: Apache-2.0
/// Findings and recorded identifiers in the words of a reader.
#pragma once

#include "report/render_options.h"
#include "src/core/finding.h"
#include "src/core/run.h"
#include "src/model/analysis.h"

namespace scaleworth::report {
/// The largest of a member; 0 for none.
template <class T>
int largest(const std::vector<T>& all, int T::*member) {
  int most = 0;
  for (const T& one : all) most = std::max(most, one.*member);
  return most;
}

/// Of the elements with less of a member than the largest.
template <class T>
auto below_largest(const std::vector<T>& all, int T::*member) {
  return [most = largest(all, member), member](const T& one) { return one.*member < most; };
}

/// Words of a sentence that differ with the reader.
constexpr const char* words_for(Audience audience, const char* terminal, const char* page) {
  return audience == Audience::page ? page : terminal;
}

/// The words of a finding, no sentence yet: without a capital and a full stop. `flags` says what to
/// type to change it, between the other two parts: a page leaves it out.
struct Words {
  std::string text;
  std::string flags;
  std::string rest;
  std::string again;        // of a warning: what to measure or state again, "time the rows again"
  std::string brief;        // of a limit of recordings: "1 of 2 ranks recorded"
  bool name_first = false;  // from the input, which no capital changes: "dtype", "a100"
  std::string whole() const { return text + flags + rest; }
};
/// By data/findings.toml, where {0} is the first argument: a number as fmt writes it (":.3g"), ":%"
/// a share as a percentage (":.1%", ":.2g%"), ":#step" a count of steps, ":@s" a number with the
/// unit of that base symbol, scaled, and its interval (":@%" a share); findings are their whole
/// words, with
/// ", " between them or what stands behind ":", with "+" before it in front of each.
/// Where they do not fit the arguments, as of a run of another version, its name and these.
Words words_of(const Finding& finding);
/// For the reader; empty for none.
std::string said(const Finding& finding, Audience audience = Audience::terminal);
std::string said(const std::optional<Finding>& finding, Audience audience = Audience::terminal);
std::vector<std::string> said(const std::vector<Finding>& findings,
                              Audience audience = Audience::terminal);
/// Underscores as spaces: "exposed_transfer" is "exposed transfer".
std::string words(const std::string& identifier);

/// Separated by semicolons.
std::string clauses(const std::vector<Finding>& findings);

std::string capitalised(std::string text);
/// With a capital, except for a name from the input, and a full stop; empty for none.
std::string sentence(const std::optional<Finding>& finding, Audience audience = Audience::terminal);
std::vector<std::string> sentences(const std::vector<Finding>& findings,
                                   Audience audience = Audience::terminal);

/// Words as a shell reads them back: in single quotes where a character would mean something to it.
std::string shell_words(const std::vector<std::string>& words);

const char* bound_name(model::Bound bound);

/// "61.3 %" of 0.613.
std::string percent_text(double part);
/// "61 % is compute, 30 % the fabric, 9 % waiting", of shares of 1, the largest first; without
/// those below 2 %.
std::string split_text(const GroupTimes& shares);

/// A fact's name without the unit at its end and its value with it: {"memory", "15.6 GiB"} for
/// memory_bytes. An absent value reads "n/a (reason)".
struct NamedValue {
  std::string name;
  std::string value;
};
NamedValue printed_fact(const Fact& fact);

/// The value as text without interpretation; doubles in the shortest form that reads back equal.
std::string plain_text(const Value& value);
}  // namespace scaleworth::report
