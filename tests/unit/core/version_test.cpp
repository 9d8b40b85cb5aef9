// SPDX-License-Identifier: Apache-2.0
#include "src/core/version.h"

#include "tests/catch.h"

using namespace scaleworth;

TEST_CASE("the tool version is the project's", "[version]") {
  REQUIRE(tool_version() == SCALEWORTH_PROJECT_VERSION);
}

TEST_CASE("the git revision is 12 hexadecimal digits or unknown", "[version]") {
  const std::string revision = git_revision();
  const std::string digits = revision.substr(0, revision.find('-'));
  const bool hexadecimal =
      digits.size() == 12 && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  REQUIRE((revision == "unknown" || hexadecimal));
}
