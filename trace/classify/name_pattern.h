// SPDX-License-Identifier: Apache-2.0
/// Whether a name of a kernel or call fits the words of a rule; plain search, linear in the name's
/// length, because template names reach kilobytes and regular expressions of them the stack's end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::trace {

/// A name in the forms that patterns look at; lower case throughout.
struct NameForms {
  std::string whole;
  /// Without what stands in <> and (): "void at::native::reduce_kernel<512>(int)" is
  /// "void at::native::reduce_kernel".
  std::string function;
  /// Of calls: without a version at the end, "cudamalloc" for "cudaMalloc_v3020".
  std::string_view unversioned;

  explicit NameForms(std::string_view name);
  NameForms(const NameForms&) = delete;  // `unversioned` points into `whole`
  NameForms& operator=(const NameForms&) = delete;
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

  bool matches(const NameForms& name) const;
};

/// Upper case letters of ASCII as lower case.
std::string lower_case(std::string_view text);

}  // namespace scaleworth::trace
