// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a file of classification rules, and as a name that the rules look at: refused in
/// one printable line, or read into rules that decide the same twice.
#include "src/core/error.h"
#include "trace/classify.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool one_printable_line(std::string_view message) {
  return message == scaleworth::printable(message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using scaleworth::trace::RuleTable;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const RuleTable built_in = RuleTable::built_in();
  require(built_in.kernel(text).work_class == built_in.kernel(text).work_class);
  require(built_in.host(text) == built_in.host(text));
  try {
    const RuleTable own = RuleTable::with_own(text, "own.toml");
    require(own.kernel(text).work_class == own.kernel(text).work_class);
  } catch (const scaleworth::UserError& error) {
    require(one_printable_line(error.what()));
  }
  return 0;
}
