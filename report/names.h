// SPDX-License-Identifier: Apache-2.0
/// Recorded identifiers in the words of a reader.
#pragma once

#include "report/render_options.h"
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

/// Underscores as spaces: "exposed_transfer" is "exposed transfer".
std::string words(const std::string& identifier);

std::string capitalised(std::string text);

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
