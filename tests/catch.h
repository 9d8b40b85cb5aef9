// SPDX-License-Identifier: Apache-2.0
/// The one place that knows which Catch2 is installed (v2 on Debian 12, v3 elsewhere), and what
/// every test asks of a text.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>

namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& part) {
  return Contains(part);
}
}  // namespace Catch::Matchers
#endif

#include <string>
#include <string_view>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace scaleworth::tests {
inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
}  // namespace scaleworth::tests
using scaleworth::tests::contains;
